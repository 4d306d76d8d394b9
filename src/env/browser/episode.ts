import { setTimeout } from "node:timers/promises";
import { messageOf, UserError } from "../../core/errors.js";
import { Semaphore } from "../../core/semaphore.js";
import { type Episode, NOT_PLAYED, type Played, scored } from "../forms/episode.js";
import type { JudgedForm } from "../forms/judge.js";
import { declaredControls } from "../forms/native.js";
import { type Plan, parsePlan } from "../forms/plan.js";
import type { Task } from "../site.js";
import {
  BrowserDiscarded,
  BrowserHost,
  type BrowserOptions,
  EnvironmentFault,
  TooMany,
  Unanswered,
} from "./browser.js";
import type { Control } from "./controls.js";
import { Idle, TimeUp, withDeadline } from "./deadline.js";
import { executePlan, openForm } from "./execute.js";
import { drawFault, type InjectedFault, type InjectedFaults } from "./injected-faults.js";
import { nameOf } from "./network/exchange.js";
import { Pace } from "./pace.js";
import { playwright } from "./playwright.js";
import { Session } from "./session.js";

export interface EpisodeOptions extends BrowserOptions {
  /** Number of episodes at once, each in its own isolated context. */
  readonly contexts: number;
  /** Limit of one attempt at an episode, in milliseconds. */
  readonly episodeTimeoutMs: number;
  /** The file for a file field: a small generated one, or none (file fields then do not count). */
  readonly uploads: "dummy" | "none";
  /** Faults to inject, for tests. */
  readonly faults?: InjectedFaults;
  /** Carries out a plan on a task's page, if its form was learned. */
  readonly execute?: (session: Session, task: Task, plan: Plan) => Promise<Played>;
}

/** The result of some work with a page, or its last fault. */
export type Tried<T> = Pick<Episode, "attempts" | "ms" | "har"> &
  ({ readonly result: T } | { readonly fault: string; readonly cause: unknown });

/** Most retries after a fault. */
const RETRIES = 2;
/** Further retries if the browser was given up because of another episode's page. */
const SHARED_RETRIES = 5;
/** Waits after which a server that takes no more requests (HTTP 429) is a fault, and their lengths in milliseconds. */
const BUSY = { waits: 8, first: 1000 };
const HOUR_MS = 3_600_000;
/** Factor on the time limit of an action from attempt to attempt: a busy machine is slow, not broken. */
const PATIENCE_GROWTH = 2;
/** Multiples of an episode's length after which an action, an attempt or the closing of a context counts as stuck. */
const STUCK = { action: 2, attempt: 8, close: 2 };
/** Most contexts that are opened in advance. */
const SPARES = 2;
/** Time in which a context has to close on a quiet machine, or its browser is given up; in milliseconds. */
const CLOSE_PATIENCE_MS = 3000;

type Work<T> = (session: Session, idle: Idle) => Promise<T>;

/**
 * Plays plans in one Chromium, several at once. A crash, a hang or a failing server is a fault: the context is replaced
 * and the episode retried, unless the form was sent and its answer did not come in time. If no retry succeeds, the
 * episode is marked as faulty, never scored 0.
 */
export class EpisodeRunner {
  /** Contexts for the next episodes: fresh ones, opened while others play, or reusable ones. */
  private readonly spares: Promise<Session | undefined>[] = [];
  private readonly chores = new Set<Promise<void>>();
  private readonly pace = new Pace();
  private readonly slots: Semaphore;
  /** Number of episodes so far. */
  private episodes = 0;
  private closing: Promise<void> | undefined;
  private readonly ended = new AbortController();
  /** Time at which the site's limit of an hour allows the next episode. */
  private nextAt = 0;

  private constructor(
    private readonly options: EpisodeOptions,
    private readonly host: BrowserHost,
  ) {
    // a reset for one episode would disturb another one
    this.slots = new Semaphore(options.site.reset === undefined ? options.contexts : 1);
  }

  /** Starts the browser. @throws UserError if there is none or it does not start. */
  static async open(options: EpisodeOptions): Promise<EpisodeRunner> {
    const host = new BrowserHost(options);
    await host.browser();
    return new EpisodeRunner(options, host);
  }

  /** Plays a plan, or a response text as one. Never throws for mistakes of the policy or faults of the environment. */
  async run(task: Task, written: string | Plan): Promise<Episode> {
    const plan = typeof written === "string" ? parsePlan(written) : written;
    const { unresolved } = plan;
    const tried = await this.converse((session) => this.execute(session, task, plan));
    if ("fault" in tried) return { ...NOT_PLAYED, unresolved, ...tried, taskId: task.id };
    const { result, ...ran } = tried;
    return { ...scored(task, result, unresolved, this.options.uploads === "dummy"), ...ran, taskId: task.id };
  }

  /**
   * Runs `work` with a session for an episode of one or several turns, and returns its result. Waits for the policy,
   * which `idle` measures, do not count against the limit. After a fault `work` is called again with another session,
   * and must not ask the policy again for answers that it already has.
   * @param limitMs time limit of one attempt in milliseconds; default: that of an episode.
   * @param end time (`performance.now()`) at which all attempts end.
   */
  async converse<T>(work: Work<T>, limitMs?: number, end?: number): Promise<Tried<T>> {
    return this.tried(work, limitMs, this.episodes++, end);
  }

  /** Reads the controls of a task's untouched page. @throws EnvironmentFault if the page cannot be read. */
  async snapshot(task: Task): Promise<readonly Control[]> {
    const tried = await this.tried(async (session) => {
      return (await openForm(session, task, this.declared(task)?.controls)).controls;
    });
    if ("fault" in tried) throw new EnvironmentFault(`${task.url}: ${tried.fault}`);
    return tried.result;
  }

  /**
   * Takes a picture (JPEG) of the page that a plan fills in, without the actions that may send something.
   * @returns undefined if the environment failed.
   */
  async photograph(task: Task, plan: Plan): Promise<Uint8Array | undefined> {
    const end = plan.actions.findIndex((action) => action.kind === "submit");
    const actions = plan.actions
      .slice(0, end < 0 ? undefined : end)
      .filter((action) => action.kind !== "click" && action.kind !== "goto");
    const tried = await this.tried(async (session) => {
      await this.execute(session, task, { ...plan, actions });
      return session.photograph();
    });
    return "fault" in tried ? undefined : tried.result;
  }

  /** Returns the browser's process id, if it is known. */
  async browserPid(): Promise<number | undefined> {
    return this.host.pid();
  }

  /** Ends the browser. Episodes that still run end as faults. */
  async close(): Promise<void> {
    this.ended.abort();
    this.closing ??= (async () => {
      await this.host.close();
      await Promise.allSettled(this.chores);
    })();
    return this.closing;
  }

  private execute(session: Session, task: Task, plan: Plan): Promise<Played> {
    const { execute, uploads } = this.options;
    return execute?.(session, task, plan) ?? executePlan(session, task, plan, { uploads, known: this.declared(task) });
  }

  /** Returns a task's form as its site declares it. */
  declared(task: Task): JudgedForm | undefined {
    const contract = this.options.site.declaredForm?.(task);
    return contract && { contract, controls: declaredControls(contract) };
  }

  /** @param episode the episode's number, if faults may be injected. */
  private tried<T>(
    work: Work<T>,
    limitMs = this.options.episodeTimeoutMs,
    episode?: number,
    end = Number.POSITIVE_INFINITY,
  ): Promise<Tried<T>> {
    return this.slots.run(async () => {
      const start = performance.now();
      const { faults: injected } = this.options;
      const faults: unknown[] = [];
      let [shared, waits] = [0, 0];
      while (faults.length <= RETRIES && this.closing === undefined && performance.now() < end) {
        try {
          const fault =
            episode === undefined || injected === undefined ? undefined : drawFault(injected, episode, faults.length);
          const done = await this.attempt(work, faults.length, fault, limitMs, end);
          return { ...done, attempts: faults.length + waits + 1, ms: performance.now() - start };
        } catch (error) {
          if (error instanceof PolicyFailure) throw error.cause;
          // a browser that still does not start will not start for other episodes either
          if (error instanceof UserError && faults.length === RETRIES && this.closing === undefined) throw error;
          if (error instanceof BrowserDiscarded && shared++ < SHARED_RETRIES) continue;
          if (error instanceof TooMany && waits++ < BUSY.waits) {
            await this.wait(Math.min(error.waitMs ?? BUSY.first * 2 ** waits, HOUR_MS), error.message);
            continue;
          }
          faults.push(error);
          this.options.log?.warn({ fault: reasonOf(error), attempt: faults.length }, "The environment failed");
          if (error instanceof Unanswered) break;
        }
      }
      const why = this.closing === undefined ? "no time is left" : "the browser is closed";
      const cause = faults.at(-1) ?? new EnvironmentFault(why);
      return { fault: reasonOf(cause), cause, attempts: faults.length, ms: performance.now() - start };
    });
  }

  private async attempt<T>(
    work: Work<T>,
    faults: number,
    injected: InjectedFault | undefined,
    limitMs: number,
    end: number,
  ): Promise<{ readonly result: T; readonly har?: object }> {
    await this.wait(this.delay());
    const session = await this.openSession();
    session.fault = injected;
    const deadline = Math.max(0, Math.min(this.pace.limit(limitMs, STUCK.attempt), end - performance.now()));
    // work with its own limit does not count towards the pace of episodes
    const ordinary = limitMs === this.options.episodeTimeoutMs;
    const action = ordinary
      ? this.pace.limit(this.options.actionTimeoutMs, STUCK.action)
      : this.options.actionTimeoutMs;
    // an action may not use up the whole attempt, so that the fault can name the action
    session.actionTimeoutMs = Math.min(action * PATIENCE_GROWTH ** faults, Math.max(action, deadline / 2));
    session.answerTimeoutMs = deadline;
    session.har?.begin();
    let start = performance.now();
    try {
      await withDeadline(this.reset(), deadline);
      start = performance.now();
      const idle = new Idle();
      const working = Promise.race([archived(session, work(session, idle)), session.died]);
      const done = await withDeadline(working, deadline, idle);
      await injected?.end();
      if (ordinary) this.pace.observe(performance.now() - start - idle.ms);
      if (session.finish() && this.closing === undefined) this.spares.push(Promise.resolve(session));
      else this.inBackground(this.dispose(session));
      return done;
    } catch (thrown) {
      const error = faultOf(thrown, session);
      const awaited = error instanceof TimeUp ? session.traffic.awaited() : undefined;
      const cause = await this.causeOf(error, session.browser, () => this.dispose(session));
      throw awaited !== undefined && cause === error
        ? new Unanswered(`no answer to ${nameOf(awaited)}: timed out`)
        : cause;
    }
  }

  /** Reserves the next episode within the site's limit of an hour. @returns the time until then, in milliseconds. */
  private delay(): number {
    const { submissionsPerHour } = this.options.site;
    if (submissionsPerHour === undefined) return 0;
    const at = Math.max(performance.now(), this.nextAt);
    this.nextAt = at + HOUR_MS / submissionsPerHour;
    return at - performance.now();
  }

  /** Waits, or until the browser is closed. @param why the reason, for the log. */
  private async wait(ms: number, why?: string): Promise<void> {
    if (ms <= 0) return;
    if (why !== undefined) this.options.log?.warn({ ms, fault: why }, "The server asks to wait");
    await setTimeout(ms, undefined, { signal: this.ended.signal }).catch(() => undefined);
  }

  /** @throws EnvironmentFault if the site's reset fails. */
  private async reset(): Promise<void> {
    try {
      await this.options.site.reset?.();
    } catch (error) {
      throw new EnvironmentFault(`the site's reset failed: ${messageOf(error)}`);
    }
  }

  /** Gives up the source of an error. @returns its cause: a page may report an error first when its browser ends. */
  private async causeOf(error: unknown, browser: Session["browser"], giveUp: () => Promise<void>): Promise<unknown> {
    const shared = this.host.wasDiscarded(browser);
    let ended = !browser.isConnected();
    await giveUp();
    ended ||= !browser.isConnected() && !this.host.wasDiscarded(browser);
    if (shared) return new BrowserDiscarded("the browser was given up because of another page");
    return ended ? new EnvironmentFault("the browser ended") : error;
  }

  /** Takes a spare context, or opens a fresh one. */
  private async openSession(): Promise<Session> {
    // contexts that close more slowly than episodes end would pile up
    while (this.chores.size > 2 * this.options.contexts + SPARES) await Promise.race(this.chores);
    const browser = await this.host.browser();
    const spare = (await this.takeSpare(browser)) ?? (await this.openFresh(browser));
    this.openSpare(browser);
    return spare;
  }

  private async openFresh(browser: Session["browser"]): Promise<Session> {
    const start = performance.now();
    const opening = Session.open(browser, this.options);
    try {
      const session = await withDeadline(opening, this.pace.limit(this.options.episodeTimeoutMs, STUCK.attempt));
      this.pace.observe(performance.now() - start);
      return session;
    } catch (error) {
      // a context that opens too late still has to be closed, and its browser cannot be trusted
      opening.then(
        (session) => session.close(CLOSE_PATIENCE_MS),
        () => undefined,
      );
      throw await this.causeOf(error, browser, () => this.host.discard(browser));
    }
  }

  private async takeSpare(browser: Session["browser"]): Promise<Session | undefined> {
    for (let spare = this.spares.shift(); spare !== undefined; spare = this.spares.shift()) {
      const session = await spare;
      if (session?.browser === browser && browser.isConnected()) return session;
    }
    return undefined;
  }

  /** Opens a context for the next episode while one plays: the wait for it would take half of an episode's time. */
  private openSpare(browser: Session["browser"]): void {
    if (this.spares.length >= Math.min(SPARES, this.options.contexts) || this.options.site.stateless) return;
    // a failure here happens again, with its reason, when a context is needed
    const opening = this.openFresh(browser).catch(() => undefined);
    this.spares.push(opening);
    this.inBackground(opening);
  }

  /** Runs work that only the end of the runner waits for. */
  private inBackground(work: Promise<unknown>): void {
    const done = (): void => void this.chores.delete(chore);
    const chore = work.then(done, done);
    this.chores.add(chore);
  }

  private async dispose(session: Session): Promise<void> {
    if (!(await session.close(this.pace.limit(CLOSE_PATIENCE_MS, STUCK.close))))
      await this.host.discard(session.browser);
  }
}

/** Adds the requests' archive, where the episode has one, to what work with its page gives. */
async function archived<T>(
  { har }: Session,
  working: Promise<T>,
): Promise<{ readonly result: T; readonly har?: object }> {
  const result = await working;
  return { result, ...(har && { har: await har.end() }) };
}

/** Turns an error of the browser's driver into a fault in the user's terms. */
function faultOf(error: unknown, { page }: Session): unknown {
  if ([EnvironmentFault, UserError, PolicyFailure].some((own) => error instanceof own)) return error;
  const isLate = error instanceof playwright().errors.TimeoutError;
  if (!isLate && !page.isClosed()) return error;
  const why = isLate ? "the page did not answer in time" : "the page or its browser ended";
  return new EnvironmentFault(why, { cause: error });
}

const reasonOf = (error: unknown): string => messageOf(error).split("\n")[0] ?? "unknown";

/** A failure of the policy, not of the environment: nothing is tried again. */
export class PolicyFailure extends Error {}
