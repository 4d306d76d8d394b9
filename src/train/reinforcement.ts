import { z } from "zod";
import { scheduleOptions } from "../config/optimizer.js";
import { closing } from "../core/closing.js";
import { fail } from "../core/errors.js";
import { writeAtomic } from "../core/files.js";
import { checked } from "../core/problems.js";
import { initialParameters } from "../engine/adapter.js";
import { checkPromptsFit } from "../engine/policy.js";
import type { Split } from "../env/environment.js";
import { tasksOf } from "../env/open.js";
import type { Tensor } from "../onnx/types.js";
import { learningRate } from "../optim/schedule.js";
import type { RolloutMetrics } from "../runs/metrics.js";
import { type RolloutRecord, writeRollouts } from "../runs/rollout-record.js";
import { episodeText } from "../watch/progress-text.js";
import type { StepContext } from "./context.js";
import { dryRunKind, notBegun } from "./dry-run.js";
import { earlyStopState } from "./early-stop.js";
import { localExecutor, sharedWork } from "./executor.js";
import {
  announceForms,
  countSteps,
  fittingTasks,
  openSite,
  openTrainedPolicy,
  rehearseTasks,
  runSteps,
  type Setup,
  type Steps,
  type ValidationState,
} from "./loop.js";
import { gradientNoiseState } from "./noise/gradient-noise.js";
import { Noise } from "./noise/noise.js";
import { policyGroup, policyOfGroup, REFERENCE } from "./refresh.js";
import { creditOf, PlayedGroups } from "./rollouts/group-source.js";
import { type Group, recordsOf, samplesOf, withCredit } from "./rollouts/groups.js";
import type { GroupSource } from "./rollouts/step-groups.js";
import { openStored, type StoredGroups } from "./rollouts/stored.js";
import { openRun, type Run } from "./run.js";
import { phaseShower, VALIDATION } from "./run-evaluations.js";
import { Observers } from "./step-observer.js";
import type { TrainResult } from "./types.js";
import { canShare, type GradientObserver, type MicroBatch, prepareUpdate, scoreAs, takeStep } from "./update.js";

/** Consecutive steps with a non-finite gradient after which the run stops. */
const NON_FINITE_LIMIT = 3;

/**
 * Reinforcement learning: draws tasks, plays a group of episodes of each in the environment, assigns credit, updates.
 * One step is {@link PolicySteps.trainStep}. With `--rollouts RUN` everything up to the rewards comes from that run.
 */
export async function trainOnRollouts(given: Setup): Promise<TrainResult> {
  const { objective, options, watch } = given;

  // 1. Open the policy and the environment, which must fit
  const shared = await sharedWork(given.config);
  await using policy = closing(await openTrainedPolicy(given));
  await using site = closing(await openSite(given));
  const untrainable = site.untrainable?.(tasksOf(site, "train"));
  if (untrainable !== undefined)
    fail(untrainable, { hint: "declare it: `success` in the tasks, or site.success (docs/sites.md)" });
  const environment = fittingTasks(given, site, policy);
  const setup = countSteps(given, environment, given.config.training.prompts_per_step);
  const { config } = setup;
  const { splits, every } = config.evaluation;
  const evaluated: readonly Split[] = every > 0 ? [...splits, VALIDATION] : splits;
  const checkFit = (): void => {
    for (const split of new Set<Split>(["train", ...evaluated]))
      checkPromptsFit(environment, tasksOf(environment, split), policy);
  };
  checkFit();
  const { engine } = policy;
  const start = initialParameters(config, policy);
  const { training, seed } = config;
  const share = await canShare(policy, objective);
  const size = training.micro_batch;
  const settings = { policy, objective, options: config.objective, training, seed, size, share };

  // 2. Rollouts: those of another run, or of episodes, which the oracle must win
  const stored =
    options.rolloutsRun === undefined
      ? undefined
      : await openStored(options.rolloutsRun, config, policy, environment, (group) => creditOf(settings, group));
  const playsElsewhere = shared?.playsElsewhere === true;
  // a browser that does not start is reported before the first step
  const plays = stored === undefined || splits.length + every > 0;
  if (plays && (options.dryRun || !playsElsewhere)) await environment.start();
  if (stored === undefined && !playsElsewhere) {
    announceForms(setup, environment);
    await rehearseTasks(setup, environment);
    // a page of a user's site gives its template once it was read
    if (environment.unproven !== undefined) checkFit();
  }

  // 3. A dry run ends before anything is written
  if (options.dryRun) {
    await engine.setParameters("policy", start);
    await engine.setOptimizer(undefined);
    await engine.setParameters("reference", start);
    const context = { ...settings, executor: localExecutor(policy, environment) };
    return notBegun(config, options, await (await dryRunKind()).onRollouts(context, config, stored));
  }

  // 4. Begin the run, or resume it at its last checkpoint
  await using run = closing(await openRun(config, options, policy, environment, stored));
  await using executor = closing(
    (await shared?.open(policy, environment, run, (text) => watch.note(text), options.signal)) ??
      localExecutor(policy, environment),
  );
  await engine.setParameters("reference", policyOfGroup(REFERENCE, run.checkpoint) ?? start);
  const state = stateOf(run.checkpoint);
  const context = { ...settings, executor, score: executor.score };
  const steps = new PolicySteps(context, { ...setup, run, state, stored });

  // 5. Steps
  return await runSteps({ ...setup, policy, executor, run, start, splits, validation: state }, steps);
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
/** As in checkpoints: those of supervised training have fewer keys. */
const savedState = runState.partial();
type SavedState = z.infer<typeof savedState>;

/** @throws UserError where a checkpoint's state is of another command, or was changed. */
function stateOf(checkpoint: Run["checkpoint"]): SavedState {
  if (checkpoint === undefined) return {};
  return checked(savedState, checkpoint.state, `The checkpoint of step ${checkpoint.step} is none of this command's`, {
    hint: "resume with the command and config that wrote it, or start a new run",
  });
}

/** Needs of a run's steps besides their settings. */
interface PolicyRun extends Setup {
  readonly run: Run;
  readonly state: SavedState;
  /** Rollouts of another run to learn from; undefined: episodes are played. */
  readonly stored: StoredGroups | undefined;
}

class PolicySteps implements Steps {
  private readonly source: GroupSource;
  private readonly noise: Noise;
  private readonly observers: Observers;
  private updates: number;
  private skipped: number;
  private nonFinite: number;

  constructor(
    private readonly context: StepContext,
    private readonly setup: PolicyRun,
  ) {
    const { state, stored, run, watch } = setup;
    this.updates = state.updates ?? 0;
    this.nonFinite = state.nonfinite ?? 0;
    this.skipped = state.skipped ?? 0;
    const phase = phaseShower(watch, context.executor);
    const played = new PlayedGroups(context, state, (done, all, { task, outcome }) =>
      phase({ doing: "episodes", done, all, now: episodeText(task.form, outcome) }),
    );
    this.source = stored ?? context.executor.source?.(played, run.checkpoint) ?? played;
    this.noise = new Noise(context, state.gradient_noise);
    this.observers = new Observers(context, phase, this.noise, this.source === played);
  }

  async take(step: number): Promise<RolloutMetrics> {
    const line = await this.trainStep(step);
    const { engine } = this.context.policy;
    const refresh = this.context.training.reference_refresh;
    if (refresh > 0 && step % refresh === 0)
      await engine.setParameters("reference", await engine.getParameters("policy"));
    return line;
  }

  /** Takes one step. G groups of E episodes; N samples, one a turn; a micro-batch has R scored terms in S segments. */
  private async trainStep(step: number): Promise<RolloutMetrics> {
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
      observer.prepare(groups, samples, (parts, readsOld) => {
        return prepareUpdate(context, parts, sampledBy, context.training.num_iterations === 1 && !readsOld);
      }),
    );

    // 5. Update mu times: the gradient of all micro-batches, one step of the optimizer
    const updates: Record<string, number | null>[] = [];
    for (let i = 0; batches.length > 0 && i < context.training.num_iterations; i++)
      updates.push(await stage("update", () => this.update(step, batches, i === 0 ? observer.gradients() : undefined)));

    // 6. Metrics: one line of metrics.jsonl
    const counts = { nonfinite_steps: this.nonFinite, skipped_steps: this.skipped };
    return observer.metrics({ collected, groups, samples, batches, updates }, counts, this.rate(step));
  }

  private rate(step: number): number {
    return learningRate(step, scheduleOptions(this.setup.config));
  }

  private async update(step: number, batches: readonly MicroBatch[], observer: GradientObserver | undefined) {
    const { policy, training, executor } = this.context;
    const slots = { count: training.gradient_slots, gradients: executor.gradients };
    const result = await takeStep(policy.engine, batches, this.updates + 1, this.rate(step), { observer, slots });
    const metrics = this.checkFinite(result, step);
    this.updates++;
    return metrics;
  }

  private async record(step: number, groups: readonly Group[]): Promise<void> {
    const { directory } = this.setup.run;
    const records: RolloutRecord[] = [];
    for (const { har, ...record } of recordsOf(step, groups)) {
      records.push(record);
      if (har !== undefined) await writeAtomic(directory.har(record), JSON.stringify(har), 0o600);
    }
    await writeRollouts(directory.rollouts(step), records);
    this.setup.watch.rollouts(records);
  }

  /** Counts non-finite gradients, which change nothing (the optimizer skips them), and stops after several in a row. */
  private checkFinite(result: Record<string, number>, step: number): Record<string, number | null> {
    if (Object.values(result).every(Number.isFinite)) {
      this.nonFinite = 0;
      return result;
    }
    this.nonFinite++;
    this.setup.run.log.warn({ step, result }, "the loss or its gradient is not finite: update skipped");
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
      ...(refreshes ? policyGroup(REFERENCE, await engine.getParameters("reference")) : {}),
      ...this.source.kept?.(step),
    };
  }

  state(validation: ValidationState): Record<string, unknown> {
    const { source } = this;
    const state: z.infer<typeof runState> = {
      cursor: source.drawn,
      updates: this.updates,
      nonfinite: this.nonFinite,
      skipped: this.skipped,
      ...validation,
      gradient_noise: this.noise.state,
    };
    return state;
  }
}
