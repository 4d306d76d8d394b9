import type { Interval } from "../../src/core/statistics.js";
import type { UnmaskTrajectory } from "../../src/diffusion/samplers/unmask/trajectory.js";
import type { FieldValue } from "../../src/env/site.js";

/** Messages between the page and the demo's worker. */

export interface Fill {
  readonly id: string;
  readonly letter: string;
  readonly seed: number;
  readonly rounds: number;
  readonly greedy: boolean;
}

export type Call =
  | { readonly kind: "open" }
  | { readonly kind: "task"; readonly form: string; readonly n: number }
  | { readonly kind: "fill"; readonly what: Fill }
  | { readonly kind: "many"; readonly what: Many };

/** Asks for many letters at once. */
export interface Many extends Omit<Fill, "id" | "letter"> {
  readonly count: number;
  /** Letters of forms that were not trained on. */
  readonly heldout: boolean;
}

/** Rewards of many letters without and with the trained adapter. */
export interface Rated {
  /** @property n place of the letter among its form's. */
  readonly letters: readonly {
    readonly form: string;
    readonly title: string;
    readonly n: number;
    readonly before: number;
    readonly after: number;
  }[];
  readonly before: Interval;
  readonly after: Interval;
  /** Paired by letter. */
  readonly difference: Interval;
}

export interface Opened {
  readonly forms: readonly { readonly id: string; readonly title: string; readonly heldout: boolean }[];
}

export interface ShownTask {
  readonly id: string;
  readonly letter: string;
  readonly title: string;
  readonly intro: string;
  /** The form's controls in the server's markup. */
  readonly html: string;
  readonly truth: Readonly<Record<string, FieldValue>>;
}

/** A part of the canvas: given text, or the cells of a blank. */
export type ShownPart = { readonly text: string } | { readonly name: string; readonly cells: readonly ShownCell[] };

/** One token position of a blank. */
export interface ShownCell {
  readonly text: string;
  /** Round in which it was revealed, from 0; -1 for a cell behind its blank's end, where no token was drawn. */
  readonly round: number;
  readonly logProb: number;
  /** Whether the token is the end of its blank. */
  readonly isEnd: boolean;
}

export interface Answer {
  readonly trajectory: UnmaskTrajectory;
  readonly text: string;
  readonly values: Readonly<Record<string, string>>;
  readonly parts: readonly ShownPart[];
  readonly reward: number;
  readonly success: boolean;
  readonly detail: {
    readonly accepted: boolean;
    readonly field_scores: Readonly<Record<string, number>>;
    readonly received: Readonly<Record<string, unknown>>;
  };
  readonly ms: number;
}

export interface Filled {
  readonly answers: Readonly<Record<string, Answer>>;
}

export type Reply =
  | { readonly id: number; readonly result: Opened | ShownTask | Filled | Rated }
  | { readonly id: number; readonly error: string }
  /** Bytes of the files that have arrived so far. */
  | { readonly loadedBytes: number };
