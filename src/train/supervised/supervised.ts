import { existsSync, readdirSync } from "node:fs";
import { optimizerOptions, scheduleOptions } from "../../config/optimizer.js";
import { closing } from "../../core/closing.js";
import { fail, misuse } from "../../core/errors.js";
import { Rng } from "../../core/rng.js";
import type { SupervisedExample } from "../../diffusion/examples.js";
import { initialParameters } from "../../engine/adapter.js";
import { type Policy, tokenizerText } from "../../engine/policy.js";
import type { Environment } from "../../env/environment.js";
import { tasksOf } from "../../env/open.js";
import { saveModel } from "../../nn/model.js";
import { learningRate } from "../../optim/schedule.js";
import { batchSize, type SftOptions } from "../../rl/objectives/sft.js";
import type { StepMetrics } from "../../runs/metrics.js";
import { dryRunKind, notBegun } from "../dry-run.js";
import { localExecutor } from "../executor.js";
import {
  countSteps,
  fittingTasks,
  note,
  openSite,
  openTrainedPolicy,
  rehearseTasks,
  runSteps,
  type Setup,
  type Steps,
} from "../loop.js";
import { sameValues } from "../micro-batch.js";
import { openRun } from "../run.js";
import type { TrainResult } from "../types.js";
import { answeredBy } from "./answered.js";
import { EOS_FILL_WEIGHT, supervisedBatch, supervisedExamples } from "./supervision.js";

/**
 * Supervised fine-tuning on oracle plans of the training tasks, by the model's own loss, of adapter or all weights. With
 * `--rollouts RUN` the tasks' values are those that the run's site did not refuse (answered.ts).
 */
export async function trainOnExamples(given: Setup): Promise<TrainResult> {
  const { options, watch } = given;
  const sft = given.config.objective as unknown as SftOptions;
  refuse(sft, options.resume);
  const full = sft.trainable === "full";

  // 1. Open the policy and the environment, which must fit
  const optimizer = { ...optimizerOptions(given.config), kind: sft.optimizer, muonLrScale: sft.muon_lr_scale };
  await using policy = closing(await openTrainedPolicy(given, optimizer, full));
  await using site = closing(await openSite(given));
  const { rolloutsRun } = options;
  const answered = rolloutsRun === undefined ? undefined : answeredBy(rolloutsRun, site, note(options));
  const environment = fittingTasks(given, answered?.environment ?? site, policy);
  const setup = countSteps(given, environment, batchSize(sft, given.config.training));
  const { config } = setup;
  await rehearseTasks(setup, environment);

  // 2. Examples of the training tasks
  const tasks = tasksOf(environment, "train");
  const examples = await supervisedExamples(tasks, environment, policy, (done, all) =>
    watch.phase({ doing: "demonstrations", done, all }),
  );
  const steps = new SupervisedSteps({ ...setup, policy, environment }, sft, examples);
  // options that the sampler's loss does not support are refused before the run is created
  steps.draw(1);
  const start = full ? policy.engine.weights() : initialParameters(config, policy);

  // 3. A dry run ends before anything is written
  if (options.dryRun) {
    await policy.engine.setParameters("policy", start);
    await policy.engine.setOptimizer(undefined);
    const dryRun = await (await dryRunKind()).onExamples(config, (step) => steps.take(step));
    return notBegun(config, options, dryRun);
  }

  // 4. Begin the run, or resume it at its last checkpoint; then its steps
  await using run = closing(await openRun(config, options, policy, environment, answered));
  await using executor = closing(localExecutor(policy, environment));
  return await runSteps({ ...setup, policy, executor, run, start, splits: [] }, steps);
}

/** @throws UserError for settings that supervised training does not support. */
function refuse({ trainable, output }: SftOptions, resume = false): void {
  const full = trainable === "full";
  if (full && output === null)
    misuse("objective.trainable=full makes a new model, so it needs a place for it.", {
      hint: "Set objective.output=DIR.",
    });
  // a resumed run may have written it itself
  if (full && !resume && output !== null && existsSync(output) && readdirSync(output).length > 0)
    misuse(`objective.output: ${output} exists already, and a model is never overwritten.`, {
      hint: "set objective.output to another directory, or remove that one",
    });
}

interface SupervisedSetup extends Setup {
  readonly policy: Policy;
  readonly environment: Environment;
}

class SupervisedSteps implements Steps {
  constructor(
    private readonly setup: SupervisedSetup,
    private readonly sft: SftOptions,
    private readonly examples: readonly SupervisedExample[],
  ) {}

  /** Draws the batch of a step from the step's own stream, so that a resume needs no state. */
  draw(step: number) {
    const { sft, examples } = this;
    const { config, policy, environment } = this.setup;
    // a sampler without this loss was refused at the start
    const supervisedTerms = policy.sampler.supervisedTerms as NonNullable<typeof policy.sampler.supervisedTerms>;
    const rng = Rng.named(config.seed, `sft/${step}`);
    const drawn = supervisedBatch(
      examples,
      environment,
      policy,
      { size: batchSize(sft, config.training), augment: sft.augment },
      rng,
    );
    const terms = supervisedTerms(drawn, policy.options, {
      arWeight: sft.ar_weight,
      eosFillWeight: EOS_FILL_WEIGHT,
      draftWeight: sft.draft_weight,
      maskGiven: sft.mask_given,
      batch: config.training.micro_batch,
      ...(sft.pack_length === null ? {} : { packLength: sft.pack_length }),
      rng,
    });
    return { drawn, terms };
  }

  async take(step: number): Promise<StepMetrics> {
    const { config, policy } = this.setup;
    const began = performance.now();
    const { drawn, terms } = this.draw(step);
    let loss = 0;
    for (const batch of terms)
      loss += (await policy.engine.accumulate(batch, sameValues(new Float32Array(1)))).loss as number;
    const lr = learningRate(step, scheduleOptions(config));
    const norm = await policy.engine.step(step, lr);
    if (!Number.isFinite(norm) || !Number.isFinite(loss))
      fail(`The loss or its gradient is not finite at step ${step} (loss ${loss}, norm ${norm}).`, {
        hint: "Lower training.learning_rate, or resume from the last checkpoint with a smaller one.",
      });
    const total = (performance.now() - began) / 1000;
    return {
      step,
      faults: 0,
      loss,
      grad_norm: norm,
      lr,
      tokens: drawn.reduce((n, example) => n + example.response.length + 1, 0),
      time: { rollout: 0, score: 0, update: total, total },
    };
  }

  state(): Record<string, never> {
    return {};
  }

  /** Writes the model of a completed run that trained every weight. */
  async finish(step: number): Promise<string | undefined> {
    const { config, policy, watch } = this.setup;
    const { trainable, output } = this.sft;
    if (trainable !== "full" || step < config.training.steps || output === null) return undefined;
    const { model, engine } = policy;
    await saveModel(output, model.config, await engine.getParameters("policy"), tokenizerText(model));
    watch.note(`model written to ${output}`);
    return output;
  }
}
