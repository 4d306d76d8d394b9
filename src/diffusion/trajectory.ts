/** What every sampler records of a rollout. Plain data: JSON holds it exactly. */
export interface Trajectory {
  readonly prompt: readonly number[];
  /** L: positions of the canvas. */
  readonly responseLength: number;
  /** tau; 0 is greedy, with log-probabilities at temperature 1. */
  readonly temperature: number;
  /** Through EOS, or L tokens. */
  readonly response: readonly number[];
  readonly ended: "eos" | "length";
}
