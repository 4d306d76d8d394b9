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

/** What a continuous policy is shown, and what it answers. */
export interface Spaces {
  /** Shapes of the observation's vectors by name. */
  readonly observation: Readonly<Record<string, readonly number[]>>;
  /** Actions that it answers with at once, and numbers of each. */
  readonly action: readonly [actions: number, numbers: number];
}

/** One turn of a policy: an environment calls it once or many times an episode. */
export type Act = (observation: Observation) => Promise<Action>;
