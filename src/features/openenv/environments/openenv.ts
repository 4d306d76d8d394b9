/**
 * An environment on a server of somebody else's, by the protocol of OpenEnv (PyPI `openenv`; docs/openenv.md): a
 * connection an episode, a text in, a text out.
 */
import { z } from "zod";
import { fail, messageOf, misuse } from "../../../core/errors.js";
import { sha256 } from "../../../core/files.js";
import type { Act } from "../../../core/interaction.js";
import { Semaphore } from "../../../core/semaphore.js";
import { EnvironmentFault } from "../../../env/browser/browser.js";
import { PolicyFailure } from "../../../env/browser/episode.js";
import { type Asked, answered } from "../../../env/browser/recorded-answers.js";
import {
  type Environment,
  type EnvironmentKind,
  type EnvironmentTask,
  type EpisodeOutcome,
  type FixedPolicy,
  LARGEST_REWARD,
  ObservationTooLong,
  SPLITS,
} from "../../../env/environment.js";
import { OpenEnvConnection } from "../client.js";
import { type Described, describeServer } from "../describe.js";
import type { Result } from "../messages.js";

const count = (n: number): z.ZodDefault<z.ZodInt> => z.int().min(0).max(1_000_000).default(n) as never;

const schema = z.strictObject({
  url: z
    .url({ protocol: /^https?$/, error: "expected http://... or https://..." })
    .default("http://127.0.0.1:8000")
    .describe("where the server is"),
  action_key: z
    .string()
    .nullable()
    .default(null)
    .describe("the field of an action that takes the answer; null = the only text in the server's schema"),
  action: z.record(z.string(), z.unknown()).default({}).describe("further fields of every action, as they are"),
  observation_key: z
    .string()
    .nullable()
    .default(null)
    .describe(
      "the field of an observation that is the prompt; null = the only text there, else all fields, a line each",
    ),
  observation_characters: z
    .int()
    .min(100)
    .max(1_000_000)
    .default(4000)
    .describe("characters of an observation that are shown; what is cut is said in the prompt"),
  reset: z.record(z.string(), z.unknown()).default({}).describe("further fields of every reset, as they are"),
  sizes: z
    .strictObject({ train: count(64), val: count(16), test: count(16), heldout: count(0) })
    .prefault({})
    .describe("seeds a split, where the server has no tasks of its own"),
  turns: z.int().min(1).max(1000).default(8).describe("steps of one episode at most"),
  reward: z.enum(["sum", "last"]).default("sum").describe("an episode's reward of those of its steps"),
  success_at: z.number().default(1).describe("reward from which an episode is a success"),
  contexts: z
    .int()
    .min(1)
    .max(1000)
    .default(1)
    .describe("connections at once; a server made from OpenEnv's template takes one"),
  timeout_s: z.number().positive().max(86_400).default(60).describe("time limit of one answer"),
});
type Options = z.output<typeof schema>;

export const environment: EnvironmentKind = {
  schema,
  async open(raw) {
    const { kind: _, ...options } = raw.environment as { kind: string };
    const parsed = schema.parse(options);
    return new OpenEnvEnvironment(parsed, await describeServer(parsed.url));
  },
  async check(_, opened) {
    const [task] = opened.tasks;
    if (task === undefined) fail("The server has no tasks.");
    const { fault } = await opened.play(task, async () => ({ text: "" }), new Map());
    if (fault !== undefined) throw new Error(fault);
    return `${opened.name}, ${opened.tasks.length} tasks, an episode was played`;
  },
  view: ({ steps = [] }) => [
    {
      title: "Steps",
      head: ["answer", "reward"],
      rows: (steps as Step[]).map(({ action, reward }) => [{ text: action }, { text: reward?.toFixed(3) ?? "" }]),
    },
  ],
};

/** A task with the message of its reset. */
type ServerTask = EnvironmentTask & { readonly reset: Readonly<Record<string, unknown>> };
type Step = { readonly action: string; readonly reward: number | null };

/** Attempts at an episode: a fault may be of the moment. */
const ATTEMPTS = 3;
/** Times that a server whose places are all taken is asked again, and how long after the first time. */
const CAPACITY = { attempts: 8, waitMs: 50 };
/** Seeds of a split lie behind those of the ones before it. */
const SEEDS_A_SPLIT = 1_000_000;

class OpenEnvEnvironment implements Environment {
  readonly name: string;
  readonly notes: readonly string[];
  readonly tasks: readonly ServerTask[];
  readonly capacity: number;
  readonly started = true;
  private readonly actionKey: string;
  private readonly slots: Semaphore;

  constructor(
    private readonly options: Options,
    private readonly server: Described,
  ) {
    const { name, splits, actionKey } = server;
    this.name = name;
    this.capacity = options.contexts;
    this.slots = new Semaphore(options.contexts);
    const key = options.action_key ?? actionKey;
    if (key === undefined)
      misuse(`An action of ${name} has several fields, or none that is a text.`, {
        hint: "set environment.action_key to the one that takes the answer, and environment.action to the others",
      });
    this.actionKey = key;
    this.tasks = SPLITS.flatMap((split, s) => {
      const own = splits?.get(split);
      const count = splits === undefined ? options.sizes[split] : (own?.tasks ?? 0);
      return Array.from({ length: count }, (_, index) => {
        const id = `openenv/${name}/${split}/${String(index).padStart(4, "0")}`;
        // a task of the server's own is chosen by split and index, as its task API says
        const chosen = own === undefined ? { seed: s * SEEDS_A_SPLIT + index } : { split: own.name, index };
        return { id, split, form: name, reset: { ...chosen, episode_id: id } };
      });
    });
    this.notes =
      splits === undefined ? [`${name}: the server tells of no tasks, so that seeds make them (docs/openenv.md)`] : [];
  }

  /** Of what is asked for: what the server makes of it is its own. */
  splitHash(): string {
    return sha256(this.tasks.map(({ id, reset }) => `${id} ${JSON.stringify(reset)}`).join("\n"));
  }

  async start(): Promise<void> {}

  async play(given: EnvironmentTask, act: Act): Promise<EpisodeOutcome> {
    const task = given as ServerTask;
    const asked: Asked[] = [];
    return this.slots.run(async () => {
      const faults: string[] = [];
      while (faults.length < ATTEMPTS) {
        try {
          return await this.playOnce(task, (text, turn) => answered(asked, turn, { text }, act), faults);
        } catch (error) {
          const cause = error instanceof PolicyFailure ? error.cause : error;
          if (!(cause instanceof EnvironmentFault || cause instanceof ObservationTooLong)) throw cause;
          faults.push(cause.message);
          // whoever answers is out of reach: asking again changes nothing
          if (error instanceof PolicyFailure) break;
        }
      }
      return faulty(faults.at(-1) ?? "no answer", { faults });
    });
  }

  private async playOnce(
    task: ServerTask,
    ask: (text: string, turn: number) => Promise<{ readonly text?: string }>,
    faults: readonly string[],
  ): Promise<EpisodeOutcome> {
    const { turns, action } = this.options;
    const { connection, first } = await this.begin(task);
    const steps: Step[] = [];
    let cut = 0;
    try {
      let now = first;
      while (!now.done && steps.length < turns) {
        const shown = this.prompt(now);
        cut += shown.cut;
        const text = (await ask(shown.text, steps.length)).text ?? "";
        now = await connection.ask("step", { ...action, [this.actionKey]: text });
        steps.push({ action: text, reward: now.reward });
      }
      const { done, metadata } = now;
      const detail = { steps, done, cut, metadata: metadata ?? {}, ...(faults.length === 0 ? {} : { faults }) };
      return this.outcome(steps, done, detail);
    } finally {
      await connection.close();
    }
  }

  /** A connection whose episode has begun. A server whose places are taken is asked again for a while. */
  private async begin({ reset }: ServerTask): Promise<{ connection: OpenEnvConnection; first: Result }> {
    for (let attempt = 1; ; attempt++) {
      const connection = await OpenEnvConnection.open(this.options.url, this.options.timeout_s * 1000);
      try {
        return { connection, first: await connection.ask("reset", { ...this.options.reset, ...reset }) };
      } catch (error) {
        await connection.close();
        if (!messageOf(error).startsWith("CAPACITY_REACHED") || attempt === CAPACITY.attempts) throw error;
        await new Promise((resolve) => setTimeout(resolve, CAPACITY.waitMs * 2 ** attempt));
      }
    }
  }

  /** Gives what is shown of an observation; what is cut is counted in it. */
  private prompt({ observation }: Result): { text: string; cut: number } {
    const key = this.options.observation_key ?? this.server.observationKey;
    const value = key === undefined ? undefined : observation[key];
    if (key !== undefined && typeof value !== "string")
      throw new EnvironmentFault(`the observation has no text ${key}: ${Object.keys(observation).join(", ")}`);
    const own = Object.entries(observation).filter(([name]) => name !== "metadata");
    const text = (value as string | undefined) ?? own.map(([name, of]) => `${name}: ${spoken(of)}\n`).join("");
    const limit = this.options.observation_characters;
    const cut = Math.max(0, text.length - limit);
    return { text: cut === 0 ? text : `${text.slice(0, limit)}(+${cut} more characters)\n`, cut };
  }

  private outcome(steps: readonly Step[], done: boolean, detail: Readonly<Record<string, unknown>>): EpisodeOutcome {
    const given = steps.flatMap(({ reward }) => reward ?? []);
    // none at all is no 0
    if (given.length === 0) return faulty("the server gave no reward", detail);
    const reward = this.options.reward === "last" ? (given.at(-1) as number) : given.reduce((sum, r) => sum + r, 0);
    const beyond = [...given, reward].find((one) => !(Math.abs(one) <= LARGEST_REWARD));
    if (beyond !== undefined) return faulty(`the server's reward is ${beyond}`, detail);
    return {
      reward,
      success: reward >= this.options.success_at,
      ...(given.length === steps.length && steps.length > 1 ? { turnRewards: given } : {}),
      metrics: { turns: steps.length, finished: Number(done) },
      detail,
      summary: `${steps.length} steps`,
    };
  }

  readonly fixedPolicies: Readonly<Record<string, FixedPolicy>> = {
    empty: async () => async () => ({ text: "" }),
  };

  async close(): Promise<void> {}
}

function faulty(fault: string, detail: Readonly<Record<string, unknown>>): EpisodeOutcome {
  return { reward: null, fault, success: false, metrics: {}, detail };
}

const spoken = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
