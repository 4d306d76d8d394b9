import type { StepMetrics } from "../../src/runs/metrics.js";

/** Makes the metrics of one step. */
export function stepMetrics(step: number, changes: Partial<StepMetrics> = {}): StepMetrics {
  return {
    step,
    reward: 0.5,
    reward_std: 0.1,
    success_rate: 0.25,
    frac_reward_zero_std: 0,
    faults: 0,
    loss: -0.01,
    kl: 0.001,
    ratio_mean: 1,
    ratio_max: 1.2,
    clip_fraction: 0,
    grad_norm: 0.7,
    lr: 1e-4,
    tokens: 900,
    rollout_tokens_per_s: 450,
    time: { rollout: 1, score: 0.5, update: 2, total: 3.5 },
    extra: { field_accuracy: 0.6 },
    ...changes,
  };
}
