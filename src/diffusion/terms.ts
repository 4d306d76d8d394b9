import { isCausal, layBuffers, type Place, shareStarts, type TokenBuffer } from "../attention/rows.js";
import { fail } from "../core/errors.js";
import { type NamedTensors, scalar, vector } from "../onnx/tensors.js";
import { tokenTable } from "./constrained.js";
import type { Batch } from "./layout/batch.js";
import { bucketLength } from "./layout/buffer.js";
import type { LayoutSizes, StepLayout } from "./layout/scorings.js";
import { type ScoreHead, TARGETS } from "./score-head.js";
import type { TokenIds } from "./tokens.js";

/** One term of a sequence. */
export interface Term {
  /** Buffer index of the scored row. */
  readonly row: number;
  readonly target: number;
  readonly coefficient: number;
  readonly segment: number;
  /** Values of the score head's inputs for this term, by name. Default: 0. */
  readonly features?: Readonly<Record<string, number>>;
  /** The only tokens that may be drawn; absent: all. */
  readonly allowed?: readonly number[] | undefined;
}

/** A sequence with its scored terms. */
export interface ScoredBuffer {
  readonly buffer: TokenBuffer;
  /** Inputs of the model's graph for the sequence besides its tokens. */
  readonly conditions?: Readonly<Record<string, number>>;
  readonly terms: readonly Term[];
}

/** Sizes of a layout: B buffers of N tokens, S segments. */
export interface TermSizes {
  readonly batch: number;
  readonly length: number;
  readonly segments: number;
  /** Place of each sequence; default: a row of its own. */
  readonly places?: readonly Place[];
  /** Lets sequences share their starts; `batch` and `length` are then ignored. Default: false. */
  readonly share?: boolean | undefined;
}

export interface SegmentInfo {
  /** [S] the trajectory of each segment; missing ones are padding. */
  readonly owner: readonly number[];
  /** [S] the step of each segment; absent: every segment covers all steps. */
  readonly step?: readonly number[];
  /** [S] the response position, where a segment is a token. */
  readonly position?: readonly number[];
  /** [S] */
  readonly tokens: Float32Array;
  /** [S] as in {@link Batch} */
  readonly logProb?: Float32Array;
  readonly temperature: number;
  readonly head: ScoreHead;
  /** Token of padding entries. */
  readonly pad: number;
  /** Token scored by a padding term: one that is always possible, so that every score is finite. */
  readonly filler: number;
}

/** Describes one segment per response, scored at temperature 1: EOS is an ordinary token. */
export function responseSegments(
  trajectories: readonly { readonly response: readonly number[] }[],
  { batch }: LayoutSizes,
  head: ScoreHead,
  { pad, eos }: TokenIds,
): SegmentInfo {
  const tokens = new Float32Array(batch);
  trajectories.forEach(({ response }, b) => {
    tokens[b] = response.length;
  });
  return { owner: trajectories.map((_, b) => b), tokens, temperature: 1, head, pad, filler: eos };
}

/** Lays out sequences in rows, with their terms. @throws UserError where sequences do not fit. */
export function bufferTerms(scored: readonly ScoredBuffer[], sizes: TermSizes, info: SegmentInfo): Batch {
  const { head } = info;
  const buffers = scored.map(({ buffer }) => buffer);
  const laidOut = sizes.share ? shareStarts(buffers) : layBuffers(buffers, { ...sizes, pad: info.pad });
  // a batch without terms still has one padding term
  const count = Math.max(
    1,
    scored.reduce((n, { terms }) => n + terms.length, 0),
  );
  const features = Object.entries(head.inputs)
    .filter(([name]) => !Object.hasOwn(TARGETS, name) && name !== "allowed")
    .map(([name, { dtype }]) => ({
      name,
      values: dtype === "int64" ? new BigInt64Array(count) : new Float32Array(count).fill(PADDING_FEATURE),
    }));
  const rows = new BigInt64Array(count);
  const targets = new BigInt64Array(count).fill(BigInt(info.filler));
  const coefficient = new Float32Array(count);
  const segment = new BigInt64Array(count);
  const allowed = new Array<readonly number[] | undefined>(count).fill(undefined);
  let r = 0;
  scored.forEach(({ terms }, i) => {
    for (const term of terms) {
      rows[r] = BigInt(laidOut.row(i, term.row));
      targets[r] = BigInt(term.target);
      coefficient[r] = term.coefficient;
      segment[r] = BigInt(term.segment);
      allowed[r] = term.allowed;
      for (const { name, values } of features) {
        const value = name === "open" ? Number(term.allowed === undefined) : (term.features?.[name] ?? 0);
        if (values instanceof BigInt64Array) values[r] = BigInt(value);
        else values[r] = value;
      }
      r++;
    }
  });
  const perSegment = <T>(values: readonly T[], missing: T): T[] =>
    Array.from({ length: sizes.segments }, (_, s) => values[s] ?? missing);
  return {
    inputs: {
      ...laidOut.inputs,
      ...conditionsOf(scored, sizes.batch),
      rows: vector(rows),
    },
    causal: !sizes.share && isCausal(laidOut),
    head,
    headInputs: {
      targets: vector(targets),
      inverse_temperature: scalar(1 / info.temperature),
      ...Object.fromEntries(features.map(({ name, values }) => [name, vector(values)])),
      ...(Object.hasOwn(head.inputs, "allowed") ? { allowed: tokenTable(allowed) } : {}),
    },
    coefficient,
    segment,
    segments: sizes.segments,
    owner: perSegment(info.owner, -1),
    step: perSegment(info.step ?? [], -1),
    ...(info.position === undefined ? {} : { position: perSegment(info.position, -1) }),
    units: info.tokens,
    logProb: info.logProb,
  };
}

/** Value of padding terms: 1 is valid for every float input (EOS allowed, a time, a factor); 0 may give log 0. */
const PADDING_FEATURE = 1;

/** Returns values [B] by name; padding rows repeat the first sequence's, so that they stay in the model's range. */
function conditionsOf(scored: readonly ScoredBuffer[], batch: number): NamedTensors {
  const first = scored[0]?.conditions ?? {};
  return Object.fromEntries(
    Object.entries(first).map(([name, value]) => [
      name,
      vector(Float32Array.from({ length: batch }, (_, b) => scored[b]?.conditions?.[name] ?? value)),
    ]),
  );
}

/** Returns the padded length of a layout's sequences. */
export const layoutLength = (scored: readonly ScoredBuffer[], { lengthStep }: LayoutSizes): number =>
  bucketLength(Math.max(0, ...scored.map((s) => s.buffer.ids.length)), lengthStep);

/** One token of one step of a trajectory, as recorded. */
export interface StepTerm {
  /** Index in its buffer. */
  readonly row: number;
  readonly target: number;
  /** Position in the response. */
  readonly position: number;
  readonly logProb: number;
  readonly features: Readonly<Record<string, number>>;
  readonly allowed?: readonly number[] | undefined;
}

/** A sequence with scored steps of one trajectory. */
export interface StepBuffer {
  readonly buffer: TokenBuffer;
  readonly conditions?: Readonly<Record<string, number>>;
  /** Index of the trajectory in the batch. */
  readonly trajectory: number;
  readonly steps: readonly { readonly step: number; readonly terms: readonly StepTerm[] }[];
}

/** Sizes of trajectories for the layout of steps. */
export interface StepSizes {
  /** Most steps of a trajectory. */
  readonly steps: number;
  /** Sequences per trajectory: 1 where all steps are packed. */
  readonly sequences: number;
  /** N, at least the length of the longest sequence. */
  readonly length: number;
  /** Steps and terms of each whole trajectory, whether laid out or not. */
  readonly whole: readonly { readonly steps: number; readonly terms: number }[];
}

/**
 * Lays out steps as segments: `step` one per step (S = B*T), `token` one per term (S = R), `sequence` one per response
 * (S = B). With a subset of the steps, each segment has the share of all segments that it represents.
 */
export function stepTerms(
  buffers: readonly StepBuffer[],
  sizes: StepSizes,
  layout: StepLayout,
  info: Pick<SegmentInfo, "temperature" | "head" | "pad" | "filler">,
): Batch {
  const { batch, level } = layout;
  const terms = buffers.reduce((n, { steps }) => steps.reduce((m, { terms }) => m + terms.length, n), 0);
  const segments = level === "token" ? terms : level === "step" ? batch * sizes.steps : batch;
  const logProb = new Float32Array(segments);
  const tokens = new Float32Array(segments);
  const owner = new Array<number>(segments).fill(-1);
  const stepOf = new Array<number>(segments).fill(-1);
  const positions = new Array<number>(segments).fill(-1);
  const shown = new Array<number>(batch).fill(0);
  let r = 0;
  const scored = buffers.map(({ buffer, conditions, trajectory, steps }): ScoredBuffer => {
    const laidOut = steps.flatMap(({ step, terms: of }) => {
      const place = shown[trajectory] as number;
      if (place >= sizes.steps) fail(`step ${step} of a trajectory does not fit ${sizes.steps} steps`);
      shown[trajectory] = place + 1;
      return of.map((term): Term => {
        const s = level === "token" ? r : level === "step" ? trajectory * sizes.steps + place : trajectory;
        r++;
        tokens[s] = (tokens[s] as number) + 1;
        logProb[s] = (logProb[s] as number) + term.logProb;
        owner[s] = trajectory;
        if (level !== "sequence") stepOf[s] = step;
        positions[s] = term.position;
        const { row, target, features, allowed } = term;
        return { row, target, coefficient: 1, segment: s, features, allowed };
      });
    });
    return { buffer, ...(conditions === undefined ? {} : { conditions }), terms: laidOut };
  });
  if (layout.reduction === "mean") for (let s = 0; s < segments; s++) logProb[s] = meanOf(logProb, tokens, s);
  const out = bufferTerms(
    scored,
    { batch: batch * sizes.sequences, length: sizes.length, segments, share: layout.share },
    { ...info, owner, step: stepOf, tokens, logProb, ...(level === "token" ? { position: positions } : {}) },
  );
  if (layout.reduction === "mean") {
    out.segment.forEach((s, i) => {
      out.coefficient[i] = meanOf(out.coefficient, tokens, i, Number(s));
    });
  }
  if (layout.subset === undefined) return out;
  const share = Float32Array.from(owner, (b) => (b < 0 ? 0 : (sizes.whole[b]?.steps ?? 0) / (shown[b] as number)));
  const of = sizes.whole.reduce((n, whole) => n + (level === "token" ? whole.terms : whole.steps), 0);
  return { ...out, sampled: { share, of } };
}

/** Divides an entry by the number of tokens of its segment. */
const meanOf = (values: Float32Array, tokens: Float32Array, index: number, segment = index): number =>
  (values[index] as number) / Math.max(1, tokens[segment] as number);

/**
 * Returns the common temperature of a batch's trajectories.
 * @throws UserError where their temperatures differ.
 */
export function commonTemperature(temperatures: readonly number[]): number {
  const distinct = [...new Set(temperatures)];
  if (distinct.length > 1) fail(`Trajectories of different temperatures in one batch: ${distinct.join(", ")}`);
  return distinct[0] ?? 1;
}
