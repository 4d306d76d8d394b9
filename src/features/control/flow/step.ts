/**
 * One step of Flow-GRPO's sampler (Liu et al. 2025, arXiv 2505.05470, eq. 9; flow_grpo's sde_step_with_logprob), time
 * from 0 (noise) to 1 (data), x_t = t x_1 + (1 - t) x_0 and v = x_1 - x_0:
 *
 *   sigma_t = a sqrt((1 - t) / max(t, dt))
 *   x_{t+dt} ~ N(x + [v - sigma_t^2 / (2 (1 - t)) (x - t v)] dt,  sigma_t^2 dt I)
 *
 * The mean is linear in the network's output v: mean = ofX * x + ofV * v.
 */
export interface StepLaw {
  /** t at the beginning of the step. */
  readonly time: number;
  readonly ofX: number;
  readonly ofV: number;
  /** Standard deviation of every number; 0 at noise level 0. */
  readonly std: number;
}

/** Computes the distribution of step `k` of `steps` at noise level a. */
export function stepLaw(k: number, steps: number, a: number): StepLaw {
  const dt = 1 / steps;
  const time = k / steps;
  const c = a ** 2 / (2 * Math.max(time, dt));
  return {
    time,
    ofX: 1 - c * dt,
    ofV: dt * (1 + c * time),
    std: a * Math.sqrt(((1 - time) / Math.max(time, dt)) * dt),
  };
}

/** log N(x; mean, std^2) without its quadratic part; nats. */
export const logNormaliser = (std: number): number => -Math.log(std) - 0.5 * Math.log(2 * Math.PI);
