import { existsSync } from "node:fs";
import { join } from "node:path";
import type { RunConfig } from "../config/config.js";
import { optimizerOptions, scheduleOptions } from "../config/optimizer.js";
import { UserError } from "../core/errors.js";
import { inSpan } from "../core/spans.js";
import { adapterConfig, initialParameters } from "../engine/adapter.js";
import { checkPromptsFit, checkSpaces, openPolicy, type Policy } from "../engine/policy.js";
import type { Environment, Split } from "../env/environment.js";
import { openEnvironment, tasksOf } from "../env/open.js";
import type { Tensor } from "../onnx/types.js";
import { learningRate } from "../optim/schedule.js";
import type { Objective } from "../rl/objective.js";
import { parameterParts, parametersIn, retainCheckpoints, writeCheckpoint } from "../runs/checkpoint.js";
import { type Evaluation, readEvaluation, writeEvaluation } from "../runs/evaluation.js";
import type { StepMetrics } from "../runs/metrics.js";
import { writeRollouts } from "../runs/rollout-record.js";
import { stepName } from "../runs/run-directory.js";
import { Alarms } from "../watch/alarms.js";
import { episodeText } from "../watch/progress-text.js";
import { reportAtEnd } from "../watch/report/report.js";
import { takeScreenshots } from "../watch/screenshots.js";
import type { Watch } from "../watch/watch.js";
import type { Phase } from "../watch/watcher.js";
import { type Crew, checkDistributed, openCrew, workersPlay } from "./distributed/coordinator.js";
import { dryRunPolicy, notBegun } from "./dry-run.js";
import { EarlyStop, type EarlyStopState } from "./early-stop.js";
import { evaluatePolicy } from "./evaluate.js";
import type { GradientNoiseState } from "./noise/gradient-noise.js";
import { NoiseMeters } from "./noise/noise-meters.js";
import { asKept, keptPolicy, REFERENCE } from "./refresh.js";
import { rehearse } from "./rehearsal.js";
import { AheadGroups } from "./rollouts/ahead.js";
import type { CurriculumState } from "./rollouts/curriculum.js";
import { type GroupSource, PlayedGroups } from "./rollouts/group-source.js";
import { type Group, recordsOf, samplesOf } from "./rollouts/groups.js";
import { openRecorded, type RecordedGroups } from "./rollouts/recorded-groups.js";
import type { Slots } from "./rollouts/slots.js";
import { openMetrics, openRun, type Run } from "./run.js";
import { Clock, importanceMetrics, samplerMetrics, stepMetrics } from "./step-metrics.js";
import { withoutLongTasks } from "./supervised/skip-long.js";
import type { TrainOptions, TrainResult } from "./types.js";
import { prepareBatches, scoreAs, takeStep } from "./update.js";

/** Steps in a row whose gradient is not finite before the run gives up. */
const NON_FINITE_LIMIT = 3;

/** The split of evaluations during training. */
const VALIDATION = "val" satisfies Split;

/**
 * Reinforcement learning: draw tasks, play a group of episodes of each in the environment, give credit, update, and all
 * that goes on around it (evaluations, checkpoints, the report). One step is {@link PolicyTraining.trainStep}.
 * With `--rollouts RUN` everything up to the rewards is read from that run's files instead.
 */
export async function trainPolicy(
  config: RunConfig,
  objective: Objective,
  options: TrainOptions,
  watch: Watch,
): Promise<TrainResult> {
  checkDistributed(config);
  const policy = await openPolicy(config, {
    objective,
    options: config.objective,
    optimizer: optimizerOptions(config),
  });
  let environment: Environment | undefined;
  let run: Run | undefined;
  let crew: Crew | undefined;
  try {
    policy.engine.checkTrainable();
    const note = (text: string): void => void (options.quiet || process.stderr.write(`${text}\n`));
    environment = await openEnvironment(config, note);
    checkSpaces(environment, policy);
    policy.notes.forEach(note);
    environment = withoutLongTasks(environment, config, policy, note);
    const tasks = tasksOf(environment, "train");
    for (const split of ["train", ...playedSplits(config)] as const)
      checkPromptsFit(environment, tasksOf(environment, split), policy);
    const start = initialParameters(config, policy);
    const recorded =
      options.rolloutsRun === undefined
        ? undefined
        : await openRecorded(
            options.rolloutsRun,
            config,
            objective,
            policy,
            new Set(tasks.map((task) => task.id)),
            environment,
          );
    // what plays should say that it does not start before the first step, not after it
    const plays = recorded === undefined || config.evaluation.splits.length + config.evaluation.every > 0;
    if (plays && (options.dryRun || !workersPlay(config))) await environment.start();
    if (recorded === undefined && !options.resume && !workersPlay(config))
      await rehearse(environment, tasks, (done, all) => watch.phase({ doing: "rehearsal", done, all }));
    if (options.dryRun) {
      await policy.engine.setParameters("reference", start);
      await policy.engine.setParameters("policy", start);
      await policy.engine.setOptimizer(undefined);
      return notBegun(config, options, await dryRunPolicy(config, objective, policy, environment, recorded));
    }
    run = await openRun(config, options, policy, environment, recorded);
    crew = await openCrew(config, policy, environment, run, (text) => watch.note(text));
    await watch.begin(config, options.command, run);
    return await new PolicyTraining(config, objective, options, policy, crew, run, watch, recorded).train(start);
  } finally {
    await crew?.close();
    run?.unlock();
    await policy.close();
    await environment?.close();
  }
}

/** Splits that the run evaluates, those during training included. */
function playedSplits({ evaluation: { splits, every } }: RunConfig): Set<Split> {
  return new Set(every > 0 ? [...splits, VALIDATION] : splits);
}

/** What a checkpoint keeps besides tensors; every random stream derives from the seed and the step. */
interface RunState {
  /** Tasks drawn so far. */
  readonly cursor: number;
  /** Optimizer steps so far. */
  readonly updates: number;
  /** Updates in a row that were not finite. */
  readonly nonfinite: number;
  /** Steps so far without an update. */
  readonly skipped: number;
  readonly best: TrainResult["best"];
  readonly early_stop: EarlyStopState;
  readonly gradient_noise: GradientNoiseState;
  readonly curriculum?: CurriculumState;
}

class PolicyTraining {
  private step: number;
  private readonly source: GroupSource;
  private updates: number;
  private skipped: number;
  private nonFinite: number;
  private best: TrainResult["best"];
  private readonly early: EarlyStop;
  private readonly noise: NoiseMeters;
  private readonly alarms = new Alarms();

  constructor(
    private readonly config: RunConfig,
    private readonly objective: Objective,
    private readonly options: TrainOptions,
    private readonly policy: Policy,
    private readonly crew: Crew,
    private readonly run: Run,
    private readonly watch: Watch,
    recorded: RecordedGroups | undefined,
  ) {
    const state = run.checkpoint?.state as Partial<RunState> | undefined;
    this.step = run.checkpoint?.step ?? 0;
    this.updates = state?.updates ?? 0;
    this.nonFinite = state?.nonfinite ?? 0;
    this.skipped = state?.skipped ?? 0;
    this.best = state?.best ?? null;
    this.early = new EarlyStop(config.training.early_stop, state?.early_stop);
    this.noise = new NoiseMeters(config, objective, policy, state?.gradient_noise);
    const played = new PlayedGroups(
      config,
      objective,
      policy,
      crew.environment,
      state?.cursor ?? 0,
      (done, all, { task, outcome }) =>
        this.phase({ doing: "episodes", done, all, now: episodeText(task.form, outcome) }),
      state?.curriculum,
      crew.collect,
    );
    const { staleness } = config.distributed;
    const now = () => policy.engine.getParameters("policy");
    this.source =
      recorded ??
      (staleness > 0 && crew.pin !== undefined
        ? new AheadGroups(staleness, config.training.steps, played, crew.pin, now, run.checkpoint)
        : played);
  }

  async train(start: ReadonlyMap<string, Tensor>): Promise<TrainResult> {
    const { config, run } = this;
    const { engine } = this.policy;
    await engine.setParameters("reference", keptPolicy(REFERENCE, run.checkpoint) ?? start);
    await engine.setParameters("policy", run.checkpoint === undefined ? start : parametersIn(run.checkpoint));
    await engine.setOptimizer(run.checkpoint?.optimizer);
    const metrics = await openMetrics(run, this.watch);

    const before = await this.evaluateBefore(start);
    while (!this.over && !this.options.signal.aborted) {
      const line = await inSpan("step", { step: this.step + 1 }, () => this.trainStep(this.step + 1));
      this.step++;
      const refresh = config.training.reference_refresh;
      if (refresh > 0 && this.step % refresh === 0)
        await engine.setParameters("reference", await engine.getParameters("policy"));
      metrics.append(line);
      this.watch.step(line);
      for (const alarm of this.alarms.check(line)) {
        run.log.warn({ step: this.step }, alarm);
        this.watch.note(`warning: ${alarm}`);
      }
      await this.validate();
      const { every } = config.checkpoint;
      if (every > 0 && this.step % every === 0 && !this.over) await this.save();
    }
    await this.save();
    const interrupted = !this.over;
    const stopped = this.step < config.training.steps ? (this.early.reason ?? null) : null;
    const after = interrupted ? [] : await this.evaluate("after", config.evaluation.splits);
    await this.report(interrupted);
    return { runDir: run.directory.dir, steps: this.step, interrupted, stopped, best: this.best, before, after };
  }

  /** What goes on, and who works at it. */
  private phase(phase: Phase): void {
    const now = [phase.now, this.crew.status()].filter((text) => text !== undefined).join("; ");
    this.watch.phase({ ...phase, ...(now === "" ? {} : { now }) });
  }

  private get over(): boolean {
    return this.step >= this.config.training.steps || this.early.reason !== undefined;
  }

  private async report(interrupted: boolean): Promise<void> {
    const { config, run, watch } = this;
    const { environment } = this.crew;
    const { rollouts, screenshots } = config.report;
    // who interrupts does not want to wait, and a run from recorded rollouts may have no browser
    const picture = interrupted || !environment.started ? 0 : screenshots;
    await reportAtEnd(run.directory, (text) => watch.note(text), {
      rollouts,
      picture: async (records) => {
        if (picture === 0) return;
        watch.phase({ doing: "taking screenshots" });
        await takeScreenshots(run.directory, environment, records.slice(0, picture));
      },
    });
  }

  /** One step. G groups of episodes; N samples, one a turn; a micro-batch has R scored terms in S segments. */
  private async trainStep(step: number): Promise<StepMetrics> {
    const { config, policy, objective } = this;
    const { micro_batch: size, num_iterations: iterations, min_signal_groups: least } = config.training;
    const clock = new Clock();

    // 1. Collect: play the tasks of the step, or read what another run played. [G] rewards, and credit by the objective
    const collected = await inSpan("collect", {}, () => this.source.collect(step));
    const { groups } = collected;
    await this.record(step, groups);

    // 2. Samples: the turns of all groups that carry signal; none where too few do. [N]
    const learns = groups.filter((group) => group.signal).length >= least;
    const samples = learns ? samplesOf(groups, config.seed, step) : [];
    if (!learns) this.skipped++;

    // 3. Prepare: lay the samples out, score them under the old policy and the reference. [S] old, reference, advantage
    this.phase({ doing: "scoring" });
    clock.lap();
    const noise = this.noise.of(step, groups, samples);
    const { score: scores } = this.crew;
    const sampler = scoreAs(policy.engine, collected.sampled?.parameters, scores);
    const batches = await inSpan("score", {}, () =>
      prepareBatches(policy, objective, config.objective, noise.parts, size, scores, sampler),
    );
    await noise.begin(batches);
    const score = clock.lap();

    // 4. Update x mu: gradients of all micro-batches, one step of the optimizer.
    this.phase({ doing: "updating" });
    const lr = learningRate(step, scheduleOptions(config));
    const slots: Slots = { count: config.training.gradient_slots, gradients: this.crew.gradients };
    const updates: Record<string, number>[] = [];
    for (let i = 0; batches.length > 0 && i < iterations; i++) {
      const observer = i === 0 ? noise : undefined;
      const metrics = await inSpan("update", {}, () =>
        takeStep(policy.engine, batches, this.updates + 1, lr, observer, slots),
      );
      updates.push(this.checkFinite(metrics, step));
      this.updates++;
    }

    // 5. Metrics.
    const extra = {
      ...samplerMetrics(policy, objective, groups, batches),
      ...importanceMetrics(collected, batches, objective.weighing?.(config.objective).importance_cap),
      ...(await noise.metrics()),
      nonfinite_steps: this.nonFinite,
      skipped_steps: this.skipped,
    };
    const time = { rollout: collected.rollout, score, update: clock.lap(), total: clock.total() };
    const workers = this.crew.figures?.();
    return stepMetrics(policy, collected, samples, updates, { step, lr, extra, time, ...(workers && { workers }) });
  }

  private async record(step: number, groups: readonly Group[]): Promise<void> {
    const records = recordsOf(step, groups);
    await writeRollouts(this.run.directory.rollouts(step), records);
    this.watch.rollouts(step, records);
  }

  /** A gradient that is not finite changed nothing (the optimizer skips it): count it, and stop after a few in a row. */
  private checkFinite(result: Record<string, number>, step: number): Record<string, number> {
    if (Object.values(result).every(Number.isFinite)) {
      this.nonFinite = 0;
      return result;
    }
    this.nonFinite++;
    this.run.log.warn({ step, result }, "the loss or its gradient is not finite: update skipped");
    if (this.nonFinite >= NON_FINITE_LIMIT) {
      throw new UserError(
        `The loss or its gradient was not finite in ${this.nonFinite} updates in a row (step ${step}).`,
        {
          hint: "Lower training.learning_rate or raise objective.kl_coeff, then resume from the last checkpoint.",
        },
      );
    }
    return Object.fromEntries(
      Object.entries(result).map(([name, value]) => [name, Number.isFinite(value) ? value : 0]),
    );
  }

  /** Evaluates on the validation split every N steps and keeps the best adapter: never by one lucky prompt. */
  private async validate(): Promise<void> {
    const { config } = this;
    const { every } = config.evaluation;
    if (every === 0 || this.step % every !== 0) return;
    const evaluation = await this.evaluateSplit(VALIDATION, this.step);
    await writeEvaluation(this.run.directory.evaluation(VALIDATION, this.step), evaluation);
    this.watch.note(
      `step ${this.step}: val reward ${evaluation.reward.mean.toFixed(3)}, success ${(100 * evaluation.success_rate.mean).toFixed(1)} %`,
    );
    const reward = evaluation.reward.mean;
    this.early.observe(reward);
    if (this.best !== null && reward <= this.best.reward) return;
    this.best = { step: this.step, reward };
    await this.writeCheckpoint(this.run.directory.best);
  }

  /** What the run starts from. A resume reads it, and makes up for what is not there: a lost file, or a split that was added. */
  private async evaluateBefore(start: ReadonlyMap<string, Tensor>): Promise<Evaluation[]> {
    const { directory, checkpoint } = this.run;
    const { splits } = this.config.evaluation;
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

  private async evaluate(when: "before" | "after", splits: RunConfig["evaluation"]["splits"]): Promise<Evaluation[]> {
    const evaluations: Evaluation[] = [];
    for (const split of splits) {
      const evaluation = await this.evaluateSplit(split, when === "before" ? 0 : this.step);
      await writeEvaluation(this.run.directory.evaluation(split, when), evaluation);
      this.watch.note(
        `${when}: ${split} reward ${evaluation.reward.mean.toFixed(3)}, success ${(100 * evaluation.success_rate.mean).toFixed(1)} % (${evaluation.episodes} episodes)`,
      );
      evaluations.push(evaluation);
    }
    return evaluations;
  }

  private async evaluateSplit(split: Split, step: number): Promise<Evaluation> {
    const { policy, crew, config } = this;
    const tell = (done: number, all: number): void => this.phase({ doing: `evaluating ${split}`, done, all });
    const evaluation = await inSpan("evaluate", { split }, () =>
      evaluatePolicy(policy, crew.environment, config, split, tell, undefined, crew.collect),
    );
    this.watch.evaluation(step, evaluation);
    return evaluation;
  }

  private async save(): Promise<void> {
    const { directory, checkpoint } = this.run;
    // a resume that trained nothing more would only replace the checkpoint by itself
    if (this.step === checkpoint?.step) return;
    directory.sync();
    await this.writeCheckpoint(join(directory.checkpoints, stepName(this.step)));
    retainCheckpoints(directory.checkpoints, this.config.checkpoint.keep_last);
  }

  private async writeCheckpoint(path: string): Promise<void> {
    const { engine } = this.policy;
    const { groups, ...parts } = parameterParts(
      engine.groups,
      await engine.getParameters("policy"),
      adapterConfig(this.config, this.policy),
    );
    const refreshes = this.config.training.reference_refresh > 0;
    await writeCheckpoint(path, {
      step: this.step,
      ...parts,
      groups: {
        ...groups,
        ...(refreshes ? asKept(REFERENCE, await engine.getParameters("reference")) : {}),
        ...this.source.kept?.(this.step),
      },
      optimizer: await engine.getOptimizer(),
      state: {
        cursor: this.source.drawn,
        updates: this.updates,
        nonfinite: this.nonFinite,
        skipped: this.skipped,
        best: this.best,
        early_stop: this.early.state,
        gradient_noise: this.noise.state,
        ...(this.config.training.curriculum.least_chance < 1 ? { curriculum: this.source.curriculum ?? {} } : {}),
      } satisfies RunState,
    });
  }
}
