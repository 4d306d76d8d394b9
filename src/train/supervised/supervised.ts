import { existsSync, readdirSync } from "node:fs";
import { optimizerOptions, scheduleOptions } from "../../config/optimizer.js";
import { fail, misuse } from "../../core/errors.js";
import { Rng } from "../../core/rng.js";
import type { SupervisedExample } from "../../diffusion/supervised.js";
import { initialParameters } from "../../engine/adapter.js";
import { tokenizerText } from "../../engine/policy.js";
import { tasksOf } from "../../env/open.js";
import { saveModel } from "../../nn/model.js";
import { learningRate } from "../../optim/schedule.js";
import { batchSize, type SftOptions } from "../../rl/objectives/sft.js";
import type { StepMetrics } from "../../runs/metrics.js";
import { dryRunSupervised } from "../dry-run.js";
import type { Asked, Opened, Prepared, Recipe, Steps } from "../loop.js";
import { sameValues } from "../micro-batch.js";
import { EOS_FILL_WEIGHT, supervisedBatch, supervisedExamples } from "./supervision.js";

/** Supervised fine-tuning on oracle plans of the training tasks, by the model's own loss, of adapter or all weights. */
export async function supervised(asked: Asked): Promise<Recipe> {
  const { config, options } = asked;
  const sft = config.objective as unknown as SftOptions;
  refuse(sft, options.resume);
  return {
    optimizer: { ...optimizerOptions(config), kind: sft.optimizer, muonLrScale: sft.muon_lr_scale },
    full: sft.trainable === "full",
    shared: undefined,
    splits: [],
    keepsBest: false,
    prepare: (opened) => prepare(opened, sft),
  };
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

async function prepare(opened: Opened, sft: SftOptions): Promise<Prepared> {
  const { config, policy, environment, watch } = opened;
  await opened.rehearse();
  const tasks = tasksOf(environment, "train");
  const examples = await supervisedExamples(tasks, environment, policy, (done, all) =>
    watch.phase({ doing: "demonstrations", done, all }),
  );
  const steps = new SupervisedSteps(opened, sft, examples);
  // options that the sampler's loss does not support are refused before the run is created
  steps.draw(1);
  return {
    start: sft.trainable === "full" ? policy.engine.weights() : initialParameters(config, policy),
    dryRun: () => dryRunSupervised(config, (step) => steps.take(step)),
    begin: async () => steps,
  };
}

class SupervisedSteps implements Steps {
  constructor(
    private readonly opened: Opened,
    private readonly sft: SftOptions,
    private readonly examples: readonly SupervisedExample[],
  ) {}

  /** Draws the batch of a step from the step's own stream, so that a resume needs no state. */
  draw(step: number) {
    const { sft, examples } = this;
    const { config, policy, environment } = this.opened;
    // refused earlier, where the sampler has no such loss
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
    const { config, policy } = this.opened;
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
      reward: null,
      reward_std: null,
      success_rate: null,
      frac_reward_zero_std: null,
      faults: 0,
      loss,
      kl: null,
      ratio_mean: null,
      ratio_max: null,
      clip_fraction: null,
      grad_norm: norm,
      lr,
      tokens: drawn.reduce((n, example) => n + example.response.length + 1, 0),
      rollout_tokens_per_s: null,
      time: { rollout: 0, score: 0, update: total, total },
    };
  }

  state(): Record<string, never> {
    return {};
  }

  /** Writes the model of a completed run that trained every weight. */
  async finish(step: number): Promise<string | undefined> {
    const { config, policy, watch } = this.opened;
    const { trainable, output } = this.sft;
    if (trainable !== "full" || step < config.training.steps || output === null) return undefined;
    const { model, engine } = policy;
    await saveModel(output, model.config, await engine.getParameters("policy"), tokenizerText(model));
    watch.note(`model written to ${output}`);
    return output;
  }
}
