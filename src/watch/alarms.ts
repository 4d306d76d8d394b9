import { mean } from "../core/statistics.js";
import type { StepMetrics } from "../runs/metrics.js";

/** A metric that, above its limit, shows that a run learns from something other than its rewards. */
interface Alarm {
  /** Key of metrics.jsonl. */
  readonly key: string;
  readonly limit: number;
  /** Number of consecutive values whose mean is compared: 1 where a single one is a fault. */
  readonly window: number;
  /** Set where the values are running means already: the last one is compared, once there were `window`. */
  readonly running?: true;
  readonly advice: string;
}

/** docs/runs.md lists them. */
export const ALARMS: readonly Alarm[] = [
  {
    key: "mask_noise_fraction",
    limit: 0.5,
    window: 1,
    advice: "of the ratio's variance is noise of the masks: raise objective.mc_samples, or set objective.coupled=true",
  },
  {
    key: "gradient_noise_fraction",
    // signal : noise of 1 : 32 in a step: over 32 steps of a fixed policy, half of the sum is signal
    limit: 0.97,
    window: 20,
    running: true,
    advice:
      "of the squared gradient is noise of the rollouts: raise training.prompts_per_step, lower sampler.temperature, let the sampler take fewer steps, or train with espo",
  },
  {
    key: "frac_reward_zero_std",
    limit: 0.8,
    window: 10,
    advice:
      "of the groups carry no signal: raise training.group_size, sampler.temperature or sampler.explore, or set training.dynamic_sampling=true",
  },
  {
    key: "nonfinite_steps",
    limit: 0,
    window: 1,
    advice: "updates in a row were not finite: lower training.learning_rate",
  },
  {
    key: "on_policy_ratio_error",
    limit: 1e-2,
    window: 1,
    advice:
      "is how far rollout and scoring disagree before the first update: rollouts in int8 need objective.importance_cap (2, say); in float32 what is trained is not what acts, stop the run and try sampler.kv_cache=false",
  },
  {
    key: "kl_clamped_fraction",
    limit: 0.01,
    window: 1,
    advice:
      "of the penalty's terms are beyond its clamp and pull no more: raise objective.kl_coeff or lower training.learning_rate",
  },
  {
    key: "after_eos_fraction",
    limit: 0,
    window: 1,
    advice: "of the trained tokens lie behind EOS: the sampler's layout is wrong, do not trust this run",
  },
];

/** Watches a run's metrics and warns of each kind once. */
export class Alarms {
  private readonly recent = new Map<string, number[]>();
  private readonly raised = new Set<string>();

  /** @returns the warnings after this step. */
  check(metrics: StepMetrics): string[] {
    return ALARMS.flatMap(({ key, limit, window, running, advice }) => {
      const value = key in metrics ? metrics[key as keyof StepMetrics] : metrics.extra?.[key];
      if (typeof value !== "number" || this.raised.has(key)) return [];
      const recent = [...(this.recent.get(key) ?? []), value].slice(-window);
      this.recent.set(key, recent);
      const average = running ? value : mean(recent);
      if (recent.length < window || average <= limit) return [];
      this.raised.add(key);
      const span = running
        ? `the run to step ${metrics.step}`
        : window === 1
          ? `step ${metrics.step}`
          : `the last ${window} steps to ${metrics.step}`;
      return [`${key} = ${Number(average.toPrecision(3))} in ${span} (limit ${limit}) ${advice}`];
    });
  }
}
