import { existsSync } from "node:fs";
import { join } from "node:path";
import type { RunConfig } from "../config/config.js";
import { optimizerOptions, scheduleOptions } from "../config/optimizer.js";
import { UserError } from "../core/errors.js";
import { Rng } from "../core/rng.js";
import type { TokenTrajectory } from "../diffusion/trajectory.js";
import { adapterConfig, checkPromptsFit, initialParameters, openPolicy, type Policy } from "../engine/policy.js";
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
import { dryRunPolicy, notBegun } from "./dry-run.js";
import { EarlyStop, type EarlyStopState } from "./early-stop.js";
import { evaluatePolicy } from "./evaluate.js";
import { drawHalves, GradientNoise, type GradientNoiseState, HalfGradients } from "./gradient-noise.js";
import { type GroupSource, PlayedGroups, type StepGroups } from "./group-source.js";
import { type Group, recordsOf, type Sample, samplesOf } from "./groups.js";
import { MaskNoise } from "./mask-noise.js";
import { openRecorded, type RecordedGroups } from "./recorded-groups.js";
import { openMetrics, openRun, type Run } from "./run.js";
import { withoutLongTasks } from "./skip-long.js";
import {
  averages,
  environmentMetrics,
  episodeMetrics,
  extraLossMetrics,
  lossMetrics,
  turnsOf,
} from "./step-metrics.js";
import type { TrainOptions, TrainResult } from "./types.js";
import { type MicroBatch, prepareBatches, takeStep } from "./update.js";

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
  const policy = await openPolicy(config, {
    objective,
    options: config.objective,
    optimizer: optimizerOptions(config),
  });
  let environment: Environment | undefined;
  let run: Run | undefined;
  try {
    policy.engine.checkTrainable();
    const note = (text: string): void => void (options.quiet || process.stderr.write(`${text}\n`));
    environment = await openEnvironment(config, note);
    policy.notes.forEach(note);
    environment = withoutLongTasks(environment, config, policy, note);
    const tasks = tasksOf(environment, "train");
    for (const split of ["train", ...playedSplits(config)] as const)
      checkPromptsFit(environment, tasksOf(environment, split), policy);
    const start = initialParameters(config, policy);
    const recorded =
      options.rolloutsRun === undefined
        ? undefined
        : await openRecorded(options.rolloutsRun, config, objective, policy, new Set(tasks.map((task) => task.id)));
    // what plays should say that it does not start before the first step, not after it
    if (recorded === undefined || config.evaluation.splits.length + config.evaluation.every > 0)
      await environment.start();
    if (options.dryRun) {
      await policy.engine.setParameters("reference", start);
      await policy.engine.setParameters("policy", start);
      await policy.engine.setOptimizer(undefined);
      return notBegun(config, options, await dryRunPolicy(config, objective, policy, environment, recorded));
    }
    run = await openRun(config, options, policy, environment, recorded);
    await watch.begin(config, options.command, run);
    return await new PolicyTraining(config, objective, options, policy, environment, run, watch, recorded).train(start);
  } finally {
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
}

class PolicyTraining {
  private step: number;
  private readonly source: GroupSource;
  private updates: number;
  private skipped: number;
  private nonFinite: number;
  private best: TrainResult["best"];
  private readonly early: EarlyStop;
  private readonly gradientNoise: GradientNoise;
  private readonly alarms = new Alarms();

  constructor(
    private readonly config: RunConfig,
    private readonly objective: Objective,
    private readonly options: TrainOptions,
    private readonly policy: Policy,
    private readonly environment: Environment,
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
    this.gradientNoise = new GradientNoise(state?.gradient_noise);
    this.source =
      recorded ??
      new PlayedGroups(config, objective, policy, environment, state?.cursor ?? 0, (done, all, { task, outcome }) =>
        watch.phase({ doing: "episodes", done, all, now: episodeText(task.form, outcome) }),
      );
  }

  async train(start: ReadonlyMap<string, Tensor>): Promise<TrainResult> {
    const { config, run } = this;
    const { engine } = this.policy;
    await engine.setParameters("reference", start);
    await engine.setParameters("policy", run.checkpoint === undefined ? start : parametersIn(run.checkpoint));
    await engine.setOptimizer(run.checkpoint?.optimizer);
    const metrics = await openMetrics(run, this.watch);

    const before = await this.evaluateBefore(start);
    while (!this.over && !this.options.signal.aborted) {
      const line = await this.trainStep(this.step + 1);
      this.step++;
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

  private get over(): boolean {
    return this.step >= this.config.training.steps || this.early.reason !== undefined;
  }

  private async report(interrupted: boolean): Promise<void> {
    const { config, environment, run, watch } = this;
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
    const { config, policy, objective, watch } = this;
    const { micro_batch: size, num_iterations: iterations, min_signal_groups: least } = config.training;
    const began = performance.now();

    // 1. Collect: play the tasks of the step, or read what another run played. Rewards, and credit by the objective.
    const collected = await this.source.collect(step);
    const { groups } = collected;
    const records = recordsOf(step, groups);
    await writeRollouts(this.run.directory.rollouts(step), records);
    watch.rollouts(step, records);

    // 2. Samples: the turns of all groups that carry signal; none where too few do. [N]
    const learns = groups.filter((group) => group.signal).length >= least;
    if (!learns) this.skipped++;
    const halves = learns ? this.halvesOf(step, groups) : undefined;
    const parts = (halves ?? [learns ? groups : []]).map((half) => samplesOf(half, config.seed, step));

    // 3. Prepare: lay the samples out, score them under the old policy and the reference. [S] old, reference, advantage
    const scoring = performance.now();
    watch.phase({ doing: "scoring" });
    const batches = await prepareBatches(policy, objective, config.objective, parts, size);
    const noise = await this.maskNoise(step, parts.flat(), batches);

    // 4. Update x mu: gradients of all micro-batches, one step of the optimizer.
    const updating = performance.now();
    watch.phase({ doing: "updating" });
    const rate = learningRate(step, scheduleOptions(config));
    const boundary = Math.ceil((parts[0]?.length ?? 0) / size);
    const inHalves = halves && new HalfGradients(policy.engine, boundary, batches.length);
    let [first, last]: Record<string, number>[] = [{}, {}];
    for (let iteration = 0; batches.length > 0 && iteration < iterations; iteration++) {
      const observe = iteration === 0 ? inHalves : undefined;
      last = this.checkFinite(await takeStep(policy.engine, batches, this.updates + 1, rate, observe), step);
      if (iteration === 0) first = last;
      this.updates++;
    }

    // 5. Metrics.
    const gradient = halves && inHalves?.sample([halves[0].length, halves[1].length], parts.flat().length);
    if (gradient) this.gradientNoise.add(gradient);
    const maskNoise = (await noise?.fraction()) ?? null;
    const ended = performance.now();
    return {
      step,
      ...episodeMetrics(groups),
      ...lossMetrics(last ?? {}),
      lr: rate,
      tokens: this.unitsOf(parts.flat()),
      // recorded rollouts are not generated: they have no rate
      rollout_tokens_per_s: collected.generating > 0 ? this.generated(collected) / collected.generating : null,
      extra: {
        ...environmentMetrics(groups),
        ...extraLossMetrics(last ?? {}),
        ...this.samplerMetrics(groups, batches),
        episodes_played: collected.episodes,
        on_policy_ratio_error: first?.ratio_error ?? null,
        gradient_agreement: gradient?.agreement ?? null,
        gradient_noise_fraction: gradient ? this.gradientNoise.fraction : null,
        gradient_noise_scale: gradient ? this.gradientNoise.scale : null,
        mask_noise_fraction: maskNoise,
        nonfinite_steps: this.nonFinite,
        skipped_steps: this.skipped,
      },
      time: {
        rollout: collected.rollout,
        score: (updating - scoring) / 1000,
        update: (ended - updating) / 1000,
        total: (ended - began) / 1000,
      },
    };
  }

  /** Two halves of the step's groups, where its gradient is measured in them. */
  private halvesOf(step: number, groups: readonly Group[]): ReturnType<typeof drawHalves> {
    const { seed, training } = this.config;
    const every = training.gradient_noise_every;
    return every > 0 && step % every === 0 ? drawHalves(groups, Rng.named(seed, `gradient-noise/${step}`)) : undefined;
  }

  private async maskNoise(
    step: number,
    samples: readonly Sample[],
    batches: readonly MicroBatch[],
  ): Promise<MaskNoise | undefined> {
    const { config, objective, policy } = this;
    const every = objective.noiseEvery?.(config.objective) ?? 0;
    if (every === 0 || step % every > 0 || batches.length === 0) return undefined;
    return MaskNoise.begin(policy, objective, config.objective, samples, config.training.micro_batch, batches);
  }

  private unitsOf(samples: readonly Pick<Sample, "trajectory">[]): number {
    return samples.reduce((n, { trajectory }) => n + this.policy.sampler.policy.units(trajectory), 0);
  }

  private generated({ groups }: StepGroups): number {
    return this.unitsOf(turnsOf(groups));
  }

  /** Means of what the sampler says of every trajectory, and what it says of the step's batches. */
  private samplerMetrics(groups: readonly Group[], batches: readonly MicroBatch[]): Record<string, number | null> {
    const { sampler, options } = this.policy;
    const measured = turnsOf(groups).map(({ trajectory }) => sampler.policy.metrics(trajectory));
    const watched = batches.map(({ batch, values, trajectories }) => ({
      batch,
      values,
      trajectories: trajectories as readonly TokenTrajectory[],
    }));
    return { ...averages(measured), ...sampler.watch?.(watched, this.objective.scoring, options) };
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
    const evaluation = await evaluatePolicy(this.policy, this.environment, this.config, split, (done, all) =>
      this.watch.phase({ doing: `evaluating ${split}`, done, all }),
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
    await writeCheckpoint(path, {
      step: this.step,
      ...parameterParts(engine.groups, await engine.getParameters("policy"), adapterConfig(this.config, this.policy)),
      optimizer: await engine.getOptimizer(),
      state: {
        cursor: this.source.drawn,
        updates: this.updates,
        nonfinite: this.nonFinite,
        skipped: this.skipped,
        best: this.best,
        early_stop: this.early.state,
        gradient_noise: this.gradientNoise.state,
      } satisfies RunState,
    });
  }
}
