/**
 * An environment on another program's server, by OpenEnv's protocol (PyPI `openenv`; docs/environments.md): one connection
 * per episode; observations and actions are texts.
 */
import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import { closing } from "../../../core/closing.js";
import { fail, messageOf, misuse } from "../../../core/errors.js";
import { sha256 } from "../../../core/files.js";
import type { Action } from "../../../core/interaction.js";
import { Semaphore } from "../../../core/semaphore.js";
import { EnvironmentFault } from "../../../env/browser/browser.js";
import { PolicyFailure } from "../../../env/browser/episode.js";
import { type RecordedAnswer, recordedAnswer } from "../../../env/browser/recorded-answers.js";
import {
  type Environment,
  type EnvironmentKind,
  type EnvironmentTask,
  type EpisodeOutcome,
  LARGEST_REWARD,
  ObservationTooLong,
  SPLITS,
} from "../../../env/environment.js";
import { OpenEnvConnection } from "../client.js";
import { type Described, describeServer } from "../describe.js";
import type { Result } from "../messages.js";

const whole = (least: number, most: number, otherwise: number): z.ZodDefault<z.ZodInt> =>
  z.int().min(least).max(most).default(otherwise);
const seeds = (otherwise: number): z.ZodDefault<z.ZodInt> => whole(0, 1_000_000, otherwise);
const fields = z.record(z.string(), z.unknown()).default({});
const key = z.string().nullable().default(null);

const schema = z.strictObject({
  url: z
    .url({ protocol: /^https?$/, error: "expected http://... or https://..." })
    .default("http://127.0.0.1:8000")
    .describe("where the server is"),
  action_key: key.describe("the field of an action that takes the answer; null = the only text in the server's schema"),
  action: fields.describe("further fields of every action, as they are"),
  observation_key: key.describe(
    "the field of an observation that is the prompt; null = the only text there, else all fields, a line each",
  ),
  reset: fields.describe("further fields of every reset, as they are"),
  sizes: z
    .strictObject({ train: seeds(64), val: seeds(16), test: seeds(16), heldout: seeds(0) })
    .prefault({})
    .describe("seeds a split, where the server has no tasks of its own"),
  turns: whole(1, 1000, 8).describe("steps of one episode at most"),
  reward: z.enum(["sum", "last"]).default("sum").describe("an episode's reward of those of its steps"),
  contexts: whole(1, 1000, 1).describe("connections at once; a server made from OpenEnv's template takes one"),
  timeout_s: z.number().positive().max(86_400).default(60).describe("time limit of one answer"),
});
type Options = z.output<typeof schema>;

export const environment: EnvironmentKind = {
  schema,
  async open(raw) {
    const { kind: _, ...options } = raw.environment as { kind: string };
    const parsed = schema.parse(options);
    return remoteEnvironment(parsed, await describeServer(parsed.url));
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

/** A task with the fields of its reset message. */
type ServerTask = EnvironmentTask & { readonly reset: Readonly<Record<string, unknown>> };
/** Asks the policy for an answer to a text. */
type Ask = (text: string, turn: number) => Promise<Action>;
type Step = { readonly action: string; readonly reward: number | null };

/** Characters of an observation that are shown; the prompt has the number of those left out. */
const MOST_CHARACTERS = 4000;
/** Reward from which an episode is a success. */
const SUCCESS = 1;
/** Attempts at an episode: a fault may be temporary. */
const ATTEMPTS = 3;
/** Attempts at a server without a free place, and the pause after the first, which doubles each time. */
const CAPACITY = { attempts: 8, waitMs: 50 };
/** Distance between the first seeds of two splits. */
const SEEDS_A_SPLIT = 1_000_000;

function remoteEnvironment(options: Options, { name, splits, ...server }: Described): Environment {
  const actionKey = options.action_key ?? server.actionKey;
  if (actionKey === undefined)
    misuse(`An action of ${name} has several fields, or none that is a text.`, {
      hint: "set environment.action_key to the one that takes the answer, and environment.action to the others",
    });
  const keys = { actionKey, observationKey: options.observation_key ?? server.observationKey };
  const slots = new Semaphore(options.contexts);
  const tasks = SPLITS.flatMap((split, s) => {
    const offered = splits?.get(split);
    const count = splits === undefined ? options.sizes[split] : (offered?.tasks ?? 0);
    return Array.from({ length: count }, (_, index): ServerTask => {
      const id = `openenv/${name}/${split}/${String(index).padStart(4, "0")}`;
      // the server's own tasks are chosen by split and index, as in its task API
      const chosen = offered === undefined ? { seed: s * SEEDS_A_SPLIT + index } : { split: offered.name, index };
      return { id, split, form: name, reset: { ...chosen, episode_id: id } };
    });
  });
  const noTasks = `${name}: the server tells of no tasks, so that seeds make them (docs/environments.md)`;
  return {
    name,
    tasks,
    notes: splits === undefined ? [noTasks] : [],
    capacity: options.contexts,
    started: true,
    // a hash of the requests; the server's tasks themselves are unknown
    splitHash: () => sha256(tasks.map(({ id, reset }) => `${id} ${JSON.stringify(reset)}`).join("\n")),
    start: async () => undefined,
    async play(task, act) {
      const recorded: RecordedAnswer[] = [];
      const ask: Ask = (text, turn) => recordedAnswer(recorded, turn, { text }, act);
      const faults: string[] = [];
      return slots.run(async () => {
        while (faults.length < ATTEMPTS) {
          try {
            return await playOnce(task as ServerTask, ask, options, keys, faults);
          } catch (error) {
            const cause = error instanceof PolicyFailure ? error.cause : error;
            if (!(cause instanceof EnvironmentFault || cause instanceof ObservationTooLong)) throw cause;
            faults.push(cause.message);
            // the policy failed: another attempt changes nothing
            if (error instanceof PolicyFailure) break;
          }
        }
        return faulty(faults.at(-1) ?? "no answer", { faults });
      });
    },
    fixedPolicies: { empty: async () => async () => ({ text: "" }) },
    close: async () => undefined,
  };
}

/** Plays one attempt. @param faults of the attempts before. */
async function playOnce(
  task: ServerTask,
  ask: Ask,
  options: Options,
  { actionKey, observationKey }: { readonly actionKey: string; readonly observationKey: string | undefined },
  faults: readonly string[],
): Promise<EpisodeOutcome> {
  const { connection, first } = await begin(task, options);
  await using _ = closing(connection);
  const steps: Step[] = [];
  let cut = 0;
  let now = first;
  while (!now.done && steps.length < options.turns) {
    const whole = textOf(now, observationKey);
    const shown = whole.slice(0, MOST_CHARACTERS);
    const more = whole.length - shown.length;
    cut += more;
    const action = (await ask(more === 0 ? shown : `${shown}(+${more} more characters)\n`, steps.length)).text ?? "";
    now = await connection.ask("step", { ...options.action, [actionKey]: action });
    steps.push({ action, reward: now.reward });
  }
  const { done, metadata } = now;
  const detail = { steps, done, cut, metadata: metadata ?? {}, ...(faults.length === 0 ? {} : { faults }) };
  return outcomeOf(steps, done, detail, options);
}

/** Opens a connection and begins its episode. A server without a free place is asked again for a while. */
async function begin(
  { reset }: ServerTask,
  options: Options,
): Promise<{ connection: OpenEnvConnection; first: Result }> {
  for (let attempt = 1; ; attempt++) {
    const connection = await OpenEnvConnection.open(options.url, options.timeout_s * 1000);
    try {
      return { connection, first: await connection.ask("reset", { ...options.reset, ...reset }) };
    } catch (error) {
      await connection.close();
      if (!messageOf(error).startsWith("CAPACITY_REACHED") || attempt === CAPACITY.attempts) throw error;
      await setTimeout(CAPACITY.waitMs * 2 ** attempt);
    }
  }
}

/** Reads the text of an observation: the field `key`, or all fields, one per line. */
function textOf({ observation }: Result, key: string | undefined): string {
  const entries = Object.entries(observation).filter(([name]) => name !== "metadata");
  if (key === undefined) return entries.map(([name, of]) => `${name}: ${asText(of)}\n`).join("");
  const text = observation[key];
  if (typeof text === "string") return text;
  throw new EnvironmentFault(`the observation has no text ${key}: ${Object.keys(observation).join(", ")}`);
}

function outcomeOf(
  steps: readonly Step[],
  done: boolean,
  detail: Readonly<Record<string, unknown>>,
  options: Options,
): EpisodeOutcome {
  const given = steps.flatMap(({ reward }) => reward ?? []);
  // no reward is not the same as 0
  if (given.length === 0) return faulty("the server gave no reward", detail);
  const reward = options.reward === "last" ? (given.at(-1) as number) : given.reduce((sum, r) => sum + r, 0);
  const beyond = [...given, reward].find((one) => !(Math.abs(one) <= LARGEST_REWARD));
  if (beyond !== undefined) return faulty(`the server's reward is ${beyond}`, detail);
  return {
    reward,
    success: reward >= SUCCESS,
    ...(given.length === steps.length && steps.length > 1 ? { turnRewards: given } : {}),
    metrics: { turns: steps.length, finished: Number(done) },
    detail,
    summary: `${steps.length} steps`,
  };
}

function faulty(fault: string, detail: Readonly<Record<string, unknown>>): EpisodeOutcome {
  return { reward: null, fault, success: false, metrics: {}, detail };
}

const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
