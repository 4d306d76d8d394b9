import { join } from "node:path";
import type { RunConfig } from "../config/config.js";
import { scheduleOptions } from "../config/optimizer.js";
import { Rng } from "../core/rng.js";
import { mean } from "../core/statistics.js";
import type { Trajectory } from "../diffusion/trajectory.js";
import type { Policy } from "../engine/policy.js";
import type { Environment, EnvironmentTask } from "../env/environment.js";
import { tasksOf } from "../env/open.js";
import { learningRate } from "../optim/schedule.js";
import type { Objective } from "../rl/objective.js";
import { formatDuration } from "../watch/progress-text.js";
import { checkReplay } from "./replay-check.js";
import { collectRollouts, type Turn } from "./rollouts/collect.js";
import { playDrafts } from "./rollouts/drafts.js";
import { creditOf, recordOf } from "./rollouts/group-source.js";
import type { Sample } from "./rollouts/groups.js";
import type { RecordedGroups } from "./rollouts/recorded-groups.js";
import type { DryRun, TrainOptions, TrainResult } from "./types.js";
import { canShare, prepareBatches, scoreHere, takeStep } from "./update.js";

/**
 * Runs the real path of a run up to step 0: a group is generated, played and scored, and its update taken on tensors
 * that are then discarded. Each part runs twice: first to build its graphs, then to be measured. Nothing is written.
 */
export async function dryRunPolicy(
  config: RunConfig,
  objective: Objective,
  policy: Policy,
  environment: Environment,
  recorded: RecordedGroups | undefined,
): Promise<DryRun> {
  const { training, evaluation } = config;
  const evaluations = evaluationsOf(config);
  const played =
    recorded === undefined || evaluations > 0 ? await playGroup(config, objective, policy, environment) : undefined;
  const samples =
    played === undefined || recorded !== undefined
      ? await recordedSamples({ policy, objective, options: config.objective }, recorded)
      : played.samples;

  // the rewards of one group may be equal: an update costs the same for any advantages
  const signed = samples.map((trajectory, i): Sample => {
    const stream = (name: string): Rng => Rng.named(config.seed, `dry-run/${name}/${i}`);
    return { trajectory, credit: i % 2 === 0 ? 1 : -1, stream };
  });
  const share = await canShare(policy, objective);
  if (played !== undefined)
    await checkReplay(policy, [...played.samples, ...played.others], scoreHere(policy.engine), share);
  const { score, update, batches } = await measureUpdate(config, objective, policy, signed, share);
  const micro = Math.ceil((training.prompts_per_step * training.group_size) / training.micro_batch) / batches;

  // a batch costs the same however full it is, and its cost is about proportional to its size
  const batchesOf = (episodes: number, size: number): number =>
    (Math.ceil(episodes / size) * size) / training.rollout_batch;
  const { batch = 0, episode = 0 } = played ?? {};
  const perStep = training.prompts_per_step * training.group_size;
  const step = {
    rollout: recorded === undefined ? batch * batchesOf(perStep, training.rollout_batch) + episode * perStep : 0,
    score: score * micro,
    update: update * micro * training.num_iterations,
  };
  const evaluating =
    evaluations * (batch * batchesOf(evaluation.episodes, evaluation.batch) + episode * evaluation.episodes);
  return {
    rollouts: played?.rollouts ?? 0,
    faults: played?.faults ?? 0,
    reward: played?.reward ?? null,
    step,
    evaluation: evaluating,
    total: training.steps * (step.rollout + step.score + step.update) + evaluating,
    peak_memory_gib: peakMemory(),
  };
}

/** Runs the dry run of supervised training: `learn` takes one update that is discarded. */
export async function dryRunSupervised(config: RunConfig, learn: (step: number) => Promise<unknown>): Promise<DryRun> {
  await learn(1);
  const update = await seconds(() => learn(2));
  return {
    rollouts: 0,
    faults: 0,
    reward: null,
    step: { rollout: 0, score: 0, update },
    evaluation: 0,
    total: config.training.steps * update,
    peak_memory_gib: peakMemory(),
  };
}

/** Formats a dry run. */
export function formatDryRun({ rollouts, faults, reward, step, evaluation, total, peak_memory_gib }: DryRun): string {
  const parts = Object.entries(step).filter(([, value]) => value > 0);
  return [
    ...(rollouts === 0
      ? []
      : [
          `played       ${rollouts} rollouts of one task, mean reward ${reward === null ? "none" : reward.toFixed(3)}${faults > 0 ? `, ${faults} of them failed` : ""}`,
        ]),
    `a step       about ${formatDuration(step.rollout + step.score + step.update)} (${parts.map(([name, value]) => `${name} ${formatDuration(value)}`).join(", ")})`,
    ...(evaluation > 0 ? [`evaluations  about ${formatDuration(evaluation)} together`] : []),
    `the run      about ${formatDuration(total)}`,
    `memory       ${peak_memory_gib.toFixed(1)} GiB so far, the browser's own not counted`,
  ].join("\n");
}

/** Says why a run would learn nothing, as far as one group shows; undefined where it can begin. */
export function hopeless({ rollouts, reward }: DryRun, { model, sampler }: RunConfig): string | undefined {
  if (rollouts === 0 || reward !== 0) return undefined;
  const lengths = ["prompt_length", "response_length"].flatMap((key) =>
    key in sampler ? [`sampler.${key}=${(sampler as Readonly<Record<string, unknown>>)[key]}`] : [],
  );
  return `none of ${rollouts} rollouts earned anything, and equal rewards teach nothing. Does ${model} write plans, and do they fit (${lengths.join(", ")})? docs/runs.md goes through the reasons`;
}

/** Returns the result of a run that was not begun. */
export function notBegun(config: RunConfig, options: TrainOptions, dryRun: DryRun): TrainResult {
  const runDir = options.runDir ?? join("runs", config.name);
  return { runDir, steps: 0, interrupted: false, stopped: null, best: null, before: [], after: [], dryRun };
}

interface Played {
  readonly samples: readonly Trajectory[];
  /** Responses to further tasks, which are not played. */
  readonly others: readonly Trajectory[];
  readonly rollouts: number;
  readonly faults: number;
  readonly reward: number | null;
  /** Seconds to generate one batch of responses. */
  readonly batch: number;
  /** Further seconds per episode, with the config's number of parallel contexts. */
  readonly episode: number;
}

async function playGroup(
  config: RunConfig,
  objective: Objective,
  policy: Policy,
  environment: Environment,
): Promise<Played> {
  const [task] = tasksOf(environment, "train") as [EnvironmentTask, ...EnvironmentTask[]];
  const { group_size: size, rollout_batch: batch } = config.training;
  await environment.start();
  const group = Array.from({ length: size }, () => task);
  const play = (name: string) =>
    collectRollouts(
      policy,
      environment,
      group,
      group.map((_, i) => Rng.named(config.seed, `dry-run/${name}/${i}`)),
      { batch },
    );
  await play("first");
  const { rollouts, times } = await play("second");
  // a batch filled as in a step: the cost of a rollout depends on the number generated together, and on their prompts
  const filled = Array.from({ length: batch }, (_, i) => tasksOf(environment, "train")[Math.floor(i / size)] ?? task);
  const [first] = rollouts.flatMap(({ turns }) => turns);
  let others: readonly Trajectory[] = [];
  const generate = async (): Promise<void> => {
    others = await policy.sampler.rollout(
      policy.rounds,
      filled.map((one) => policy.startOf(environment.firstObservation?.(one) ?? (first as Turn).observation)),
      policy.options,
      filled.map((_, i) => Rng.named(config.seed, `dry-run/batch/${i}`)),
      batch,
    );
  };
  const drafts = objective.needs(config.objective).drafts ? await playDrafts(policy, environment, rollouts) : undefined;
  const records = rollouts.map((rollout, i) => {
    const scored = drafts?.[i];
    return {
      trajectories: rollout.turns.map((turn) => turn.trajectory),
      record: recordOf(rollout, { step: 0, group: 0, rollout: i }, policy),
      ...(scored === undefined ? {} : { drafts: scored }),
    };
  });
  // scored as in a training step
  creditOf({ policy, objective, options: config.objective }, records);
  const rewards = records.flatMap(({ record }) => (record.reward === null ? [] : [record.reward]));
  const generating = await seconds(generate);
  return {
    samples: records.flatMap(({ trajectories }) => trajectories),
    others,
    rollouts: rollouts.length,
    faults: rollouts.length - rewards.length,
    reward: rewards.length === 0 ? null : mean(rewards),
    batch: generating,
    episode: (times.total - times.generating) / Math.max(1, times.episodes),
  };
}

async function recordedSamples(
  context: Parameters<typeof creditOf>[0],
  recorded: RecordedGroups | undefined,
): Promise<readonly Trajectory[]> {
  const { groups } = (await recorded?.collect(1)) ?? { groups: [] };
  const learned = groups.filter((group) => creditOf(context, group).some((credit) => credit !== null));
  return (learned.length > 0 ? learned : groups).flatMap((rollouts) => rollouts.flatMap((r) => r.trajectories));
}

async function measureUpdate(
  config: RunConfig,
  objective: Objective,
  policy: Policy,
  samples: readonly Sample[],
  share: boolean,
): Promise<{ score: number; update: number; batches: number }> {
  const chunk = samples.slice(0, config.training.micro_batch);
  const { objective: options, training } = config;
  const prepare = () => prepareBatches({ policy, objective, options, size: training.micro_batch, share }, [chunk]);
  const rate = (step: number): number => learningRate(step, scheduleOptions(config));
  const batches = await prepare();
  const score = await seconds(prepare);
  await takeStep(policy.engine, batches, 1, rate(1));
  const update = await seconds(() => takeStep(policy.engine, batches, 2, rate(2)));
  return { score, update, batches: batches.length };
}

/** Counts a run's evaluations of a split. */
function evaluationsOf({ evaluation: { splits, every }, training: { steps } }: RunConfig): number {
  return 2 * splits.length + (every > 0 ? Math.floor(steps / every) : 0);
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

function peakMemory(): number {
  return process.resourceUsage().maxRSS / 2 ** 20;
}
