import { join } from "node:path";
import { loadConfig, type RunConfig } from "../config/config.js";
import { UserError } from "../core/errors.js";
import { Rng } from "../core/rng.js";
import { checkPromptsFit, initialAdapter, openPolicy, type Policy, readAdapter } from "../engine/policy.js";
import { EnvironmentFault } from "../env/browser/browser.js";
import type { Control } from "../env/browser/controls.js";
import type { Episode } from "../env/browser/episode.js";
import { nullPlan, oracleActions } from "../env/forms/oracle.js";
import { renderPlan } from "../env/forms/plan.js";
import type { Task } from "../env/site.js";
import { findCheckpoint, readCheckpoint } from "../runs/checkpoint.js";
import { type EpisodeScore, type Evaluation, summarize, writeEvaluation } from "../runs/evaluation.js";
import { RunDirectory } from "../runs/run-directory.js";
import { Progress } from "../watch/progress.js";
import { type Environment, evaluationTasks, openEnvironment, rewardOf, type TaskSet } from "./environment.js";
import { collectRollouts } from "./rollouts.js";
import { withoutLongTasks } from "./skip-long.js";
import type { EvaluateOptions, EvaluateResult, PolicyName } from "./types.js";

type Report = (done: number, all: number) => void;

/** Evaluates the current policy on a split: the same tasks and the same noise for every policy of one evaluation seed. */
export async function evaluatePolicy(
  policy: Policy,
  environment: Environment,
  config: RunConfig,
  split: TaskSet,
  onEpisode?: Report,
): Promise<Evaluation> {
  const { episodes, seed, batch } = config.evaluation;
  const temperature = config.evaluation.temperature ?? policy.evaluation.options.temperature;
  const tasks = evaluationTasks(environment.tasks(split), episodes, seed, split);
  const rngs = tasks.map((_, i) => Rng.named(seed, `evaluation/${split}/${i}`));
  const { rollouts } = await collectRollouts(
    { ...policy, ...policy.evaluation },
    await environment.runner(),
    tasks,
    rngs,
    {
      batch,
      temperature,
      onEpisode: (done) => onEpisode?.(done, tasks.length),
    },
  );
  return summarizeEpisodes(rollouts, environment, config, split, "model", temperature);
}

/** Evaluates a policy that needs no model: the oracle, or one of the null policies that a fair reward gives nothing. */
async function evaluateFixed(
  name: Exclude<PolicyName, "model">,
  environment: Environment,
  config: RunConfig,
  split: TaskSet,
  onEpisode?: Report,
): Promise<Evaluation> {
  const { episodes, seed } = config.evaluation;
  const runner = await environment.runner();
  const tasks = evaluationTasks(environment.tasks(split), episodes, seed, split);
  const pages = new Map<string, Promise<readonly Control[]>>();
  let done = 0;
  const played = await Promise.all(
    tasks.map(async (task, i) => {
      const page = pages.get(task.url) ?? runner.snapshot(task);
      pages.set(task.url, page);
      const controls = await page.catch((error: unknown) => {
        if (!(error instanceof EnvironmentFault)) throw error;
        if (pages.get(task.url) === page) pages.delete(task.url);
        return error.message;
      });
      if (typeof controls === "string") {
        onEpisode?.(++done, tasks.length);
        return { task, episode: { fault: controls } };
      }
      const actions =
        name === "oracle"
          ? oracleActions(task.fields, controls)
          : nullPlan(name, controls, Rng.named(seed, `${name}/${split}/${i}`));
      const episode = await runner.run(task, renderPlan(actions, "compact"));
      onEpisode?.(++done, tasks.length);
      return { task, episode };
    }),
  );
  return summarizeEpisodes(played, environment, config, split, name, null);
}

function summarizeEpisodes(
  played: readonly { readonly task: Task; readonly episode: Episode | { readonly fault: string } }[],
  environment: Environment,
  config: RunConfig,
  split: TaskSet,
  policy: PolicyName,
  temperature: number | null,
): Evaluation {
  const scores = played.map(({ task, episode }): EpisodeScore => {
    const about = { task_id: task.id, form: task.form, ...(task.clean === undefined ? {} : { clean: task.clean }) };
    if (!("reward" in episode) || episode.fault !== undefined)
      return { ...about, reward: 0, success: false, field_accuracy: 0, fault: episode.fault };
    return {
      ...about,
      reward: rewardOf(episode, config.reward),
      success: episode.success,
      field_accuracy: episode.fieldAccuracy,
      accepted: episode.accepted,
      pairs: Object.keys(task.fields).length,
      pairs_right: episode.accepted ? Object.values(episode.perField).filter((score) => score === 1).length : 0,
    };
  });
  return summarize(scores, {
    split,
    policy,
    seed: config.evaluation.seed,
    split_hash: environment.site.splitHash(),
    temperature,
  });
}

/** `refusion-eval`: a run's checkpoint, a config's model, or a policy that needs none. */
export async function evaluateCommand(options: EvaluateOptions): Promise<EvaluateResult> {
  const run = options.run === undefined ? undefined : RunDirectory.open(options.run);
  const path = run?.config ?? options.config;
  if (path === undefined) throw new UserError("Neither a run nor a config was given.", { exitCode: 2 });
  const loaded = await loadConfig(path, { command: run?.readEnvironment().command, overrides: options.overrides });
  const splits = options.split === undefined ? loaded.evaluation.splits : [options.split as TaskSet];
  const progress = new Progress({ quiet: options.quiet, json: options.json, signal: options.signal });
  let environment = await openEnvironment(loaded, (text) => progress.note(text));
  let policy: Policy | undefined;
  try {
    for (const split of splits) environment.tasks(split);
    if (options.policy === "model") policy = await openEvaluated(loaded, options, run);
    for (const text of policy?.notes ?? []) progress.note(text);
    if (policy !== undefined)
      environment = withoutLongTasks(environment, loaded, policy, (text) => progress.note(text));
    const evaluations: Evaluation[] = [];
    const files: string[] = [];
    for (const split of splits) {
      const wanted = options.episodes === "all" ? environment.tasks(split).length : options.episodes;
      const config = withEpisodes(loaded, wanted);
      const report: Report = (done, all) => progress.phase({ doing: split, done, all });
      if (policy !== undefined) checkPromptsFit(environment.tasks(split), policy);
      const evaluation = await unlessAborted(
        options.signal,
        policy === undefined
          ? evaluateFixed(options.policy as Exclude<PolicyName, "model">, environment, config, split, report)
          : evaluatePolicy(policy, environment, config, split, report),
      );
      evaluations.push(evaluation);
      if (run !== undefined) {
        const name = options.policy === "model" ? String(options.checkpoint) : options.policy;
        const file = join(run.dir, "eval", name, `${split}.json`);
        await writeEvaluation(file, evaluation);
        files.push(file);
      }
    }
    progress.end();
    return { evaluations, files };
  } finally {
    await policy?.close();
    await environment.close();
  }
}

/** An evaluation saves nothing half done: an interrupt ends it at once. @throws the signal's AbortError. */
async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  // it goes on until its browser is closed, with nobody left to tell
  work.catch(() => undefined);
  signal.throwIfAborted();
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

function withEpisodes(config: RunConfig, episodes: number | undefined): RunConfig {
  return episodes === undefined ? config : { ...config, evaluation: { ...config.evaluation, episodes } };
}

/** The policy of a run's checkpoint, or of a config. */
async function openEvaluated(
  config: RunConfig,
  options: EvaluateOptions,
  run: RunDirectory | undefined,
): Promise<Policy> {
  const policy = await openPolicy(config, undefined);
  try {
    if (run === undefined) {
      await policy.engine.setParameters("policy", initialAdapter(config, policy));
    } else {
      const checkpoint = await readCheckpoint(findCheckpoint(run, options.checkpoint));
      if (checkpoint.adapter === null) {
        const { output } = config.objective as { readonly output?: unknown };
        throw new UserError(`${run.dir} trained a whole model, not an adapter.`, {
          hint: `evaluate the model that it wrote: refusion-eval --config ${run.config} model=${output ?? "DIR"}`,
        });
      }
      readAdapter(findCheckpoint(run, options.checkpoint), policy);
      await policy.engine.setParameters("policy", checkpoint.adapter.tensors);
    }
    return policy;
  } catch (error) {
    await policy.close();
    throw error;
  }
}
