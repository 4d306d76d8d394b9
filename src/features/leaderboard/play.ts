import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { RunConfig } from "../../config/config.js";
import { closing } from "../../core/closing.js";
import { fail } from "../../core/errors.js";
import { readJson, sha256, writeAtomic } from "../../core/files.js";
import { groupBy } from "../../core/group-by.js";
import { checked } from "../../core/problems.js";
import { Rng } from "../../core/rng.js";
import { initialAdapter, readAdapter } from "../../engine/adapter.js";
import { checkSpaces, openPolicy, type Policy } from "../../engine/policy.js";
import type { Environment } from "../../env/environment.js";
import { evaluationTasks, openEnvironment, tasksOf } from "../../env/open.js";
import { type RunConfigInput, resolveConfig, train } from "../../library/programs.js";
import { objective as flowGrpo } from "../../rl/objectives/flow-grpo.js";
import { findCheckpoint } from "../../runs/checkpoint.js";
import { type Evaluation, evaluationSchema } from "../../runs/evaluation.js";
import { RunDirectory } from "../../runs/run-directory.js";
import { evaluatePolicy } from "../../train/evaluate.js";
import { layOut } from "../../train/update.js";
import { entryKey, type Leaderboard, type PlannedRun, plannedRuns, rateBeyond, startConfig } from "./plan.js";

const resultSchema = z.strictObject({
  /** SHA-256 of the run's planned config, so that new defaults in later releases do not change it. */
  config: z.string(),
  /** KL in nats per response between the policies at the end and at the beginning of the run. */
  kl: z.number(),
  /** CPU seconds of training in this process, without evaluations and browser; null after a resume. */
  cpu_s: z.number().nullable(),
  /** Number of rollouts and updates of the run. */
  rollouts: z.int(),
  updates: z.int(),
  evaluations: z.array(evaluationSchema),
});
export type RunResult = z.infer<typeof resultSchema>;

export interface PlayedRun {
  readonly run: PlannedRun;
  /** Undefined if the run is not done yet. */
  readonly result: RunResult | undefined;
}

/** All present results of a leaderboard. */
export interface Results {
  readonly start: ReadonlyMap<string, readonly Evaluation[]>;
  readonly runs: readonly PlayedRun[];
  /** The chosen learning rate of each objective; undefined while its grid is not complete. */
  readonly rates: ReadonlyMap<string, number>;
}

export interface PlayOptions {
  readonly out: string;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
  /** True: only present results are read, and nothing is run. */
  readonly readOnly: boolean;
}

/**
 * Runs everything that has no result yet, one run after the other: the grid of learning rates first, then the reported
 * runs. Results of finished runs are read; interrupted runs resume from their checkpoints.
 * @throws UserError if a present run has another config.
 */
export async function playLeaderboard(board: Leaderboard, options: PlayOptions): Promise<Results> {
  const runs: PlayedRun[] = [];
  const play = async (planned: readonly PlannedRun[]): Promise<void> => {
    for (const [i, run] of planned.entries())
      runs.push({ run, result: await playRun(run, board, options, `${i + 1} of ${planned.length}`) });
  };
  const start = new Map<string, readonly Evaluation[]>();
  for (const family of Object.keys(board.families)) {
    const result = await playStart(board, family, options);
    if (result !== undefined) start.set(family, result.evaluations);
  }
  await play(plannedRuns(board, true, () => board.tuning.learning_rates));
  for (let i = 0; i < board.tuning.widen; i++) {
    const [grids, best] = [gridsOf(runs), chosenRates(runs)];
    const beyond = (key: string): number[] => rateBeyond(grids.get(key) ?? [], best.get(key) ?? Number.NaN);
    await play(plannedRuns(board, true, (entry) => beyond(entryKey(entry))));
  }
  const rates = chosenRates(runs);
  const ofGrid = (key: string): number[] => [rates.get(key) ?? []].flat();
  await play(plannedRuns(board, false, (entry) => ofGrid(entryKey(entry))));
  return { start, runs, rates };
}

/** Lists the learning rates tried for each objective. */
export function gridsOf(played: readonly PlayedRun[]): Map<string, number[]> {
  const tuning = played.flatMap(({ run }) => (run.tuning ? [run] : []));
  return new Map(
    [...groupBy(tuning, entryKey)].map(([key, runs]) => [key, [...new Set(runs.map((run) => run.learningRate))]]),
  );
}

/** Chooses each complete grid's rate of the highest mean validation reward; the lower one among equals. */
export function chosenRates(played: readonly PlayedRun[]): Map<string, number> {
  const chosen = new Map<string, number>();
  for (const [key, grid] of groupBy(played, ({ run }) => entryKey(run))) {
    if (grid.some(({ result }) => result === undefined)) continue;
    const rewards = new Map<number, number>();
    for (const { run, result } of grid)
      rewards.set(run.learningRate, (rewards.get(run.learningRate) ?? 0) + (result?.evaluations[0]?.reward.mean ?? 0));
    const [best] = [...rewards].sort(([rate, reward], [other, than]) => than - reward || rate - other);
    if (best !== undefined) chosen.set(key, best[0]);
  }
  return chosen;
}

async function playRun(
  run: PlannedRun,
  board: Leaderboard,
  options: PlayOptions,
  place: string,
): Promise<RunResult | undefined> {
  const { signal, say } = options;
  const dir = join(options.out, run.place);
  return kept(join(dir, "result.json"), run.config, options, async (config) => {
    const resume = existsSync(join(dir, "config.yaml")) && RunDirectory.open(dir).begun;
    say(`${run.tuning ? "tuning" : "reported"} run ${place}: ${run.place}${resume ? " (resumed)" : ""}`);
    const before = process.cpuUsage();
    const { interrupted } = await train(run.config as RunConfigInput, { runDir: dir, resume, signal });
    if (interrupted) return undefined;
    const { user, system } = process.cpuUsage(before);
    const measured = await measure(config, dir, run.splits, board.kl_rollouts);
    const { steps, prompts_per_step, group_size, num_iterations } = config.training;
    return {
      ...measured,
      cpu_s: resume ? null : (user + system) / 1e6,
      rollouts: steps * prompts_per_step * group_size,
      updates: steps * num_iterations,
    };
  });
}

/** Measures the policy that all runs of a family start from, on the reported splits. */
function playStart(board: Leaderboard, family: string, options: PlayOptions): Promise<RunResult | undefined> {
  return kept(join(options.out, family, "start.json"), startConfig(board, family), options, async (config) => {
    options.say(`${family}: the policy that its runs start from`);
    const measured = await measure(config, undefined, board.splits, board.kl_rollouts);
    return { ...measured, cpu_s: 0, rollouts: 0, updates: 0 };
  });
}

/** Reads a result, or makes and stores it. @throws UserError if the stored one has another config. */
async function kept(
  file: string,
  planned: Readonly<Record<string, unknown>>,
  { readOnly, signal }: PlayOptions,
  make: (config: RunConfig) => Promise<Omit<RunResult, "config"> | undefined>,
): Promise<RunResult | undefined> {
  const hash = sha256(JSON.stringify(planned));
  if (existsSync(file)) {
    const result = checked(resultSchema, readJson(file), `${file} is no result of a leaderboard's run`);
    if (result.config === hash) return result;
    fail(`${file} was made by another config than this leaderboard's.`, {
      hint: "give another --out, or restore the config",
    });
  }
  const made = readOnly || signal.aborted ? undefined : await make(await resolveConfig(planned));
  if (made === undefined) return undefined;
  const result = { config: hash, ...made };
  await writeAtomic(file, `${JSON.stringify(result)}\n`);
  return result;
}

/** Measures evaluations and KL of a run's last checkpoint; without a run, of the initial policy. */
async function measure(
  config: RunConfig,
  runDir: string | undefined,
  splits: Leaderboard["splits"],
  rollouts: number,
): Promise<Pick<RunResult, "kl" | "evaluations">> {
  await using policy = closing(await openPolicy(config, undefined));
  await using environment = closing(await openEnvironment(config, () => undefined));
  checkSpaces(environment, policy);
  const last = runDir === undefined ? undefined : findCheckpoint(RunDirectory.open(runDir), "last");
  const adapter = last === undefined ? initialAdapter(config, policy) : readAdapter(last, policy);
  await policy.engine.setParameters("policy", adapter);
  const evaluations: Evaluation[] = [];
  for (const split of splits)
    evaluations.push(await evaluatePolicy({ policy, environment, evaluation: config.evaluation }, split));
  const kl = await pathKl(policy, environment, config, splits[0] as Leaderboard["splits"][number], rollouts);
  return { kl, evaluations };
}

/**
 * Measures the distance of the policy from its start: the mean over its own rollouts of log pi - log pi_0 of the
 * sampled path, in nats per response. By the chain rule this is an unbiased estimate of KL(pi || pi_0) over paths, for
 * every objective. Overwrites the engine's reference.
 * @param count number of rollouts, of first turns on the tasks of a split.
 */
async function pathKl(
  policy: Policy,
  environment: Environment,
  config: RunConfig,
  split: RunConfig["evaluation"]["splits"][number],
  count: number,
): Promise<number> {
  const first = environment.firstObservation?.bind(environment);
  if (first === undefined)
    fail(`${environment.name} shows nothing before it is played, so that no path can be measured.`);
  const { engine, sampler, options, rounds } = policy;
  const { micro_batch: size, rollout_batch: batch } = config.training;
  const { seed } = config.evaluation;
  const starts = evaluationTasks(tasksOf(environment, split), count, seed, split).map((t) => policy.startOf(first(t)));
  const rngs = starts.map((_, i) => Rng.named(seed, `path-kl/${split}/${i}`));
  const trajectories = await sampler.rollout(rounds, starts as never, options, rngs, batch);
  const samples = trajectories.map((trajectory, i) => ({
    trajectory,
    credit: 0,
    stream: (name: string) => Rng.named(seed, `path-kl/${name}/${i}`),
  }));
  await engine.setParameters("reference", initialAdapter(config, policy));
  let sum = 0;
  const whole = flowGrpo.schema.parse({ ratio_level: "step" }) as never;
  for (const { batch: laid } of layOut({ policy, objective: flowGrpo, options: whole, size }, samples, "layout")) {
    const { value } = await engine.score(laid, "policy");
    const reference = (await engine.score(laid, "reference")).value;
    laid.owner.forEach((owner, s) => {
      if (owner >= 0) sum += (value[s] as number) - (reference[s] as number);
    });
  }
  return sum / count;
}
