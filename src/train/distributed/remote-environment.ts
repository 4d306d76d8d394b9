import { z } from "zod";
import { decode, encode } from "../../cluster/codec.js";
import type { Dispatcher } from "../../cluster/dispatcher.js";
import type { Later } from "../../cluster/queues.js";
import { UserError } from "../../core/errors.js";
import type { Act, Action, Observation } from "../../core/interaction.js";
import { type Asked, answered, OTHER_PAGE } from "../../env/browser/recorded-answers.js";
import type { Environment, EnvironmentTask, EpisodeOutcome, PlayedTogether } from "../../env/environment.js";

/** An episode as a job. */
const payloadSchema = z.object({
  task: z.string(),
  /** The play's number, where its turns are asked for; a play whose only answer is known is the same as any other. */
  play: z.number().optional(),
  /** The only answer, base64 of its encoding. */
  answer: z.string().optional(),
});
export type EpisodePayload = z.infer<typeof payloadSchema>;

const questionSchema = z.object({ play: z.number(), turn: z.number(), observation: z.string() });
export type Question = z.infer<typeof questionSchema>;

const toText = (value: Observation | Action): string => encode({ ...value }).toString("base64");
const fromText = (text: string): unknown => decode(Buffer.from(text, "base64"));

/** How long a question waits whose play is not known yet. */
const UNKNOWN_PLAY_MS = 500;

/** A worker's part: plays one episode, and asks the coordinator for every answer that the job does not hold. */
export async function playEpisode(
  payload: unknown,
  environment: Environment,
  taskOf: (id: string) => EnvironmentTask,
  ask: (id: string, question: unknown) => Promise<unknown>,
): Promise<string> {
  const { task, play, answer } = payloadSchema.parse(payload);
  let turn = 0;
  const act: Act = async (observation) => {
    if (answer !== undefined) return fromText(answer) as Action;
    const question: Question = { play: play as number, turn: turn++, observation: toText(observation) };
    return fromText(
      String(await ask(`play${play}.turn${question.turn}.${shortHash(question.observation)}`, question)),
    ) as Action;
  };
  const outcome = await environment.play(taskOf(task), act, new Map());
  return JSON.stringify(outcome);
}

function shortHash(text: string): string {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) | 0;
  return (hash >>> 0).toString(36);
}

/**
 * An environment whose episodes workers play, and whose tasks are known here. It starts nothing on this machine.
 * @param local the environment as this machine knows it.
 */
export function remoteEnvironment(local: Environment, dispatcher: Pick<Dispatcher, "run" | "answer">): Environment {
  const plays = new Map<number, { readonly act: Act; readonly asked: Asked[] }>();
  let count = 0;
  dispatcher.answer(async (data, later: Later) => {
    const { play, turn, observation } = questionSchema.parse(data);
    const open = plays.get(play);
    if (open === undefined) return later(UNKNOWN_PLAY_MS);
    // an episode that starts again elsewhere is answered as it was before
    return toText(await answered(open.asked, turn, fromText(observation) as Observation, open.act));
  });
  const have = async (payload: EpisodePayload): Promise<EpisodeOutcome> =>
    JSON.parse((await dispatcher.run("episodes", payload.task, payload)).toString("utf8")) as EpisodeOutcome;

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
    plays.set(play, { act, asked: [] });
    try {
      return await have({ task: task.id, play });
    } catch (error) {
      // pages that are not the same twice: nothing is known of the policy then
      if (!(error instanceof UserError) || !error.message.includes(OTHER_PAGE)) throw error;
      return { reward: null, fault: error.message, success: false, metrics: {}, detail: {} };
    } finally {
      plays.delete(play);
    }
  };

  return Object.create(local, {
    start: { value: async () => undefined },
    started: { value: false },
    // pictures are taken where a browser is
    photograph: { value: undefined },
    play: {
      value: (task: EnvironmentTask, act: Act, together: PlayedTogether) =>
        local.oneTurn === true ? playAnswer(task, act, together) : playTurns(task, act),
    },
  }) as Environment;
}
