import { z } from "zod";
import { optimizerOptions, scheduleOptions } from "../config/optimizer.js";
import { fail } from "../core/errors.js";
import { writeAtomic } from "../core/files.js";
import { checked } from "../core/problems.js";
import { initialParameters } from "../engine/adapter.js";
import { checkPromptsFit } from "../engine/policy.js";
import type { Split } from "../env/environment.js";
import { tasksOf } from "../env/open.js";
import type { Tensor } from "../onnx/types.js";
import { learningRate } from "../optim/schedule.js";
import type { StepMetrics } from "../runs/metrics.js";
import { type RolloutRecord, writeRollouts } from "../runs/rollout-record.js";
import { episodeText } from "../watch/progress-text.js";
import type { Phase } from "../watch/watcher.js";
import type { StepContext } from "./context.js";
import { dryRunPolicy } from "./dry-run.js";
import { earlyStopState } from "./early-stop.js";
import { sharedWork } from "./executor.js";
import { type Asked, type Opened, type Prepared, type Recipe, type Steps, VALIDATION } from "./loop.js";
import { gradientNoiseState } from "./noise/gradient-noise.js";
import { asKept, keptPolicy, REFERENCE } from "./refresh.js";
import { creditOf, PlayedGroups } from "./rollouts/group-source.js";
import { type Group, recordsOf, samplesOf, withCredit } from "./rollouts/groups.js";
import { openRecorded, type RecordedGroups } from "./rollouts/recorded-groups.js";
import type { GroupSource } from "./rollouts/step-groups.js";
import type { Run } from "./run.js";
import { Observers } from "./step-observer.js";
import { canShare, type GradientObserver, type MicroBatch, prepareUpdate, scoreAs, takeStep } from "./update.js";

/** Consecutive steps with a non-finite gradient after which the run stops. */
const NON_FINITE_LIMIT = 3;

/**
 * Reinforcement learning: draws tasks, plays a group of episodes of each in the environment, assigns credit, updates.
 * One step is {@link PolicySteps.trainStep}. With `--rollouts RUN` everything up to the rewards comes from that run.
 */
export async function reinforcement({ config }: Asked): Promise<Recipe> {
  const shared = await sharedWork(config);
  return {
    optimizer: optimizerOptions(config),
    full: false,
    shared,
    splits: config.evaluation.splits,
    keepsBest: true,
    prepare: (opened) => prepare(opened, shared?.playsElsewhere === true),
  };
}

async function prepare(opened: Opened, playsElsewhere: boolean): Promise<Prepared> {
  const { config, objective, options: asked, policy, environment, watch } = opened;
  const { splits, every } = config.evaluation;
  const played: readonly Split[] = every > 0 ? [...splits, VALIDATION] : splits;
  for (const split of new Set<Split>(["train", ...played]))
    checkPromptsFit(environment, tasksOf(environment, split), policy);
  const start = initialParameters(config, policy);
  const { training, seed, objective: options } = config;
  const share = await canShare(policy, objective);
  const context = { policy, objective, options, training, seed, size: training.micro_batch, share };
  const credit = (rollouts: Group["rollouts"]) => creditOf(context, rollouts);
  const recorded =
    asked.rolloutsRun === undefined
      ? undefined
      : await openRecorded(asked.rolloutsRun, config, policy, environment, credit);
  // a browser that does not start is reported before the first step
  const plays = recorded === undefined || splits.length + every > 0;
  if (plays && (asked.dryRun || !playsElsewhere)) await environment.start();
  if (recorded === undefined) await opened.rehearse();
  return {
    start,
    recorded,
    dryRun: async () => {
      await policy.engine.setParameters("reference", start);
      return dryRunPolicy(config, objective, policy, environment, recorded);
    },
    begin: async (run, executor, phase) => {
      await policy.engine.setParameters("reference", keptPolicy(REFERENCE, run.checkpoint) ?? start);
      return new PolicySteps({ ...context, executor, score: executor.score }, config, run, watch, phase, recorded);
    },
  };
}

const counter = z.int().min(0).max(1e12);

/** State of a checkpoint besides tensors; every random stream derives from the seed and the step. */
const runState = z.object({
  /** Tasks drawn so far. */
  cursor: counter,
  /** Optimizer steps so far. */
  updates: counter,
  /** Consecutive updates with non-finite gradients. */
  nonfinite: counter,
  /** Steps so far without an update. */
  skipped: counter,
  best: z.object({ step: counter, reward: z.number() }).nullable(),
  early_stop: earlyStopState,
  gradient_noise: gradientNoiseState,
});
type RunState = z.infer<typeof runState>;
/** As in checkpoints: those of supervised training have fewer keys. */
const savedState = runState.partial();

/** @throws UserError where a checkpoint's state is of another command, or was changed. */
function stateOf(checkpoint: Run["checkpoint"]): z.infer<typeof savedState> {
  if (checkpoint === undefined) return {};
  return checked(savedState, checkpoint.state, `The checkpoint of step ${checkpoint.step} is none of this command's`, {
    hint: "resume with the command and config that wrote it, or start a new run",
  });
}

class PolicySteps implements Steps {
  readonly validation: z.infer<typeof savedState>;
  private readonly source: GroupSource;
  private readonly observers: Observers;
  private updates: number;
  private skipped: number;
  private nonFinite: number;

  constructor(
    private readonly context: StepContext,
    private readonly config: Opened["config"],
    private readonly run: Run,
    private readonly watch: Opened["watch"],
    phase: (phase: Phase) => void,
    recorded: RecordedGroups | undefined,
  ) {
    const state = stateOf(run.checkpoint);
    this.validation = state;
    this.updates = state.updates ?? 0;
    this.nonFinite = state.nonfinite ?? 0;
    this.skipped = state.skipped ?? 0;
    const played = new PlayedGroups(context, state, (done, all, { task, outcome }) =>
      phase({ doing: "episodes", done, all, now: episodeText(task.form, outcome) }),
    );
    this.source = recorded ?? context.executor.source?.(played, run.checkpoint) ?? played;
    this.observers = new Observers(context, phase, state.gradient_noise, this.source === played);
  }

  async take(step: number): Promise<StepMetrics> {
    const line = await this.trainStep(step);
    const { engine } = this.context.policy;
    const refresh = this.context.training.reference_refresh;
    if (refresh > 0 && step % refresh === 0)
      await engine.setParameters("reference", await engine.getParameters("policy"));
    return line;
  }

  /** Takes one step. G groups of E episodes; N samples, one a turn; a micro-batch has R scored terms in S segments. */
  private async trainStep(step: number): Promise<StepMetrics> {
    const { context, source } = this;
    const { stage, ...observer } = this.observers.of(step);

    // 1. Collect: play the tasks of the step, or read another run's rollouts. [G][E] episodes with their rewards
    const collected = await stage("collect", () => source.collect(step));

    // 2. Credit by the objective. [G][E][T] a number per turn, or one per step or token; null for an episode left out
    const advantage = collected.groups.map((episodes) => creditOf(context, episodes));
    const groups = collected.groups.map((episodes, g) => withCredit(episodes, advantage[g] ?? []));
    await this.record(step, groups);

    // 3. Samples: the turns of all episodes with credit; none where too few groups carry signal. [N]
    const learns = groups.filter(({ signal }) => signal).length >= context.training.min_signal_groups;
    const samples = learns ? samplesOf(groups, context.seed, step) : [];
    if (!learns) this.skipped++;

    // 4. Score: lay samples out, score under the old policy and the reference. [S] old, reference, advantage, weight
    const sampledBy = scoreAs(context.policy.engine, collected.sampled?.parameters, context.executor.score);
    const batches = await stage("score", () =>
      observer.prepare(groups, samples, (parts) => prepareUpdate(context, parts, sampledBy, this.comparesOnce(step))),
    );

    // 5. Update mu times: the gradient of all micro-batches, one step of the optimizer
    const updates: Record<string, number | null>[] = [];
    for (let i = 0; batches.length > 0 && i < context.training.num_iterations; i++)
      updates.push(await stage("update", () => this.update(step, batches, i === 0 ? observer.noise() : undefined)));

    // 6. Metrics: one line of metrics.jsonl
    const counts = { nonfinite_steps: this.nonFinite, skipped_steps: this.skipped };
    return observer.metrics({ collected, groups, samples, batches, updates, counts, lr: this.rate(step) });
  }

  /** Tells whether the values before the update are compared by one gradient alone. */
  private comparesOnce(step: number): boolean {
    const { objective, options, training } = this.context;
    const every = objective.noiseEvery?.(options) ?? 0;
    return training.num_iterations === 1 && (every === 0 || step % every !== 0);
  }

  private rate(step: number): number {
    return learningRate(step, scheduleOptions(this.config));
  }

  private async update(step: number, batches: readonly MicroBatch[], observer: GradientObserver | undefined) {
    const { policy, training, executor } = this.context;
    const slots = { count: training.gradient_slots, gradients: executor.gradients };
    const taken = await takeStep(policy.engine, batches, this.updates + 1, this.rate(step), { observer, slots });
    const metrics = this.checkFinite(taken, step);
    this.updates++;
    return metrics;
  }

  private async record(step: number, groups: readonly Group[]): Promise<void> {
    const { directory } = this.run;
    const records: RolloutRecord[] = [];
    for (const { har, ...record } of recordsOf(step, groups)) {
      records.push(record);
      if (har !== undefined) await writeAtomic(directory.har(record), JSON.stringify(har), 0o600);
    }
    await writeRollouts(directory.rollouts(step), records);
    this.watch.rollouts(step, records);
  }

  /** Counts non-finite gradients, which change nothing (the optimizer skips them), and stops after several in a row. */
  private checkFinite(result: Record<string, number>, step: number): Record<string, number | null> {
    if (Object.values(result).every(Number.isFinite)) {
      this.nonFinite = 0;
      return result;
    }
    this.nonFinite++;
    this.run.log.warn({ step, result }, "the loss or its gradient is not finite: update skipped");
    if (this.nonFinite >= NON_FINITE_LIMIT)
      fail(`The loss or its gradient was not finite in ${this.nonFinite} updates in a row (step ${step}).`, {
        hint: "Lower training.learning_rate or raise objective.kl_coeff, then resume from the last checkpoint.",
      });
    return Object.fromEntries(
      Object.entries(result).map(([name, value]) => [name, Number.isFinite(value) ? value : null]),
    );
  }

  async kept(step: number): Promise<Record<string, Map<string, Tensor>>> {
    const { engine } = this.context.policy;
    const refreshes = this.context.training.reference_refresh > 0;
    return {
      ...(refreshes ? asKept(REFERENCE, await engine.getParameters("reference")) : {}),
      ...this.source.kept?.(step),
    };
  }

  state(validation: Pick<RunState, "best" | "early_stop">): RunState {
    const { source, observers } = this;
    return {
      cursor: source.drawn,
      updates: this.updates,
      nonfinite: this.nonFinite,
      skipped: this.skipped,
      ...validation,
      gradient_noise: observers.gradientNoise,
    };
  }
}
