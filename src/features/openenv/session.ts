import { z } from "zod";
import { messageOf } from "../../core/errors.js";
import type { Act, Action as PolicyAction } from "../../core/interaction.js";
import { Semaphore } from "../../core/semaphore.js";
import { EnvironmentFault } from "../../env/browser/browser.js";
import type { Environment, EnvironmentTask, EpisodeOutcome } from "../../env/environment.js";
import { asJson } from "./client.js";
import { type Action, type ErrorCode, type Reset, request, type ServerMessage } from "./messages.js";
import { Draft, TOOLS, ToolError } from "./tools.js";

/** Finds the task of a reset. @throws SessionError if there is none. */
export type ChooseTask = (wanted: Reset) => EnvironmentTask;

/** An error with one of the protocol's codes. */
export class SessionError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
  ) {
    super(message);
  }
}

/** An episode whose actions come from a client instead of the policy. */
class RemoteEpisode {
  steps = 0;
  /** The turn to be answered; undefined between two turns, and at the end. */
  draft: Draft | undefined;
  outcome: EpisodeOutcome | undefined;
  private abandoned = false;
  private turn: { answer(action: PolicyAction): void; leave(error: Error): void } | undefined;
  private show: () => void = () => undefined;
  private readonly end: Promise<void>;

  constructor(
    environment: Environment,
    readonly task: EnvironmentTask,
    readonly id: string,
  ) {
    const act: Act = (observation) =>
      new Promise((answer, leave) => {
        if (this.abandoned) return leave(new EnvironmentFault("the client has left"));
        if (observation.text === undefined) return leave(new EnvironmentFault("what is to be seen is no text"));
        this.turn = { answer, leave };
        this.draft = new Draft(observation);
        this.show();
      });
    this.end = environment.play(task, act, new Map()).then((outcome) => {
      this.draft = undefined;
      this.outcome = outcome;
    });
    // a failure after the client has left is ignored
    this.end.catch(() => undefined);
  }

  /** Answers a turn, if any, and waits for the next or the end. @throws SessionError if the environment failed. */
  async step(action?: PolicyAction): Promise<void> {
    const shown = new Promise<void>((resolve) => {
      this.show = resolve;
    });
    if (action !== undefined) {
      this.draft = undefined;
      this.turn?.answer(action);
    }
    if (this.draft === undefined) await Promise.race([shown, this.end]);
    // a fault says nothing about the policy: there is no reward, not even 0
    if (this.outcome?.reward === null)
      throw new SessionError("EXECUTION_ERROR", `the environment failed: ${this.outcome.fault ?? "no reward"}`);
  }

  /** Ends the episode: the environment treats this as a fault, and releases its resources. */
  abandon(): void {
    this.abandoned = true;
    this.turn?.leave(new EnvironmentFault("the client has left"));
  }
}

type Fields = Readonly<Record<string, unknown>>;
export const failure = (code: ErrorCode, message: string): ServerMessage => ({
  type: "error",
  data: { code, message },
});

/** A session: one environment, one episode at a time, requests in order. */
export class RemoteSession {
  /** Called with the reason when the session was idle for too long. */
  onIdle: (why: string) => void = () => undefined;
  private episode: RemoteEpisode | undefined;
  private episodes = 0;
  private closed = false;
  private readonly turn = new Semaphore(1);

  constructor(
    private readonly environment: Environment,
    private readonly choose: ChooseTask,
    readonly id: string,
  ) {}

  /** Answers a message. @returns undefined if the client closes the session. */
  answer(raw: string): Promise<ServerMessage | undefined> {
    return this.turn.run(() => this.answered(raw));
  }

  /** Runs a tool of the turn without `step`, with a result in MCP's form. @throws ToolError, SessionError */
  call(name: string, given: object): Promise<object> {
    return this.turn.run(() => this.tool(this.current(), name, given));
  }

  /** Ends the session and its episode. */
  close(): void {
    this.closed = true;
    this.end();
  }

  private end(): void {
    this.episode?.abandon();
    this.episode = undefined;
  }

  /** Whatever a message makes throw is an answer: it must not end the server, nor another session. */
  private async answered(raw: string): Promise<ServerMessage | undefined> {
    if (this.closed) return undefined;
    try {
      return await this.dispatch(raw);
    } catch (error) {
      this.end();
      return failure(error instanceof SessionError ? error.code : "EXECUTION_ERROR", messageOf(error));
    }
  }

  private async dispatch(raw: string): Promise<ServerMessage | undefined> {
    const message = asJson(raw);
    if (message === undefined) return failure("INVALID_JSON", "the message is no JSON");
    const type = (message as { type?: unknown } | null)?.type;
    if (!request.options.some(({ shape }) => shape.type.value === type))
      return failure("UNKNOWN_TYPE", `Unknown message type: ${typeof type === "string" ? type : JSON.stringify(type)}`);
    const { data: parsed, error: wrong } = request.safeParse(message);
    if (parsed === undefined) return failure("VALIDATION_ERROR", z.prettifyError(wrong));
    if (parsed.type === "state") return { type: "state", data: this.state() };
    if (parsed.type === "close") return undefined;
    return this.shown(parsed.type === "reset" ? await this.reset(parsed.data) : await this.step(parsed.data));
  }

  private state(): Record<string, unknown> {
    const { id = null, steps = 0, task, outcome } = this.episode ?? {};
    return { episode_id: id, step_count: steps, ...(task && { task_id: task.id, done: outcome !== undefined }) };
  }

  private async reset(wanted: Reset): Promise<undefined> {
    this.end();
    const id = wanted.episode_id ?? `${this.id}/${this.episodes++}`;
    this.episode = new RemoteEpisode(this.environment, this.choose(wanted), id);
    await this.episode.step();
  }

  /** @returns the observation's fields instead of its text if a tool was called. */
  private async step(action: Action): Promise<Fields | undefined> {
    if (action.type === "list_tools" && this.episode !== undefined) this.episode.steps++;
    if (action.type === "list_tools") return { tools: TOOLS };
    const episode = this.current();
    episode.steps++;
    if (action.type === "text") return void (await episode.step({ text: action.text }));
    const { tool_name } = action;
    try {
      return { tool_name, result: await this.tool(episode, tool_name, action.arguments), error: null };
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      const error_type = TOOLS.some(({ name }) => name === tool_name) ? "invalid_args" : "tool_not_found";
      return { tool_name, result: null, error: { error_type, message: error.message } };
    }
  }

  private current(): RemoteEpisode {
    if (this.episode?.draft === undefined)
      throw new SessionError("EXECUTION_ERROR", "there is no episode: reset first");
    return this.episode;
  }

  /** @returns a result in MCP's form, with `data` for OpenEnv's clients. */
  private async tool(episode: RemoteEpisode, name: string, given: object): Promise<object> {
    const { result, answer } = (episode.draft as Draft).call(name, given);
    if (answer !== undefined) await episode.step(answer);
    const data = result ?? episode.draft?.observation.text ?? "The episode is over.";
    const text = typeof data === "string" ? data : JSON.stringify(data);
    return { content: [{ type: "text", text }], data, is_error: false };
  }

  /** Describes the state of the episode; metadata are repeated where typed and where generic clients read them. */
  private shown(fields: Fields | undefined): ServerMessage {
    const { task, draft, outcome } = this.episode ?? {};
    const metadata = {
      ...(task && { task_id: task.id, form: task.form, split: task.split }),
      ...(outcome && { success: outcome.success, metrics: outcome.metrics }),
      ...(outcome?.turnRewards && { turn_rewards: outcome.turnRewards }),
      ...(outcome?.summary !== undefined && { summary: outcome.summary }),
    };
    const observation = { ...(fields ?? { text: draft?.observation.text ?? "" }), metadata };
    return {
      type: "observation",
      data: { observation, reward: outcome?.reward ?? null, done: outcome !== undefined, metadata },
    };
  }
}
