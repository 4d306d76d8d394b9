/** What a sampler recorded of one turn: plain data, which JSON holds exactly. Only its own sampler looks inside. */
export type Trajectory = object;

/** What every sampler of text records. */
export interface TokenTrajectory {
  readonly prompt: readonly number[];
  /** L: positions of the canvas. */
  readonly responseLength: number;
  /** tau; 0 is greedy, with log-probabilities at temperature 1. */
  readonly temperature: number;
  /** Through EOS, or L tokens. */
  readonly response: readonly number[];
  readonly ended: "eos" | "length";
}
