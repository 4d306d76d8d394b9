import { mkdirSync } from "node:fs";
import { join } from "node:path";
import writeFileAtomic from "write-file-atomic";
import { configOf, loadConfig, type RunConfig } from "../config/config.js";
import { isPlainObject, parseOverrides } from "../config/overrides.js";
import { closing, orClose } from "../core/closing.js";
import { fail, misuse } from "../core/errors.js";
import { sha256 } from "../core/files.js";
import { Rng } from "../core/rng.js";
import { initialAdapter, readAdapter } from "../engine/adapter.js";
import { certaintyOf, checkPromptsFit, checkSpaces, openPolicy, type Policy } from "../engine/policy.js";
import type { Environment, EnvironmentTask, EpisodeOutcome, TaskSet } from "../env/environment.js";
import { evaluationTasks, openEnvironment, tasksOf } from "../env/open.js";
import { findCheckpoint, readCheckpoint } from "../runs/checkpoint.js";
import { type EpisodeScore, type Evaluation, summarize, writeEvaluation } from "../runs/evaluation.js";
import { RunDirectory } from "../runs/run-directory.js";
import { Progress } from "../watch/progress.js";
import { type Miss, missesOf, type PlayedEpisode } from "./misses.js";
import { playFixed } from "./play-fixed.js";
import { type Collect, collectHere } from "./rollouts/collect.js";
import { withoutLongTasks } from "./supervised/skip-long.js";
import type { EvaluateOptions, EvaluateResult } from "./types.js";

interface EvaluationContext {
  readonly environment: Environment;
  /** The config's section. */
  readonly evaluation: RunConfig["evaluation"];
  /** Attempts at each task; default 1. */
  readonly attempts?: number | undefined;
}

interface Listeners {
  readonly onEpisode?: ((done: number, all: number) => void) | undefined;
  /** Receives every episode with its actions. */
  readonly onPlayed?: ((played: PlayedEpisode) => void) | undefined;
}

/**
 * Returns the tasks of an evaluation with the name of each episode's random stream. Several attempts are at different
 * tasks; the first at a task has the noise of a single one.
 */
function episodesOf({ environment, evaluation, attempts = 1 }: EvaluationContext, split: TaskSet) {
  const { episodes, seed } = evaluation;
  const tasks = tasksOf(environment, split);
  const count = attempts === 1 ? episodes : Math.min(episodes, tasks.length);
  const tries = Array.from({ length: attempts }, (_, a) => (a === 0 ? "" : `/attempt/${a}`));
  const drawn = evaluationTasks(tasks, count, seed, split).flatMap((task, i) =>
    tries.map((name) => ({ task, stream: `${split}/${i}${name}` })),
  );
  return { tasks: drawn.map(({ task }) => task), streams: drawn.map(({ stream }) => stream) };
}

/** Evaluates the current policy on a split: equal tasks and noise for every policy with one evaluation seed. */
export async function evaluatePolicy(
  context: EvaluationContext & { readonly policy: Policy; readonly collect?: Collect },
  split: TaskSet,
  { onEpisode, onPlayed }: Listeners = {},
): Promise<Evaluation> {
  const { policy, environment, collect = collectHere(policy, environment) } = context;
  const { seed, batch } = context.evaluation;
  const temperature = context.evaluation.temperature ?? policy.evaluation.options.temperature;
  const { tasks, streams } = episodesOf(context, split);
  await environment.start();
  const { rollouts } = await collect({
    tasks,
    seed,
    streams: streams.map((name) => `evaluation/${name}`),
    decoding: "evaluation",
    batch,
    temperature,
    onEpisode: (done, { task, turns, outcome }) => {
      const actions = turns.map(({ action, trajectory }) => ({ ...action, ...certaintyOf(policy, trajectory) }));
      onPlayed?.({ task, actions, outcome });
      onEpisode?.(done, tasks.length);
    },
  });
  return summarizeEpisodes(rollouts, context, split, "model", temperature);
}

/** Evaluates a policy without a model: the oracle, or a null policy, to which a fair reward gives nothing. */
async function evaluateFixed(
  name: string,
  context: EvaluationContext,
  split: TaskSet,
  { onEpisode, onPlayed }: Listeners,
): Promise<Evaluation> {
  const { environment } = context;
  const fixed = environment.fixedPolicies[name];
  if (fixed === undefined) {
    const names = Object.keys(environment.fixedPolicies).join(", ") || "none";
    misuse(`${environment.name} has no policy ${name} of its own; it has ${names}.`);
  }
  const { seed } = context.evaluation;
  await environment.start();
  const { tasks, streams } = episodesOf(context, split);
  let done = 0;
  const played = await Promise.all(
    tasks.map(async (task, i) => {
      const act = await fixed(task, Rng.named(seed, `${name}/${streams[i]}`));
      const { turns, outcome } = await playFixed(environment, task, act);
      onPlayed?.({ task, actions: turns.map(({ action }) => action), outcome });
      onEpisode?.(++done, tasks.length);
      return { task, outcome };
    }),
  );
  return summarizeEpisodes(played, context, split, name, null);
}

function summarizeEpisodes(
  played: readonly { readonly task: EnvironmentTask; readonly outcome: EpisodeOutcome }[],
  { environment, evaluation, attempts }: EvaluationContext,
  split: TaskSet,
  policy: string,
  temperature: number | null,
): Evaluation {
  const scores = played.map(({ task, outcome }): EpisodeScore => {
    const about = { task_id: task.id, form: task.form };
    const { reward, fault, success, metrics, counts } = outcome;
    if (reward === null) return { ...about, reward: 0, success: false, metrics: {}, fault: fault ?? "no reward" };
    return {
      ...about,
      reward,
      success,
      metrics: { ...metrics },
      ...(counts === undefined ? {} : { counts: { ...counts } }),
    };
  });
  const tasks = played.map(({ task }) => task);
  const split_hash = environment.splitHash();
  const checksum = {
    judge: environment.judge?.(tasks) ?? null,
    tasks: sha256([split_hash, ...tasks.map(({ id }) => id)].join("\n")),
  };
  const about = { split, policy, seed: evaluation.seed, split_hash, temperature, checksum };
  return summarize(scores, about, attempts);
}

/**
 * Keys of the sections of training that an evaluation reads. Any other of their keys is refused on the command line.
 */
const READ = ["training.skip_long", "training.gradient_checkpointing", "objective.kind"];
const UNREAD = /^(?:training|objective|checkpoint|tracking|report|distributed|evaluation\.every)(?:\.|$)/;

/** @throws UserError for settings that would change nothing. */
function refuseUnread(overrides: readonly string[]): void {
  const keys = parseOverrides(overrides).flatMap(({ path, value }) =>
    (isPlainObject(value) ? Object.keys(value) : [undefined]).map((key) => [...path, ...(key ? [key] : [])].join(".")),
  );
  const unread = keys.filter((key) => UNREAD.test(key) && !READ.includes(key));
  if (unread.length > 0)
    misuse(`refusion-eval does not read ${unread.join(", ")}: it takes no training step.`, { hint: "leave it out" });
}

/** Runs `refusion-eval`: evaluates a run's checkpoint, a config's model, or a policy without a model. */
export async function evaluateCommand(options: EvaluateOptions): Promise<EvaluateResult> {
  refuseUnread(options.overrides);
  const run = options.run === undefined ? undefined : RunDirectory.open(options.run);
  const source = run?.config ?? options.config;
  if (source === undefined) misuse("Neither a run nor a config was given.");
  const how = { command: run?.readEnvironment().command, overrides: options.overrides };
  const loaded = typeof source === "string" ? await loadConfig(source, how) : await configOf(source, "run", how);
  const splits = options.split === undefined ? loaded.evaluation.splits : [options.split as TaskSet];
  const progress = new Progress(options);
  await using site = closing(await openEnvironment(loaded, (text) => progress.note(text)));
  for (const split of splits) tasksOf(site, split);
  await using policy = options.policy === "model" ? closing(await openEvaluated(loaded, options, run)) : undefined;
  for (const text of policy?.notes ?? []) progress.note(text);
  const temperature = loaded.evaluation.temperature ?? policy?.evaluation.options.temperature;
  if ((options.attempts ?? 1) > 1 && temperature === 0)
    progress.note("warning: at temperature 0 all attempts at a task are alike; set evaluation.temperature");
  if (policy !== undefined) checkSpaces(site, policy);
  const environment =
    policy === undefined ? site : withoutLongTasks(site, loaded, policy, (text) => progress.note(text));
  const evaluations: Evaluation[] = [];
  const files: string[] = [];
  const misses: Miss[] = [];
  for (const split of splits) {
    const wanted = options.episodes === "all" ? tasksOf(environment, split).length : options.episodes;
    const evaluating = {
      environment,
      evaluation: { ...loaded.evaluation, ...(wanted && { episodes: wanted }) },
      attempts: options.attempts,
    };
    if (policy !== undefined) checkPromptsFit(environment, tasksOf(environment, split), policy);
    const played: PlayedEpisode[] = [];
    const keepHar = harWriter(join(run?.dir ?? ".", "eval", "har", split));
    const listeners: Listeners = {
      onEpisode: (done, all) => progress.phase({ doing: split, done, all }),
      onPlayed: (one) => {
        if (options.show === true) played.push(one);
        keepHar(one);
      },
    };
    const evaluation = await unlessAborted(
      options.signal,
      policy === undefined
        ? () => evaluateFixed(options.policy, evaluating, split, listeners)
        : () => evaluatePolicy({ ...evaluating, policy }, split, listeners),
    );
    evaluations.push(evaluation);
    const pictures = join(run?.dir ?? ".", "eval", "misses", split);
    misses.push(...(await missesOf(played, environment, pictures)));
    if (run !== undefined) {
      const name = options.policy === "model" ? String(options.checkpoint) : options.policy;
      const file = join(run.dir, "eval", name, `${split}.json`);
      await writeEvaluation(file, evaluation);
      files.push(file);
    }
  }
  progress.end();
  return { evaluations, files, ...(options.show === true ? { misses, kind: loaded.environment.kind } : {}) };
}

/** Returns a writer of episodes' requests (`browser.har`): TASK.har, for further attempts TASK-2.har and so on. */
function harWriter(folder: string): (played: PlayedEpisode) => void {
  const attempts = new Map<string, number>();
  return ({ task, outcome: { har } }) => {
    if (har === undefined) return;
    const attempt = (attempts.get(task.id) ?? 0) + 1;
    attempts.set(task.id, attempt);
    const name = task.id.replace(/[^\w.-]+/g, "-");
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `${name}${attempt === 1 ? "" : `-${attempt}`}.har`);
    // a file that was there may be readable by others
    writeFileAtomic.sync(file, JSON.stringify(har), { mode: 0o600 });
  };
}

/** Runs an evaluation, which an interrupt ends at once: it saves nothing partial. @throws the signal's AbortError. */
async function unlessAborted<T>(signal: AbortSignal, begin: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const work = begin();
  // it continues until its browser is closed; its errors are ignored
  work.catch(() => undefined);
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Opens the policy of a run's checkpoint, or of a config. */
export async function openEvaluated(
  config: RunConfig,
  { checkpoint: which }: { readonly checkpoint: EvaluateOptions["checkpoint"] | undefined },
  run: RunDirectory | undefined,
): Promise<Policy> {
  return orClose(await openPolicy(config, undefined), async (policy) => {
    if (run === undefined) return policy.engine.setFinal(initialAdapter(config, policy));
    const checkpoint = await readCheckpoint(findCheckpoint(run, which));
    if (checkpoint.adapter === null) {
      const { output } = config.objective as { readonly output?: unknown };
      fail(`${run.dir} trained a whole model, not an adapter.`, {
        hint: `evaluate the model that it wrote: refusion-eval --config ${run.config} model=${output ?? "DIR"}`,
      });
    }
    readAdapter(findCheckpoint(run, which), policy);
    await policy.engine.setFinal(checkpoint.adapter.tensors);
  });
}
