import type { ScheduleOptions } from "../optim/schedule.js";
import type { OptimizerOptions } from "../optim/update-rule.js";
import type { RunConfig } from "./config.js";

/** Maps the training section of a config to the options of the modules it configures. */

/** Takes the optimizer's options from a config. */
export function optimizerOptions({ training: t }: RunConfig): OptimizerOptions {
  return {
    kind: "adamw",
    beta1: t.adam_beta1,
    beta2: t.adam_beta2,
    epsilon: t.adam_epsilon,
    weightDecay: t.weight_decay,
    gradClip: t.grad_clip,
    muonLrScale: 1,
  };
}

/** Takes the learning-rate schedule's options from a config. */
export function scheduleOptions({ training: t }: RunConfig): ScheduleOptions {
  return {
    learningRate: t.learning_rate,
    warmupSteps: t.warmup_steps,
    schedule: t.schedule,
    steps: t.steps,
    decayFrom: t.decay_from,
    minLrRatio: t.min_lr_ratio,
  };
}
