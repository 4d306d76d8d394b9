import { join } from "node:path";
import type { RunConfig } from "../config/config.js";
import { optimizerOptions } from "../config/optimizer.js";
import { delegate } from "../core/delegate.js";
import { calledFeature } from "../core/features.js";
import { adapterConfig } from "../engine/adapter.js";
import { baseSample } from "../engine/base-sample.js";
import { checkSpaces, openPolicy, type Policy } from "../engine/policy.js";
import type { Environment, Split } from "../env/environment.js";
import { openEnvironment, tasksOf } from "../env/open.js";
import type { Tensor } from "../onnx/types.js";
import type { OptimizerOptions } from "../optim/update-rule.js";
import type { Objective } from "../rl/objective.js";
import { parameterParts, parametersIn, retainCheckpoints, writeCheckpoint } from "../runs/checkpoint.js";
import type { StepMetrics } from "../runs/metrics.js";
import { stepName } from "../runs/run-directory.js";
import { Alarms } from "../watch/alarms.js";
import type { ReportAtEnd } from "../watch/run-pages.js";
import type { Watch } from "../watch/watch.js";
import { EarlyStop } from "./early-stop.js";
import type { Executor } from "./executor.js";
import { rehearse } from "./rehearsal.js";
import { openMetrics, type Run } from "./run.js";
import { RunEvaluations, VALIDATION } from "./run-evaluations.js";
import { withoutLongTasks } from "./supervised/skip-long.js";
import type { TrainOptions, TrainResult } from "./types.js";

/** A training as its caller gives it. */
export interface Setup {
  readonly config: RunConfig;
  readonly objective: Objective;
  readonly options: TrainOptions;
  readonly watch: Watch;
}

/** A training with everything open: model, data and directory. */
export interface Training extends Setup {
  readonly policy: Policy;
  readonly executor: Executor;
  readonly run: Run;
  /** Parameters of the policy at step 0. */
  readonly start: ReadonlyMap<string, Tensor>;
  /** Splits that are evaluated before the first step and after the last. */
  readonly splits: readonly Split[];
  /** State of the validation in the checkpoint; absent where no best checkpoint is kept. */
  readonly validation?: { readonly [K in keyof ValidationState]?: ValidationState[K] | undefined };
}

/** State of the evaluations during training. */
export interface ValidationState {
  readonly best: TrainResult["best"];
  readonly early_stop: EarlyStop["state"];
}

/** The steps of a run. */
export interface Steps {
  /** Takes step number `step`, from 1. */
  take(step: number): Promise<StepMetrics>;
  /** Returns the state of a checkpoint besides tensors; every random stream derives from the seed and the step. */
  state(validation: ValidationState): Readonly<Record<string, unknown>>;
  /** Returns further tensors of a checkpoint, by group. */
  kept?(step: number): Promise<Record<string, Map<string, Tensor>>>;
  /** Runs after the last checkpoint. @returns the model directory that it wrote. */
  finish?(step: number): Promise<string | undefined>;
}

/**
 * Opens the policy with its optimizer. @param optimizer default: the config's. @param full trains every weight.
 * @throws UserError where it cannot be trained.
 */
export async function openTrainedPolicy(
  { config, objective }: Pick<Setup, "config" | "objective">,
  optimizer: OptimizerOptions = optimizerOptions(config),
  full = false,
): Promise<Policy> {
  const policy = await openPolicy(config, { objective, options: config.objective, optimizer }, full);
  policy.engine.checkTrainable();
  return policy;
}

/** Opens the environment of a training. */
export const openSite = ({ config, options }: Setup): Promise<Environment> => openEnvironment(config, note(options));

/**
 * Returns the environment with the tasks that fit the policy, of training at most `training.tasks`.
 * @throws UserError where the policy answers in another form than the environment reads.
 */
export function fittingTasks({ config, options }: Setup, environment: Environment, policy: Policy): Environment {
  checkSpaces(environment, policy);
  policy.notes.forEach(note(options));
  const fitting = withoutLongTasks(environment, config, policy, note(options));
  const { tasks: most } = config.training;
  if (most === null) return fitting;
  let left = most;
  return delegate(fitting, { tasks: fitting.tasks.filter(({ split }) => split !== "train" || left-- > 0) });
}

/** Returns the setup with `training.epochs` as steps. @param each tasks that a step draws. */
export function countSteps<S extends Setup>(setup: S, environment: Environment, each: number): S {
  const { config } = setup;
  const { epochs } = config.training;
  if (epochs === null) return setup;
  const steps = Math.ceil((epochs * tasksOf(environment, "train").length) / each);
  return { ...setup, config: { ...config, training: { ...config.training, steps, epochs: null } } };
}

/** Plays some training tasks with the oracle; a resumed run has done so. @throws UserError where it fails. */
export async function rehearseTasks({ options, watch }: Setup, environment: Environment): Promise<void> {
  if (options.resume) return;
  const progress = (done: number, all: number): void => watch.phase({ doing: "rehearsal", done, all });
  await rehearse(environment, tasksOf(environment, "train"), note(options), progress);
}

/** Names how many forms a run may send to a user's site. */
export function announceForms({ config, options }: Setup, { unproven }: Environment): void {
  const { steps, prompts_per_step: prompts, group_size: group } = config.training;
  if (unproven === undefined || options.resume) return;
  note(options)(
    `The site gets up to ${steps * prompts * group} forms: ${steps} steps of ${prompts} tasks, ${group} plans each.`,
  );
}

/** Returns what prints a line of the run's set-up; nothing with `--quiet`. */
export const note =
  ({ quiet }: TrainOptions): ((text: string) => void) =>
  (text) =>
    void (quiet || process.stderr.write(`${text}\n`));

/** Takes the steps of a run from its checkpoint or from step 0, with its evaluations, checkpoints and report. */
export async function runSteps(training: Training, steps: Steps): Promise<TrainResult> {
  const { config, options, watch, run, start, splits, validation } = training;
  const { engine } = training.policy;
  const { directory, checkpoint } = run;

  // 1. Begin where the checkpoint is
  await watch.begin(config, options.command, run);
  await engine.setParameters("policy", checkpoint === undefined ? start : parametersIn(checkpoint));
  await engine.setOptimizer(checkpoint?.optimizer);
  const metrics = await openMetrics(run, watch);
  const evaluations = new RunEvaluations(training);
  const before = await evaluations.before(start, splits);
  const alarms = new Alarms();
  const early = new EarlyStop(config.training.early_stop, validation?.early_stop);
  let best = validation?.best ?? null;
  let step = checkpoint?.step ?? 0;
  const over = (): boolean => step >= config.training.steps || early.reason !== undefined;
  const due = (every: number): boolean => every > 0 && step % every === 0;
  const save = (path: string): Promise<void> =>
    saveCheckpoint(training, steps, path, step, { best, early_stop: early.state });
  const saveStep = async (): Promise<void> => {
    // a resume without further training would only replace the checkpoint by an equal one
    if (step === checkpoint?.step) return;
    directory.sync();
    await save(join(directory.checkpoints, stepName(step)));
    retainCheckpoints(directory.checkpoints, config.checkpoint.keep_last);
  };

  // 2. Steps, each with its line of metrics; between them validation and checkpoints
  while (!over() && !options.signal.aborted) {
    const line = await steps.take(step + 1);
    step++;
    metrics.append(line);
    watch.step(line);
    for (const alarm of alarms.check(line)) {
      run.log.warn({ step }, alarm);
      watch.note(`warning: ${alarm}`);
    }
    if (due(config.evaluation.every)) {
      const reward = (await evaluations.during(VALIDATION, step)).reward.mean;
      if (validation !== undefined) early.observe(reward);
      if (validation !== undefined && (best === null || reward > best.reward)) {
        best = { step, reward };
        await save(directory.best);
      }
    }
    if (due(config.checkpoint.every) && !over()) await saveStep();
  }

  // 3. The last checkpoint, evaluations and the report
  await saveStep();
  const interrupted = !over();
  const stopped = step < config.training.steps ? (early.reason ?? null) : null;
  const model = await steps.finish?.(step);
  const after = interrupted ? [] : await evaluations.around("after", step, splits);
  const { environment } = training.executor;
  // an interrupt must not wait, and a run from stored rollouts may have no browser
  const screenshots = interrupted || !environment.started ? 0 : config.report.screenshots;
  const { tokenizer } = training.policy.model;
  const report = await calledFeature<ReportAtEnd>("reportAtEnd");
  await report?.(directory, watch, { ...config.report, screenshots, environment, tokenizer });
  const result = { runDir: directory.dir, steps: step, interrupted, stopped, best, before, after };
  return { ...result, ...(model === undefined ? {} : { model }) };
}

async function saveCheckpoint(
  { config, policy }: Training,
  steps: Steps,
  path: string,
  step: number,
  validation: ValidationState,
): Promise<void> {
  const parameters = await policy.engine.getParameters("policy");
  const parts = parameterParts(policy.engine.groups, parameters, adapterConfig(config, policy));
  await writeCheckpoint(path, {
    step,
    ...parts,
    groups: { ...parts.groups, ...(await steps.kept?.(step)) },
    optimizer: await policy.engine.getOptimizer(),
    state: { ...steps.state(validation), base: baseSample(policy.model) },
  });
}
