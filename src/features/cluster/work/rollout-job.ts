import { z } from "zod";
import type { Policy } from "../../../engine/policy.js";
import type { Environment, EnvironmentTask, EpisodeOutcome } from "../../../env/environment.js";
import { parseRollout, type RolloutRecord } from "../../../runs/rollout-record.js";
import { type Collect, chunkSize, collectHere, type Rollout } from "../../../train/rollouts/collect.js";
import { recordOf } from "../../../train/rollouts/group-source.js";
import type { Dispatcher } from "../queue/dispatcher.js";
import { address } from "../queue/protocol.js";

/** A job that generates the turns of some episodes together: one chunk of {@link collectHere}. */
export const rolloutPayload = z
  .object({
    /** Blob address of the policy's parameters. */
    adapter: address,
    tasks: z.array(z.string()).min(1).max(100_000),
    seed: z.int().nonnegative(),
    streams: z.array(z.string()),
    decoding: z.enum(["training", "evaluation"]),
    batch: z.int().min(1).max(100_000),
    temperature: z.number().nonnegative().exactOptional(),
  })
  .refine(({ streams, tasks }) => streams.length === tasks.length, "it has a stream for each task");
export type RolloutPayload = z.infer<typeof rolloutPayload>;

/** A worker's rollouts: records of the rollout file, and the values that these leave out. */
const resultSchema = z.object({
  /** Seconds spent in generation. */
  generating: z.number().nonnegative().max(1e9),
  rollouts: z.array(
    z.object({
      record: z.unknown(),
      counts: z.record(z.string(), z.number()).exactOptional(),
      summary: z.string().exactOptional(),
      reused: z.boolean().exactOptional(),
    }),
  ),
});

/** The worker's part: plays the episodes of a job with the loaded policy. */
export async function playRollouts(
  payload: RolloutPayload,
  policy: Policy,
  environment: Environment,
  tasks: ReadonlyMap<string, EnvironmentTask>,
): Promise<string> {
  const collect = collectHere(policy, environment);
  const { rollouts, times } = await collect({ ...payload, tasks: payload.tasks.map((id) => taskOf(id, tasks)) });
  return JSON.stringify({
    generating: times.generating,
    rollouts: rollouts.map((rollout, i) => {
      const { counts, summary, reused } = rollout.outcome;
      // placeholders: the coordinator knows the rollout's place in its step
      return { record: recordOf(rollout, { step: 1, group: 0, rollout: i }, policy), counts, summary, reused };
    }),
  });
}

/** Finds a task by its id. @throws Error if there is none. */
export function taskOf(id: string, tasks: ReadonlyMap<string, EnvironmentTask>): EnvironmentTask {
  const task = tasks.get(id);
  if (task === undefined) throw new Error(`there is no task ${id} here`);
  return task;
}

/**
 * The coordinator's part: cuts the episodes into the same chunks as a single process, so that the same turns are
 * generated together.
 * @param adapter stores the policy's parameters, and returns their address.
 */
export function collectByWorkers(
  dispatcher: Pick<Dispatcher, "run">,
  policy: Policy,
  environment: Environment,
  adapter: () => Promise<string>,
): Collect {
  return async ({ tasks, seed, streams, decoding, batch, temperature, onEpisode }) => {
    const began = performance.now();
    const published = await adapter();
    const decoder = decoding === "training" ? policy : { ...policy, ...policy.evaluation };
    const size = chunkSize(batch, environment);
    let done = 0;
    let generating = 0;
    const chunks = Array.from({ length: Math.ceil(tasks.length / size) }, async (_, c) => {
      const members = tasks.slice(c * size, (c + 1) * size);
      const own = streams.slice(c * size, (c + 1) * size);
      const payload: RolloutPayload = {
        adapter: published,
        tasks: members.map(({ id }) => id),
        seed,
        streams: own,
        decoding,
        batch,
        ...(temperature === undefined ? {} : { temperature }),
      };
      const place = own[0] as string;
      const result = await dispatcher.run("rollouts", place, payload, [published], (bytes) =>
        rolloutsOf(bytes, place, members, decoder),
      );
      generating += result.generating;
      for (const rollout of result.rollouts) onEpisode?.(++done, rollout);
      return result.rollouts;
    });
    const rollouts = (await Promise.all(chunks)).flat();
    const total = (performance.now() - began) / 1000;
    return { rollouts, times: { generating, total, episodes: played(rollouts, environment) } };
  };
}

/** Parses a worker's rollouts of some tasks. @throws Error if they are malformed. */
function rolloutsOf(
  bytes: Buffer,
  place: string,
  tasks: readonly EnvironmentTask[],
  decoder: Parameters<typeof rolloutOf>[2],
): { generating: number; rollouts: Rollout[] } {
  const { generating, rollouts } = resultSchema.parse(JSON.parse(bytes.toString("utf8")));
  if (rollouts.length !== tasks.length) throw new Error(`${rollouts.length} rollouts of ${tasks.length} tasks`);
  return {
    generating,
    rollouts: rollouts.map(({ record, ...rest }, i) =>
      rolloutOf(parseRollout(record, place), tasks[i] as EnvironmentTask, decoder, rest),
    ),
  };
}

/** Restores a rollout from its record. */
function rolloutOf(
  record: RolloutRecord,
  task: EnvironmentTask,
  { sampler, options, actionOf }: Pick<Policy, "sampler" | "options" | "actionOf">,
  rest: Pick<EpisodeOutcome, "counts" | "summary" | "reused">,
): Rollout {
  if (record.task_id !== task.id) throw new Error(`${record.task_id} was played in the place of ${task.id}`);
  const turns = record.turns.map(({ prompt, trajectory: data }) => {
    const trajectory = sampler.parse(data, task.id, options.model);
    return { observation: { text: prompt }, trajectory, action: actionOf(trajectory) };
  });
  const outcome: EpisodeOutcome = {
    reward: record.reward,
    ...(record.fault === null ? {} : { fault: record.fault }),
    success: record.success,
    ...(record.turns.some(({ reward }) => reward !== undefined)
      ? { turnRewards: record.turns.map(({ reward }) => reward as number) }
      : {}),
    ...(record.turns.some(({ parts }) => parts !== undefined)
      ? { answerParts: record.turns.map(({ parts }) => parts ?? []) }
      : {}),
    metrics: record.metrics ?? {},
    detail: record.detail,
    ...rest,
  };
  return { task, turns, outcome };
}

/** Counts the episodes that one process would have played: with `oneTurn`, equal answers to a task are played once. */
function played(rollouts: readonly Rollout[], { oneTurn }: Environment): number {
  if (oneTurn !== true) return rollouts.filter(({ outcome }) => outcome.reused !== true).length;
  return new Set(rollouts.map(({ task, turns }) => JSON.stringify([task.id, turns[0]?.action.text ?? ""]))).size;
}
