import type { RunConfig } from "../../config/config.js";
import { scheduleOptions } from "../../config/optimizer.js";
import { Rng } from "../../core/rng.js";
import { mean } from "../../core/statistics.js";
import type { Trajectory } from "../../diffusion/trajectory.js";
import type { EnvironmentTask } from "../../env/environment.js";
import { tasksOf } from "../../env/open.js";
import { learningRate } from "../../optim/schedule.js";
import type { StepContext } from "../../train/context.js";
import type { DryRunKind } from "../../train/dry-run.js";
import { checkReplay } from "../../train/replay-check.js";
import type { Turn } from "../../train/rollouts/collect.js";
import { creditOf, playGroups } from "../../train/rollouts/group-source.js";
import type { Sample } from "../../train/rollouts/groups.js";
import type { GroupSource } from "../../train/rollouts/step-groups.js";
import type { DryRun } from "../../train/types.js";
import { prepareBatches, scoreHere, takeStep } from "../../train/update.js";
import { formatDuration } from "../../watch/progress-text.js";

export const dryRun: DryRunKind = { onRollouts, onExamples, format, noSignal };

/**
 * Runs the real path of a run up to step 0: a group is generated, played and scored, and its update taken on tensors
 * that are then discarded. Each part runs twice: first to build its graphs, then to be measured. Nothing is written.
 * @param stored rollouts of another run to learn from; undefined: episodes are played.
 */
async function onRollouts(context: StepContext, config: RunConfig, stored: GroupSource | undefined): Promise<DryRun> {
  const { policy, share } = context;
  const { training, evaluation } = config;
  const evaluations = evaluationsOf(config);
  const played = stored === undefined || evaluations > 0 ? await playGroup(context) : undefined;
  const trajectories = stored === undefined ? (played?.trajectories ?? []) : await storedTrajectories(context, stored);

  // the rewards of one group may be equal: an update costs the same for any advantages
  const samples = trajectories.map((trajectory, i): Sample => {
    const stream = (name: string): Rng => Rng.named(config.seed, `dry-run/${name}/${i}`);
    return { trajectory, credit: i % 2 === 0 ? 1 : -1, stream };
  });
  if (played !== undefined)
    await checkReplay(policy, [...played.trajectories, ...played.others], scoreHere(policy.engine), share);
  const { score, update, batches } = await measureUpdate(context, config, samples);
  const perStep = training.prompts_per_step * training.group_size;
  const micro = Math.ceil(perStep / training.micro_batch) / batches;

  // a batch costs the same however full it is, and its cost is about proportional to its size
  const batchesOf = (episodes: number, size: number): number =>
    (Math.ceil(episodes / size) * size) / training.rollout_batch;
  const { batch = 0, episode = 0 } = played ?? {};
  const step = {
    rollout: stored === undefined ? batch * batchesOf(perStep, training.rollout_batch) + episode * perStep : 0,
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
async function onExamples(config: RunConfig, learn: (step: number) => Promise<unknown>): Promise<DryRun> {
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
function format({ rollouts, faults, reward, step, evaluation, total, peak_memory_gib }: DryRun): string {
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

/** Returns why a run would learn nothing, as far as one group shows; undefined where it can begin. */
function noSignal({ rollouts, reward }: DryRun, { model, sampler }: RunConfig): string | undefined {
  if (rollouts === 0 || reward !== 0) return undefined;
  const lengths = ["prompt_length", "response_length"].flatMap((key) =>
    key in sampler ? [`sampler.${key}=${(sampler as Readonly<Record<string, unknown>>)[key]}`] : [],
  );
  return `none of ${rollouts} rollouts earned anything, and equal rewards teach nothing. Does ${model} write plans, and do they fit (${lengths.join(", ")})? docs/runs.md goes through the reasons`;
}

interface PlayedGroup {
  readonly trajectories: readonly Trajectory[];
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

/** Plays and scores a group as a training step does, and generates a batch of responses. */
async function playGroup(context: StepContext): Promise<PlayedGroup> {
  const { policy, seed, training, executor } = context;
  const { environment } = executor;
  const tasks = tasksOf(environment, "train");
  const [task] = tasks as [EnvironmentTask, ...EnvironmentTask[]];
  const { group_size: size, rollout_batch: batch } = training;
  await environment.start();
  const play = (name: string) => playGroups(context, [task], { step: 0, group: 0, stream: `dry-run/${name}` });
  await play("first");
  const { groups, rollouts, times } = await play("second");
  const group = groups.flat();
  creditOf(context, group);
  // a batch filled as in a step: the cost of a rollout depends on the number generated together, and on their prompts
  const filled = Array.from({ length: batch }, (_, i) => tasks[Math.floor(i / size)] ?? task);
  const [first] = rollouts.flatMap(({ turns }) => turns);
  let others: readonly Trajectory[] = [];
  const generating = await seconds(async () => {
    others = await policy.sampler.rollout(
      policy.rounds,
      filled.map((one) => policy.startOf(environment.firstObservation?.(one) ?? (first as Turn).observation)),
      policy.options,
      filled.map((_, i) => Rng.named(seed, `dry-run/batch/${i}`)),
      batch,
    );
  });
  const rewards = group.flatMap(({ record }) => (record.reward === null ? [] : [record.reward]));
  return {
    trajectories: group.flatMap((rollout) => rollout.trajectories),
    others,
    rollouts: group.length,
    faults: group.length - rewards.length,
    reward: rewards.length === 0 ? null : mean(rewards),
    batch: generating,
    episode: (times.total - times.generating) / Math.max(1, times.episodes),
  };
}

/** Returns the turns of the first stored step: of its groups with signal, where there are such. */
async function storedTrajectories(context: StepContext, stored: GroupSource): Promise<readonly Trajectory[]> {
  const { groups } = await stored.collect(1);
  const withSignal = groups.filter((group) => creditOf(context, group).some((credit) => credit !== null));
  return (withSignal.length > 0 ? withSignal : groups).flatMap((group) => group.flatMap((r) => r.trajectories));
}

async function measureUpdate(
  context: StepContext,
  config: RunConfig,
  samples: readonly Sample[],
): Promise<{ score: number; update: number; batches: number }> {
  const { engine } = context.policy;
  const chunk = samples.slice(0, context.size);
  const prepare = () => prepareBatches(context, [chunk]);
  const rate = (step: number): number => learningRate(step, scheduleOptions(config));
  const batches = await prepare();
  const score = await seconds(prepare);
  await takeStep(engine, batches, 1, rate(1));
  const update = await seconds(() => takeStep(engine, batches, 2, rate(2)));
  return { score, update, batches: batches.length };
}

/** Counts a run's evaluations of a split. */
const evaluationsOf = ({ evaluation: { splits, every }, training: { steps } }: RunConfig): number =>
  2 * splits.length + (every > 0 ? Math.floor(steps / every) : 0);

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

const peakMemory = (): number => process.resourceUsage().maxRSS / 2 ** 20;
