import { messageOf, UserError } from "../../core/errors.js";
import { Semaphore } from "../../core/semaphore.js";
import { type Episode, NOT_PLAYED, type Played, scored } from "../forms/episode.js";
import type { JudgedForm } from "../forms/judge.js";
import { type Plan, parsePlan } from "../forms/plan.js";
import { declaredControls } from "../pages/native.js";
import type { Task } from "../site.js";
import { BrowserHost, type BrowserOptions, EnvironmentFault, SharedFate } from "./browser.js";
import type { Control } from "./controls.js";
import { Idle, withDeadline } from "./deadline.js";
import { executePlan, openForm } from "./execute.js";
import { drawFault, type InjectedFault, type InjectedFaults } from "./injected-faults.js";
import { Pace } from "./pace.js";
import { Session } from "./session.js";

export interface EpisodeOptions extends BrowserOptions {
  /** Episodes at once, each in its own isolated context. */
  readonly contexts: number;
  /** Limit of one attempt at an episode, in milliseconds. */
  readonly episodeTimeoutMs: number;
  /** The file that a file field gets: a small generated one, or none (file fields then do not count). */
  readonly uploads: "dummy" | "none";
  /** Faults on purpose. */
  readonly faults?: InjectedFaults;
  /** Carries a plan out on a task's page, where its form was learned. */
  readonly execute?: (session: Session, task: Task, plan: Plan) => Promise<Played>;
}

/** The result of some work with a page, or the last of the faults that it met. */
export type Tried<T> = Pick<Episode, "attempts" | "ms"> & ({ readonly result: T } | { readonly fault: string });

/** Retries after a fault. */
const RETRIES = 2;
/** Retries on top of these where the browser was given up because of another episode's page. */
const SHARED_RETRIES = 5;
/** Each attempt gives an action so many times the time of the last: a machine that is busy is slow, not broken. */
const PATIENCE_GROWTH = 2;
/**
 * Times a whole episode's length after which something is stuck: one action, one attempt, the closing of a context.
 */
const STUCK = { action: 2, attempt: 8, close: 2 };
/** Contexts that are opened ahead of the episodes that will use them. */
const SPARES = 2;
/** Limits how long a context may take to close on a quiet machine before its browser is given up. */
const CLOSE_PATIENCE_MS = 3000;

type Work<T> = (session: Session, idle: Idle) => Promise<T>;

/**
 * Plays plans in one Chromium, several at once. A crash, a hang or a failing server is a fault: the context is
 * replaced, the episode retried, and at last marked as faulty, never scored 0.
 */
export class EpisodeRunner {
  /** Contexts for the next episodes: fresh ones, opened while others play, or such as may be used again. */
  private readonly spares: Promise<Session | undefined>[] = [];
  private readonly chores = new Set<Promise<void>>();
  private readonly pace = new Pace();
  private readonly slots: Semaphore;
  /** Asked for so far. */
  private episodes = 0;
  private closing: Promise<void> | undefined;

  private constructor(
    private readonly options: EpisodeOptions,
    private readonly host: BrowserHost,
  ) {
    // what one episode resets another one may be using
    this.slots = new Semaphore(options.site.reset === undefined ? options.contexts : 1);
  }

  /** Starts the browser. @throws UserError where there is none or it does not start. */
  static async open(options: EpisodeOptions): Promise<EpisodeRunner> {
    const host = new BrowserHost(options);
    await host.browser();
    return new EpisodeRunner(options, host);
  }

  /** Plays a plan, or a response text as one. Never throws for what the policy or the environment does. */
  async run(task: Task, written: string | Plan): Promise<Episode> {
    const plan = typeof written === "string" ? parsePlan(written) : written;
    const tried = await this.converse(async (session) => {
      const played = await this.execute(session, task, plan);
      return {
        ...scored(task, played, plan.unresolved, this.options.uploads === "dummy"),
        har: await session.har?.end(),
      };
    });
    const { attempts, ms } = tried;
    const outcome =
      "fault" in tried ? { ...NOT_PLAYED, unresolved: plan.unresolved, fault: tried.fault } : tried.result;
    return { ...outcome, taskId: task.id, attempts, ms };
  }

  /**
   * Keeps a context for an episode of one or several turns: `work` plays it with a session, and gives back what it came
   * to. What it waits for on the policy's side (`idle`) costs it no time. It is called anew, with another session, after a
   * fault: what it has asked before it must not ask again.
   * @param limitMs of one attempt, where it is another than an episode's.
   */
  async converse<T>(work: Work<T>, limitMs?: number): Promise<Tried<T>> {
    return this.tried(work, limitMs, this.episodes++);
  }

  /** The controls of a task's page, untouched. @throws EnvironmentFault where the page cannot be read. */
  async snapshot(task: Task): Promise<readonly Control[]> {
    const tried = await this.tried(async (session) => {
      const form = await openForm(session, task, this.declared(task)?.controls);
      await form.handle.dispose();
      return form.controls;
    });
    if ("fault" in tried) throw new EnvironmentFault(`${task.url}: ${tried.fault}`);
    return tried.result;
  }

  /**
   * The page as a plan fills it in, as JPEG: actions that may send something are left out. Undefined where the
   * environment failed.
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

  /** The browser's process id, where it is known. */
  async browserPid(): Promise<number | undefined> {
    return this.host.pid();
  }

  /** Ends the browser. Episodes that still run end as faults. */
  async close(): Promise<void> {
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

  /** A task's form as its site declares it. */
  declared(task: Task): JudgedForm | undefined {
    const known = this.forms.get(task.url);
    const contract = known === undefined ? this.options.site.declaredForm?.(task) : undefined;
    if (contract === undefined) return known;
    const form = { contract, controls: declaredControls(contract) };
    this.forms.set(task.url, form);
    return form;
  }
  private readonly forms = new Map<string, JudgedForm>();

  /** @param episode its number, where it may meet an injected fault. */
  private tried<T>(work: Work<T>, limitMs = this.options.episodeTimeoutMs, episode?: number): Promise<Tried<T>> {
    return this.slots.run(async () => {
      const start = performance.now();
      const { faults: injected } = this.options;
      const faults: string[] = [];
      let shared = 0;
      while (faults.length <= RETRIES && this.closing === undefined) {
        try {
          const fault =
            episode === undefined || injected === undefined ? undefined : drawFault(injected, episode, faults.length);
          const result = await this.attempt(work, faults.length, fault, limitMs);
          return { result, attempts: faults.length + 1, ms: performance.now() - start };
        } catch (error) {
          if (error instanceof PolicyFailure) throw error.cause;
          // a browser that does not start again even now will not start for any other episode either
          if (error instanceof UserError && faults.length === RETRIES && this.closing === undefined) throw error;
          if (error instanceof SharedFate && shared++ < SHARED_RETRIES) continue;
          const fault = reasonOf(error);
          faults.push(fault);
          this.options.log?.warn({ fault, attempt: faults.length }, "The environment failed");
        }
      }
      const fault = faults.at(-1) ?? "the browser is closed";
      return { fault, attempts: faults.length, ms: performance.now() - start };
    });
  }

  private async attempt<T>(
    work: Work<T>,
    faults: number,
    injected: InjectedFault | undefined,
    limitMs: number,
  ): Promise<T> {
    const session = await this.openSession();
    session.fault = injected;
    const deadline = this.pace.limit(limitMs, STUCK.attempt);
    // what has a limit of its own says nothing about episodes, nor they about it
    const ordinary = limitMs === this.options.episodeTimeoutMs;
    const action = ordinary
      ? this.pace.limit(this.options.actionTimeoutMs, STUCK.action)
      : this.options.actionTimeoutMs;
    // one action that uses up its time leaves some of the attempt's, so that the fault says which action it was
    session.actionTimeoutMs = Math.min(action * PATIENCE_GROWTH ** faults, Math.max(action, deadline / 2));
    session.har?.begin();
    let start = performance.now();
    try {
      await withDeadline(this.reset(), deadline);
      start = performance.now();
      const idle = new Idle();
      const working = Promise.race([work(session, idle), session.died]);
      const result = await withDeadline(working, deadline, idle);
      await injected?.end();
      if (ordinary) this.pace.observe(performance.now() - start - idle.ms);
      if (session.finish() && this.closing === undefined) this.spares.push(Promise.resolve(session));
      else this.inBackground(this.dispose(session));
      return result;
    } catch (error) {
      throw await this.causeOf(error, session.browser, () => this.dispose(session));
    }
  }

  /** @throws EnvironmentFault where the site's own reset fails. */
  private async reset(): Promise<void> {
    try {
      await this.options.site.reset?.();
    } catch (error) {
      throw new EnvironmentFault(`the site's reset failed: ${messageOf(error)}`);
    }
  }

  /** Gives up what an error came from. @returns the error's cause: often the end of a browser, which the page meets first. */
  private async causeOf(error: unknown, browser: Session["browser"], giveUp: () => Promise<void>): Promise<unknown> {
    const shared = this.host.wasDiscarded(browser);
    let ended = !browser.isConnected();
    await giveUp();
    ended ||= !browser.isConnected() && !this.host.wasDiscarded(browser);
    if (shared) return new SharedFate("the browser was given up because of another page");
    return ended ? new EnvironmentFault("the browser ended") : error;
  }

  /** A spare context, or a fresh one. */
  private async openSession(): Promise<Session> {
    // where contexts close more slowly than episodes end, there would be ever more of them
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
      // a context that opens too late has nobody left to close it, and its browser is not to be trusted
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

  /** Opens a context while an episode plays, for the next: half of an episode's time would else be spent on waiting for it. */
  private openSpare(browser: Session["browser"]): void {
    if (this.spares.length >= Math.min(SPARES, this.options.contexts) || this.options.site.stateless) return;
    // what fails here fails again, and with a reason, where it is waited for
    const opening = this.openFresh(browser).catch(() => undefined);
    this.spares.push(opening);
    this.inBackground(opening);
  }

  /** Work that no episode waits for; the end of the runner does. */
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

/** Tells what a user can make of an error: the browser's protocol speaks of sessions and execution contexts. */
function reasonOf(error: unknown): string {
  const text = messageOf(error).split("\n")[0] ?? "unknown";
  if (error instanceof EnvironmentFault || error instanceof UserError) return text;
  const plain = text.replace(/^(?:\w+\.\w+: )?(?:Protocol error \([\w.]+\): )?/, "");
  if (/execution context|context with (?:the )?(?:specified|given) id|Frame with the given|object id/i.test(plain))
    return "the page went away while it was in use";
  if (/Target (?:page|closed)|Session closed|has been closed|Not attached/i.test(plain))
    return "the page or its browser ended";
  const timeout = /^Timeout (\d+)ms exceeded/.exec(plain);
  return timeout === null ? plain : `the page did not answer within ${Number(timeout[1]) / 1000} s`;
}

/** The policy failed, not the environment: nothing is tried again. */
export class PolicyFailure extends Error {}
