import { z } from "zod";
import { delegate } from "../../../core/delegate.js";
import { sha256 } from "../../../core/files.js";
import type { Act, Action, Observation } from "../../../core/interaction.js";
import { EnvironmentFault } from "../../../env/browser/browser.js";
import { type RecordedAnswer, recordedAnswer } from "../../../env/browser/recorded-answers.js";
import type { Environment, EnvironmentTask, EpisodeOutcome, PlayedTogether } from "../../../env/environment.js";
import { decode, encode } from "../queue/codec.js";
import type { Dispatcher } from "../queue/dispatcher.js";
import type { Ask } from "../queue/member.js";
import { Malformed, received, receivedBytes } from "../queue/protocol.js";
import type { Later } from "../queue/queues.js";

/** A job that plays an episode. */
const payloadSchema = z.object({
  task: z.string().max(10_000),
  /** Number of the play, if its turns are asked for; absent if the only answer is given. */
  play: z.int().nonnegative().optional(),
  /** The only answer, encoded, in base64. */
  answer: z.string().optional(),
});
export type EpisodePayload = z.infer<typeof payloadSchema>;

const questionSchema = z.object({ play: z.int().nonnegative(), turn: z.int().nonnegative(), observation: z.string() });
export type Question = z.infer<typeof questionSchema>;

const toText = (value: Observation | Action): string => encode({ ...value }).toString("base64");
/** @throws Malformed if the text does not encode a value of the schema. */
function fromText<T>(what: string, schema: z.ZodType<T>, text: unknown): T {
  const bytes = Buffer.from(received(what, z.string(), text), "base64");
  return receivedBytes(what, bytes, (bytes) => schema.parse(decode(bytes)));
}

const floats = z.instanceof(Float32Array);
const observationSchema = z.looseObject({
  text: z.string().optional(),
  vectors: z.record(z.string(), floats).optional(),
});
const actionSchema = z.looseObject({ text: z.string().optional(), vector: floats.optional() });
const outcomeSchema = z.looseObject({
  reward: z.number().nullable(),
  fault: z.string().optional(),
  success: z.boolean(),
  turnRewards: z.array(z.number()).optional(),
  answerParts: z
    .array(z.array(z.object({ name: z.string(), start: z.int(), end: z.int(), reward: z.number() })))
    .optional(),
  metrics: z.record(z.string(), z.number()),
  counts: z.record(z.string(), z.number()).optional(),
  answer: z.object({ is: z.string().nullable(), of: z.int() }).optional(),
  detail: z.record(z.string(), z.unknown()),
  summary: z.string().optional(),
  reused: z.boolean().optional(),
});

/** Pause before a question of an unknown play is tried again, in milliseconds. */
const UNKNOWN_PLAY_MS = 500;

/** The worker's part: plays one episode, and asks the coordinator for every answer that the job does not hold. */
export async function playEpisode(
  payload: unknown,
  environment: Environment,
  taskOf: (id: string) => EnvironmentTask,
  ask: Ask,
): Promise<string> {
  const { task, play, answer } = received("a job of an episode", payloadSchema, payload);
  const actionOf = (text: unknown): Action => fromText("an answer", actionSchema, text) as Action;
  const known = answer === undefined ? undefined : actionOf(answer);
  if (known === undefined && play === undefined) throw new Malformed("a job of an episode names no play and no answer");
  let turn = 0;
  const act: Act = async (observation) => {
    if (known !== undefined) return known;
    const question: Question = { play: play as number, turn: turn++, observation: toText(observation) };
    return ask(`play${play}.turn${question.turn}.${sha256(question.observation).slice(0, 12)}`, question, actionOf);
  };
  const outcome = await environment.play(taskOf(task), act, new Map());
  return JSON.stringify(outcome);
}

/** An episode that a worker plays with a policy here; `fault`: its page was another one when it was played again. */
interface OpenPlay {
  readonly act: Act;
  readonly answers: RecordedAnswer[];
  fault?: string;
}

/**
 * An environment whose tasks are known here and whose episodes workers play. It starts nothing on this machine.
 * @param local this machine's environment.
 */
export function remoteEnvironment(local: Environment, dispatcher: Pick<Dispatcher, "run" | "answer">): Environment {
  const plays = new Map<number, OpenPlay>();
  let count = 0;
  dispatcher.answer(async (data, later: Later) => {
    const { play, turn, observation } = received("a question", questionSchema, data);
    const seen = fromText("what a question shows", observationSchema, observation) as Observation;
    const open = plays.get(play);
    if (open === undefined) return later(UNKNOWN_PLAY_MS);
    if (turn > open.answers.length)
      throw new Malformed(`a question is of turn ${turn + 1}, after ${open.answers.length}`);
    // an episode that is restarted on another worker gets the same answers
    const answer = recordedAnswer(open.answers, turn, seen, open.act).catch((error: unknown) => {
      // pages that change between attempts: the outcome says nothing about the policy
      if (error instanceof EnvironmentFault) open.fault = error.message;
      throw error;
    });
    return toText(await answer);
  });
  const have = (payload: EpisodePayload): Promise<EpisodeOutcome> =>
    dispatcher.run(
      "episodes",
      payload.task,
      payload,
      [],
      (bytes) => outcomeSchema.parse(JSON.parse(bytes.toString("utf8"))) as EpisodeOutcome,
    );

  const playAnswer = async (task: EnvironmentTask, act: Act, together: PlayedTogether): Promise<EpisodeOutcome> => {
    const action = await act(local.firstObservation?.(task) ?? {});
    const payload = { task: task.id, answer: toText(action) };
    const key = JSON.stringify(payload);
    const known = together.get(key);
    if (known !== undefined) return { ...(await known), reused: true };
    const outcome = have(payload);
    together.set(key, outcome);
    return outcome;
  };

  const playTurns = async (task: EnvironmentTask, act: Act): Promise<EpisodeOutcome> => {
    const play = count++;
    const open: OpenPlay = { act, answers: [] };
    plays.set(play, open);
    try {
      return await have({ task: task.id, play });
    } catch (error) {
      if (open.fault === undefined) throw error;
      return { reward: null, fault: open.fault, success: false, metrics: {}, detail: {} };
    } finally {
      plays.delete(play);
    }
  };

  return delegate(local, {
    start: async () => undefined,
    started: false,
    // pictures need a browser
    photograph: undefined,
    play: (task: EnvironmentTask, act: Act, together: PlayedTogether) =>
      local.oneTurn === true ? playAnswer(task, act, together) : playTurns(task, act),
  });
}
