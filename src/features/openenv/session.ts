import { messageOf } from "../../core/errors.js";
import type { Action } from "../../core/interaction.js";
import { EnvironmentFault } from "../../env/browser/browser.js";
import type { Environment, EnvironmentTask, EpisodeOutcome } from "../../env/environment.js";
import { asJson } from "./client.js";
import { type Answer, type ErrorCode, request } from "./messages.js";

/** Next event of an episode: something to answer, or its end. */
type Shown = { readonly text: string } | { readonly outcome: EpisodeOutcome };

/** An episode that is played from outside: what the policy would be asked, a client is. */
class RemoteEpisode {
  steps = 0;
  over = false;
  private answer: ((action: Action) => void) | undefined;
  private leave: ((error: Error) => void) | undefined;
  private left = false;
  private show: (shown: Shown) => void = () => undefined;
  private fail: (error: unknown) => void = () => undefined;
  private coming: Promise<Shown>;

  constructor(
    environment: Environment,
    readonly task: EnvironmentTask,
    readonly id: string,
  ) {
    this.coming = this.await();
    const act = ({ text }: { readonly text?: string }): Promise<Action> =>
      new Promise((resolve, reject) => {
        if (this.left) return void reject(new EnvironmentFault("the client has left"));
        if (text === undefined) return void reject(new EnvironmentFault("what is to be seen is no text"));
        this.answer = resolve;
        this.leave = reject;
        this.show({ text });
      });
    environment.play(task, act, new Map()).then(
      (outcome) => {
        this.over = true;
        this.show({ outcome });
      },
      (error: unknown) => {
        this.over = true;
        this.fail(error);
      },
    );
  }

  private await(): Promise<Shown> {
    const coming = new Promise<Shown>((resolve, reject) => {
      this.show = resolve;
      this.fail = reject;
    });
    // nobody may be left to hear of it
    coming.catch(() => undefined);
    return coming;
  }

  next(): Promise<Shown> {
    return this.coming;
  }

  step(text: string): Promise<Shown> {
    this.steps++;
    this.coming = this.await();
    this.answer?.({ text });
    return this.coming;
  }

  /** Ends it: the environment takes it for a fault, and gives back what it holds. */
  abandon(): void {
    this.left = true;
    this.leave?.(new EnvironmentFault("the client has left"));
  }
}

/** Finds the task that a reset asks for. @throws TaskError where there is none such. */
export type ChooseTask = (data: Readonly<Record<string, unknown>>) => EnvironmentTask;

export class TaskError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
  ) {
    super(message);
  }
}

const failure = (code: ErrorCode, message: string): Answer => ({ type: "error", data: { code, message } });

/** One connection: one environment, one episode at a time, one answer a message. */
export class RemoteSession {
  private episode: RemoteEpisode | undefined;
  private episodes = 0;

  constructor(
    private readonly environment: Environment,
    private readonly choose: ChooseTask,
    private readonly id: string,
  ) {}

  /** @returns the answer; undefined: the client says goodbye. */
  async answer(raw: string): Promise<Answer | undefined> {
    const message = asJson(raw);
    if (message === undefined) return failure("INVALID_JSON", "the message is no JSON");
    const type = (message as { type?: unknown } | null)?.type;
    if (typeof type !== "string" || !["reset", "step", "state", "close"].includes(type))
      return failure("UNKNOWN_TYPE", `Unknown message type: ${String(type)}`);
    const parsed = request.safeParse(message);
    if (!parsed.success) return failure("VALIDATION_ERROR", parsed.error.issues.map(({ message: m }) => m).join("; "));
    try {
      switch (parsed.data.type) {
        case "reset":
          return await this.reset(parsed.data.data);
        case "step":
          return await this.step(parsed.data.data);
        case "state":
          return { type: "state", data: this.state() };
        case "close":
          return undefined;
      }
    } catch (error) {
      this.end();
      return failure(error instanceof TaskError ? error.code : "EXECUTION_ERROR", messageOf(error));
    }
  }

  state(): Record<string, unknown> {
    const { episode } = this;
    return {
      episode_id: episode?.id ?? null,
      step_count: episode?.steps ?? 0,
      ...(episode === undefined ? {} : { task_id: episode.task.id, done: episode.over }),
    };
  }

  /** The connection is gone. */
  end(): void {
    if (this.episode?.over === false) this.episode.abandon();
    this.episode = undefined;
  }

  private async reset(data: Readonly<Record<string, unknown>>): Promise<Answer> {
    this.end();
    const task = this.choose(data);
    const named = data.episode_id;
    if (named !== undefined && named !== null && (typeof named !== "string" || named.length > 255))
      throw new TaskError("VALIDATION_ERROR", "episode_id: expected a text of at most 255 characters");
    const id = typeof named === "string" ? named : `${this.id}/${this.episodes++}`;
    this.episode = new RemoteEpisode(this.environment, task, id);
    return this.shown(await this.episode.next());
  }

  private async step(data: Readonly<Record<string, unknown>>): Promise<Answer> {
    const { metadata: _, text, ...others } = data;
    const unknown = Object.keys(others);
    if (typeof text !== "string" || unknown.length > 0)
      return failure(
        "VALIDATION_ERROR",
        typeof text === "string" ? `action: unknown key ${unknown.join(", ")}` : "action.text: expected a text",
      );
    const { episode } = this;
    if (episode === undefined || episode.over) return failure("EXECUTION_ERROR", "there is no episode: reset first");
    return this.shown(await episode.step(text));
  }

  private shown(shown: Shown): Answer {
    const { task } = this.episode as RemoteEpisode;
    if ("text" in shown)
      return observed({ text: shown.text }, null, false, { task_id: task.id, form: task.form, split: task.split });
    const { reward, fault, success, metrics, turnRewards, summary } = shown.outcome;
    // nothing is known of the policy then: no reward, not even 0
    if (reward === null) return failure("EXECUTION_ERROR", `the environment failed: ${fault ?? "no reward"}`);
    return observed({ text: "" }, reward, true, {
      task_id: task.id,
      success,
      metrics,
      ...(turnRewards === undefined ? {} : { turn_rewards: turnRewards }),
      ...(summary === undefined ? {} : { summary }),
    });
  }
}

/** An answer with its metadata where typed clients and where generic ones look for it. */
function observed(
  observation: { readonly text: string },
  reward: number | null,
  done: boolean,
  metadata: Record<string, unknown>,
): Answer {
  return { type: "observation", data: { observation: { ...observation, metadata }, reward, done, metadata } };
}
