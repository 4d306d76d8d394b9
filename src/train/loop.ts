import { existsSync } from "node:fs";
import { join } from "node:path";
import type { RunConfig } from "../config/config.js";
import { closing } from "../core/closing.js";
import { inSpan } from "../core/spans.js";
import { adapterConfig } from "../engine/adapter.js";
import { baseSample } from "../engine/base-sample.js";
import { checkSpaces, openPolicy, type Policy } from "../engine/policy.js";
import type { Environment, Split } from "../env/environment.js";
import { openEnvironment, tasksOf } from "../env/open.js";
import type { Tensor } from "../onnx/types.js";
import type { OptimizerOptions } from "../optim/update-rule.js";
import type { Objective } from "../rl/objective.js";
import { parameterParts, parametersIn, retainCheckpoints, writeCheckpoint } from "../runs/checkpoint.js";
import { type Evaluation, readEvaluation, writeEvaluation } from "../runs/evaluation.js";
import type { StepMetrics } from "../runs/metrics.js";
import { stepName } from "../runs/run-directory.js";
import { Alarms } from "../watch/alarms.js";
import { runPages } from "../watch/run-pages.js";
import { takeScreenshots } from "../watch/screenshots.js";
import type { Watch } from "../watch/watch.js";
import type { Phase } from "../watch/watcher.js";
import { notBegun } from "./dry-run.js";
import { EarlyStop } from "./early-stop.js";
import { evaluatePolicy } from "./evaluate.js";
import { type Executor, localExecutor, type SharedWork } from "./executor.js";
import { rehearse } from "./rehearsal.js";
import type { RecordedGroups } from "./rollouts/recorded-groups.js";
import { openMetrics, openRun, type Run } from "./run.js";
import { withoutLongTasks } from "./supervised/skip-long.js";
import type { DryRun, TrainOptions, TrainResult } from "./types.js";

/** The split of evaluations during training. */
export const VALIDATION = "val" satisfies Split;

/** A requested training. */
export interface Asked {
  readonly config: RunConfig;
  readonly objective: Objective;
  readonly options: TrainOptions;
  readonly watch: Watch;
}

/** A training with open policy and environment, before its run begins. */
export interface Opened extends Asked {
  readonly policy: Policy;
  readonly environment: Environment;
  /** Plays some training tasks with the oracle (a resumed run has done so). @throws UserError where it fails. */
  rehearse(): Promise<void>;
}

/** The part of training that differs between rollouts and examples; {@link runTraining} has the rest. */
export interface Recipe {
  readonly optimizer: OptimizerOptions;
  /** True if every weight is trained, instead of an adapter. */
  readonly full: boolean;
  /** Distributes the work of the run; undefined: this process does everything. */
  readonly shared: SharedWork | undefined;
  /** Splits that are evaluated before the first step and after the last. */
  readonly splits: RunConfig["evaluation"]["splits"];
  /** True if the checkpoint of the best validation reward is kept. */
  readonly keepsBest: boolean;
  /** Reads the training data. @throws UserError where it cannot be learned from. */
  prepare(opened: Opened): Promise<Prepared>;
}

/** A recipe with its training data. */
export interface Prepared {
  /** Parameters of the policy at step 0. */
  readonly start: ReadonlyMap<string, Tensor>;
  /** Rollouts of another run to learn from. */
  readonly recorded?: RecordedGroups | undefined;
  /** Measures one step on tensors that are discarded. */
  dryRun(): Promise<DryRun>;
  /** Begins at the run's checkpoint, or at step 0. @param phase shows the current phase. */
  begin(run: Run, executor: Executor, phase: (phase: Phase) => void): Promise<Steps>;
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
  /** State of the validation in the checkpoint. */
  readonly validation?: { readonly [K in keyof ValidationState]?: ValidationState[K] | undefined };
}

/** State of the evaluations during training. */
export interface ValidationState {
  readonly best: TrainResult["best"];
  readonly early_stop: EarlyStop["state"];
}

/** Trains: opens and checks everything, begins or resumes the run, takes its steps. */
export async function runTraining(asked: Asked, recipe: Recipe): Promise<TrainResult> {
  const { config, objective, options, watch } = asked;
  const { optimizer, full, shared } = recipe;
  await using policy = closing(await openPolicy(config, { objective, options: config.objective, optimizer }, full));
  policy.engine.checkTrainable();
  const note = (text: string): void => void (options.quiet || process.stderr.write(`${text}\n`));
  await using site = closing(await openEnvironment(config, note));
  checkSpaces(site, policy);
  policy.notes.forEach(note);
  const environment = withoutLongTasks(site, config, policy, note);
  const prepared = await recipe.prepare({
    ...asked,
    policy,
    environment,
    rehearse: async () => {
      if (options.resume || shared?.playsElsewhere === true) return;
      const tell = (done: number, all: number): void => watch.phase({ doing: "rehearsal", done, all });
      await rehearse(environment, tasksOf(environment, "train"), note, tell);
    },
  });
  if (options.dryRun) {
    await policy.engine.setParameters("policy", prepared.start);
    await policy.engine.setOptimizer(undefined);
    return notBegun(config, options, await prepared.dryRun());
  }
  await using run = closing(await openRun(config, options, policy, environment, prepared.recorded));
  await using executor = closing(
    (await shared?.open(policy, environment, run, (text) => watch.note(text), options.signal)) ??
      localExecutor(policy, environment),
  );
  await watch.begin(config, options.command, run);
  const phase = (shown: Phase): void => {
    const now = [shown.now, executor.status()].filter((text) => text !== undefined).join("; ");
    watch.phase({ ...shown, ...(now === "" ? {} : { now }) });
  };
  const steps = await prepared.begin(run, executor, phase);
  return await new Training(asked, recipe, policy, executor, run, steps, phase).train(prepared.start);
}

/** A run in progress: its steps, evaluations and checkpoints. */
class Training {
  private step: number;
  private best: TrainResult["best"];
  private readonly early: EarlyStop;
  private readonly alarms = new Alarms();

  constructor(
    private readonly asked: Asked,
    private readonly recipe: Recipe,
    private readonly policy: Policy,
    private readonly executor: Executor,
    private readonly run: Run,
    private readonly steps: Steps,
    private readonly phase: (phase: Phase) => void,
  ) {
    this.step = run.checkpoint?.step ?? 0;
    this.best = steps.validation?.best ?? null;
    this.early = new EarlyStop(asked.config.training.early_stop, steps.validation?.early_stop);
  }

  async train(start: ReadonlyMap<string, Tensor>): Promise<TrainResult> {
    const { run, recipe, steps } = this;
    const { config, watch, options } = this.asked;
    const { engine } = this.policy;
    await engine.setParameters("policy", run.checkpoint === undefined ? start : parametersIn(run.checkpoint));
    await engine.setOptimizer(run.checkpoint?.optimizer);
    const metrics = await openMetrics(run, watch);
    const before = await this.evaluateBefore(start);
    while (!this.over && !options.signal.aborted) {
      const line = await inSpan("step", { step: this.step + 1 }, () => steps.take(this.step + 1));
      this.step++;
      metrics.append(line);
      watch.step(line);
      for (const alarm of this.alarms.check(line)) {
        run.log.warn({ step: this.step }, alarm);
        watch.note(`warning: ${alarm}`);
      }
      await this.validate();
      const { every } = config.checkpoint;
      if (every > 0 && this.step % every === 0 && !this.over) await this.save();
    }
    await this.save();
    const interrupted = !this.over;
    const stopped = this.step < config.training.steps ? (this.early.reason ?? null) : null;
    const model = await steps.finish?.(this.step);
    const after = interrupted ? [] : await this.evaluate("after", recipe.splits);
    await this.report(interrupted);
    const { dir } = run.directory;
    const result = { runDir: dir, steps: this.step, interrupted, stopped, best: this.best, before, after };
    return { ...result, ...(model === undefined ? {} : { model }) };
  }

  private get over(): boolean {
    return this.step >= this.asked.config.training.steps || this.early.reason !== undefined;
  }

  private async report(interrupted: boolean): Promise<void> {
    const { config, watch } = this.asked;
    const { environment } = this.executor;
    const { rollouts, screenshots } = config.report;
    // an interrupt must not wait, and a run from recorded rollouts may have no browser
    const pictures = interrupted || !environment.started ? 0 : screenshots;
    await (await runPages())?.report(this.run.directory, (text) => watch.note(text), {
      rollouts,
      picture: async (records) => {
        if (pictures === 0 || records.length === 0) return;
        watch.phase({ doing: "taking screenshots" });
        await takeScreenshots(this.run.directory, environment, records.slice(0, pictures));
      },
    });
  }

  /** Evaluates on the whole validation split every N steps and keeps the best adapter. */
  private async validate(): Promise<void> {
    const { every } = this.asked.config.evaluation;
    if (every === 0 || this.step % every !== 0) return;
    const evaluation = await this.evaluateSplit(VALIDATION, this.step);
    await writeEvaluation(this.run.directory.evaluation(VALIDATION, this.step), evaluation);
    this.asked.watch.note(`step ${this.step}: ${VALIDATION} ${scores(evaluation)}`);
    if (!this.recipe.keepsBest) return;
    const reward = evaluation.reward.mean;
    this.early.observe(reward);
    if (this.best !== null && reward <= this.best.reward) return;
    this.best = { step: this.step, reward };
    await this.writeCheckpoint(this.run.directory.best);
  }

  /** Evaluates the start. A resume reads that evaluation, and repeats it for lost files and added splits. */
  private async evaluateBefore(start: ReadonlyMap<string, Tensor>): Promise<Evaluation[]> {
    const { directory, checkpoint } = this.run;
    const { splits } = this.recipe;
    if (checkpoint === undefined) return this.evaluate("before", splits);
    const missing = splits.filter((split) => !existsSync(directory.evaluation(split, "before")));
    if (missing.length > 0) {
      const { engine } = this.policy;
      await engine.setParameters("policy", start);
      await this.evaluate("before", missing);
      await engine.setParameters("policy", parametersIn(checkpoint));
    }
    return splits.map((split) => readEvaluation(directory.evaluation(split, "before")));
  }

  private async evaluate(when: "before" | "after", splits: Recipe["splits"]): Promise<Evaluation[]> {
    const evaluations: Evaluation[] = [];
    for (const split of splits) {
      const evaluation = await this.evaluateSplit(split, when === "before" ? 0 : this.step);
      await writeEvaluation(this.run.directory.evaluation(split, when), evaluation);
      this.asked.watch.note(`${when}: ${split} ${scores(evaluation)} (${evaluation.episodes} episodes)`);
      evaluations.push(evaluation);
    }
    return evaluations;
  }

  private async evaluateSplit(split: Split, step: number): Promise<Evaluation> {
    const { policy, executor, asked } = this;
    const context = { ...executor, policy, evaluation: asked.config.evaluation };
    const onEpisode = (done: number, all: number): void => this.phase({ doing: `evaluating ${split}`, done, all });
    const evaluation = await inSpan("evaluate", { split }, () => evaluatePolicy(context, split, { onEpisode }));
    asked.watch.evaluation(step, evaluation);
    return evaluation;
  }

  private async save(): Promise<void> {
    const { directory, checkpoint } = this.run;
    // a resume without further training would only replace the checkpoint by an equal one
    if (this.step === checkpoint?.step) return;
    directory.sync();
    await this.writeCheckpoint(join(directory.checkpoints, stepName(this.step)));
    retainCheckpoints(directory.checkpoints, this.asked.config.checkpoint.keep_last);
  }

  private async writeCheckpoint(path: string): Promise<void> {
    const { policy, steps, best, early } = this;
    const parameters = await policy.engine.getParameters("policy");
    const parts = parameterParts(policy.engine.groups, parameters, adapterConfig(this.asked.config, policy));
    await writeCheckpoint(path, {
      step: this.step,
      ...parts,
      groups: { ...parts.groups, ...(await steps.kept?.(this.step)) },
      optimizer: await policy.engine.getOptimizer(),
      state: { ...steps.state({ best, early_stop: early.state }), base: baseSample(policy.model) },
    });
  }
}

function scores({ reward, success_rate: success }: Evaluation): string {
  return `reward ${reward.mean.toFixed(3)}, success ${(100 * success.mean).toFixed(1)} %`;
}
