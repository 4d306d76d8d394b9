import { batchBuffers, type TokenBuffer } from "../diffusion/buffer.js";
import type { PackedBatch } from "../diffusion/replay.js";
import type { Trajectory } from "../diffusion/trajectory.js";
import type { LayoutContext, TermBatch } from "./objective.js";

/**
 * The real terms of a packed batch, compacted to R = batch * canvas, in segments:
 * `step` one a round (S = B*T), `token` one a term (S = R), `sequence` one a response (S = B).
 * @param subset rounds laid out of each trajectory, where they are a random subset of its rounds.
 */
export function packedTerms(
  packed: PackedBatch,
  context: Pick<LayoutContext, "batch" | "canvas" | "rounds">,
  level: "step" | "token" | "sequence",
  subset?: { readonly trajectories: readonly Trajectory[]; readonly rounds: readonly (readonly number[])[] },
): TermBatch {
  const terms = context.batch * context.canvas;
  const rows = new BigInt64Array(terms);
  const targets = new BigInt64Array(terms);
  const eosAllowed = new Float32Array(terms).fill(1);
  const coefficient = new Float32Array(terms);
  const segment = new BigInt64Array(terms);
  const segments = level === "token" ? terms : level === "step" ? context.batch * context.rounds : context.batch;
  const recorded = new Float32Array(segments);
  const tokens = new Float32Array(segments);
  const owner = new Array<number>(segments).fill(-1);
  let r = 0;
  for (let term = 0; term < packed.mask.length; term++) {
    if (packed.mask[term] !== 1) continue;
    const round = Math.floor(term / packed.reveals);
    const b = Math.floor(round / packed.rounds);
    const t = round % packed.rounds;
    const s = level === "token" ? r : level === "step" ? b * context.rounds + t : b;
    rows[r] = packed.rows[term] as bigint;
    targets[r] = packed.targets[term] as bigint;
    eosAllowed[r] = packed.eosAllowed[term] as number;
    coefficient[r] = 1;
    segment[r] = BigInt(s);
    tokens[s] = (tokens[s] as number) + 1;
    recorded[s] = (recorded[s] as number) + (packed.logProbs[term] as number);
    owner[s] = b;
    r++;
  }
  const { batch, length, inputIds, positionIds, attentionBias, temperature } = packed;
  const laidOut = {
    batch,
    length,
    inputIds,
    positionIds,
    attentionBias,
    temperature,
    rows,
    targets,
    eosAllowed,
    coefficient,
    segment,
    segments,
    owner,
    tokens,
    recorded,
  };
  if (subset === undefined) return laidOut;
  const share = Float32Array.from(owner, (b) => {
    return b < 0
      ? 0
      : (subset.trajectories[b] as Trajectory).rounds.length / (subset.rounds[b] as readonly number[]).length;
  });
  const whole = subset.trajectories.map((t) => (level === "token" ? t.response.length : t.rounds.length));
  return { ...laidOut, sampled: { share, of: whole.reduce((a, n) => a + n, 0) } };
}

/** A buffer with the terms that are scored in it. */
export interface ScoredBuffer {
  readonly buffer: TokenBuffer;
  readonly terms: readonly ScoredTerm[];
}

export interface ScoredTerm {
  /** Index in the buffer of the row that predicts the token. */
  readonly row: number;
  readonly target: number;
  readonly coefficient: number;
  readonly segment: number;
}

/**
 * Lays out plain causal buffers with their terms; EOS is an ordinary token and the temperature is 1.
 * @param sizes B buffers of N tokens, R terms, S segments: all static.
 * @param owner [S] the trajectory of each segment, -1 for padding.
 */
export function bufferTerms(
  scored: readonly ScoredBuffer[],
  sizes: { readonly batch: number; readonly length: number; readonly terms: number; readonly segments: number },
  owner: readonly number[],
  tokens: Float32Array,
  pad: number,
): TermBatch {
  const buffers = batchBuffers(
    scored.map((s) => s.buffer),
    { batch: sizes.batch, length: sizes.length, pad },
  );
  const out: TermBatch = {
    ...buffers,
    temperature: 1,
    rows: new BigInt64Array(sizes.terms),
    targets: new BigInt64Array(sizes.terms),
    eosAllowed: new Float32Array(sizes.terms).fill(1),
    coefficient: new Float32Array(sizes.terms),
    segment: new BigInt64Array(sizes.terms),
    segments: sizes.segments,
    owner: Array.from({ length: sizes.segments }, (_, s) => owner[s] ?? -1),
    tokens,
    recorded: undefined,
  };
  let r = 0;
  scored.forEach(({ terms }, b) => {
    for (const term of terms) {
      out.rows[r] = BigInt(b * sizes.length + term.row);
      out.targets[r] = BigInt(term.target);
      out.coefficient[r] = term.coefficient;
      out.segment[r] = BigInt(term.segment);
      r++;
    }
  });
  return out;
}
