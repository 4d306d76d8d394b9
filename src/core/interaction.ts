/** What an environment shows a policy before a turn. A policy of text reads `text`; a continuous one reads `vectors`. */
export interface Observation {
  readonly text?: string;
  /** Named vectors, as `state`. */
  readonly vectors?: Readonly<Record<string, Float32Array>>;
}

/** What a policy answers: a text, or a vector of continuous controls. */
export interface Action {
  readonly text?: string;
  readonly vector?: Float32Array;
}

/** One turn of a policy: an environment calls it once or many times an episode. */
export type Act = (observation: Observation) => Promise<Action>;
