import { existsSync } from "node:fs";
import { join } from "node:path";
import type { RunConfig } from "../config/config.js";
import { optimizerOptions, scheduleOptions } from "../config/optimizer.js";
import { UserError } from "../core/errors.js";
import { Rng } from "../core/rng.js";
import { adapterConfig, checkPromptsFit, initialAdapter, openPolicy, type Policy } from "../engine/policy.js";
import type { Split } from "../env/site.js";
import type { Tensor } from "../onnx/types.js";
import { learningRate } from "../optim/schedule.js";
import { spread } from "../rl/advantages.js";
import type { Objective } from "../rl/objective.js";
import { retainCheckpoints, writeCheckpoint } from "../runs/checkpoint.js";
import { type Evaluation, readEvaluation, writeEvaluation } from "../runs/evaluation.js";
import type { RECIPE_KEYS, StepMetrics } from "../runs/metrics.js";
import { writeRollouts } from "../runs/rollout-record.js";
import { stepName } from "../runs/run-directory.js";
import { Alarms } from "../watch/alarms.js";
import { episodeText } from "../watch/progress-text.js";
import { reportAtEnd } from "../watch/report/report.js";
import { takeScreenshots } from "../watch/screenshots.js";
import type { Watch } from "../watch/watch.js";
import { dryRunPolicy, notBegun } from "./dry-run.js";
import { EarlyStop, type EarlyStopState } from "./early-stop.js";
import { type Environment, openEnvironment } from "./environment.js";
import { evaluatePolicy } from "./evaluate.js";
import { drawHalves, GradientNoise, type GradientNoiseState, HalfGradients } from "./gradient-noise.js";
import { type GroupSource, PlayedGroups } from "./group-source.js";
import { recordsOf, samplesOf } from "./groups.js";
import { MaskNoise } from "./mask-noise.js";
import { openRecorded, type RecordedGroups } from "./recorded-groups.js";
import { openMetrics, openRun, type Run } from "./run.js";
import { afterEosFraction } from "./scored-tokens.js";
import { withoutLongTasks } from "./skip-long.js";
import type { TrainOptions, TrainResult } from "./types.js";
import { prepareBatches, takeStep } from "./update.js";

/** Steps in a row whose gradient is not finite before the run gives up. */
const NON_FINITE_LIMIT = 3;

/** The split of evaluations during training. */
const VALIDATION = "val" satisfies Split;

/**
 * Reinforcement learning in the browser:
 *   draw tasks -> generate a group of plans for each -> play them, read what the server got -> rewards -> advantages
 *   -> score under the reference -> updates -> metrics, checkpoint
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
    const tasks = environment.tasks("train");
    checkPromptsFit(tasks, policy);
    for (const split of playedSplits(config)) checkPromptsFit(environment.tasks(split), policy);
    const start = initialAdapter(config, policy);
    const recorded =
      options.rolloutsRun === undefined
        ? undefined
        : await openRecorded(options.rolloutsRun, config, policy, new Set(tasks.map((task) => task.id)));
    // a browser that does not start should say so before the first step, not after it
    if (recorded === undefined || config.evaluation.splits.length + config.evaluation.every > 0) {
      await environment.runner();
    }
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
      new PlayedGroups(config, policy, environment, state?.cursor ?? 0, (done, all, { task, episode }) =>
        watch.phase({ doing: "episodes", done, all, now: episodeText(task.form, episode) }),
      );
  }

  async train(start: ReadonlyMap<string, Tensor>): Promise<TrainResult> {
    const { config, run } = this;
    const { engine } = this.policy;
    await engine.setParameters("reference", start);
    await engine.setParameters("policy", run.checkpoint?.adapter?.tensors ?? start);
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
        const runner = await environment.runner();
        await takeScreenshots(run.directory, runner, environment.site.tasks(), records.slice(0, picture));
      },
    });
  }

  /** One step: rollouts, advantages, updates. */
  private async trainStep(step: number): Promise<StepMetrics> {
    const { config, policy, objective } = this;
    const began = performance.now();
    const { groups, generating, rollout, episodes } = await this.source.collect(step);
    const all = groups.flatMap((g) => g.rollouts);
    const records = recordsOf(step, groups);
    await writeRollouts(this.run.directory.rollouts(step), records);
    this.watch.rollouts(step, records);
    const scored = all.map((r) => r.record).filter((record) => record.reward !== null);
    const rewards = scored.map((record) => record.reward as number);
    const average = (xs: readonly number[]): number =>
      xs.length === 0 ? 0 : xs.reduce((a, x) => a + x, 0) / xs.length;

    const skip = groups.filter((g) => g.signal).length < config.training.min_signal_groups;
    if (skip) this.skipped++;
    const stream = (name: string): Rng => Rng.named(config.seed, `${name}/${step}`);
    const { gradient_noise_every: measureEvery } = config.training;
    const halves =
      measureEvery > 0 && step % measureEvery === 0 && !skip ? drawHalves(groups, stream("gradient-noise")) : undefined;
    const samples = skip ? [] : samplesOf(groups, halves);
    const scoring = performance.now();
    this.watch.phase({ doing: "scoring" });
    const { micro_batch: size, num_iterations: iterations } = config.training;
    const batches = await prepareBatches(policy, objective, config.objective, samples, size, stream("layout"));
    const every = objective.noiseEvery?.(config.objective) ?? 0;
    const noise =
      every > 0 && step % every === 0 && batches.length > 0
        ? await MaskNoise.begin(policy, objective, config.objective, samples, size, batches, stream("mask-noise"))
        : undefined;
    const updating = performance.now();
    this.watch.phase({ doing: "updating" });
    const rate = learningRate(step, scheduleOptions(config));
    // a step without samples changes nothing: no loss, no penalty, ratio 1
    let first: Record<string, number> = { loss: 0, kl: 0, ratio_mean: 1, ratio_max: 1, clip_fraction: 0, grad_norm: 0 };
    let last = first;
    const inHalves = halves && new HalfGradients(policy.engine, batches, halves);
    for (let iteration = 0; batches.length > 0 && iteration < iterations; iteration++) {
      const observe = iteration === 0 ? inHalves : undefined;
      const result = await takeStep(policy.engine, batches, this.updates + 1, rate, observe);
      last = this.checkFinite(result, step);
      if (iteration === 0) first = last;
      this.updates++;
    }
    const gradient = inHalves?.sample() ?? null;
    if (gradient !== null) this.gradientNoise.add(gradient);
    const maskNoise = (await noise?.fraction()) ?? null;
    const ended = performance.now();
    const generated = all.reduce((n, r) => n + r.trajectory.response.length, 0);
    const standard = new Set(["loss", "kl", "ratio_mean", "ratio_max", "clip_fraction", "grad_norm"]);
    const extra = Object.fromEntries(Object.entries(last).filter(([name]) => !standard.has(name)));
    const metric = (name: string): number => last[name] ?? 0;
    return {
      step,
      reward: average(rewards),
      reward_std: rewards.length === 0 ? 0 : spread(rewards),
      success_rate: average(scored.map((record) => Number(record.success))),
      field_accuracy: average(scored.map((record) => record.parts?.field_accuracy ?? 0)),
      frac_reward_zero_std: groups.filter((g) => !g.signal).length / groups.length,
      faults: all.length - scored.length,
      loss: metric("loss"),
      kl: metric("kl"),
      ratio_mean: metric("ratio_mean"),
      ratio_max: metric("ratio_max"),
      clip_fraction: metric("clip_fraction"),
      grad_norm: metric("grad_norm"),
      lr: rate,
      tokens: samples.reduce((n, s) => n + s.trajectory.response.length, 0),
      // recorded rollouts are not generated: they have no rate
      rollout_tokens_per_s: generating > 0 ? generated / generating : null,
      extra: {
        ...extra,
        after_eos_fraction:
          policy.sampler.drawsBehindEos && objective.scoring === "steps"
            ? null
            : afterEosFraction(batches, objective.scoring, policy.engine.tokens.eos),
        episodes_played: episodes,
        on_policy_ratio_error: first.ratio_error ?? 0,
        response_length: average(all.map((r) => r.trajectory.response.length)),
        ended_by_eos: average(all.map((r) => Number(r.trajectory.ended === "eos"))),
        gradient_agreement: gradient?.agreement ?? null,
        gradient_noise_fraction: gradient && this.gradientNoise.fraction,
        gradient_noise_scale: gradient && this.gradientNoise.scale,
        mask_noise_fraction: maskNoise,
        nonfinite_steps: this.nonFinite,
        skipped_steps: this.skipped,
      } satisfies Record<(typeof RECIPE_KEYS)[number], number | null>,
      time: {
        rollout,
        score: (updating - scoring) / 1000,
        update: (ended - updating) / 1000,
        total: (ended - began) / 1000,
      },
    };
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
      await engine.setParameters("policy", checkpoint.adapter?.tensors ?? start);
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

  private async evaluateSplit(split: "train" | "val" | "test" | "heldout", step: number): Promise<Evaluation> {
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
      adapter: { config: adapterConfig(this.config), tensors: await engine.getParameters("policy") },
      weights: null,
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
