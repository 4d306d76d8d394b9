import type { PackedBatch } from "../diffusion/replay.js";
import type { LayoutContext, TermBatch } from "./objective.js";

/**
 * The real terms of a packed batch, compacted to R = batch * canvas, in segments:
 * `step` one a round (S = B*T), `token` one a term (S = R), `sequence` one a response (S = B).
 */
export function packedTerms(packed: PackedBatch, context: LayoutContext, level: "step" | "token" | "sequence"): TermBatch {
  const terms = context.batch * context.canvas;
  const rows = new BigInt64Array(terms);
  const targets = new BigInt64Array(terms);
  const eosAllowed = new Float32Array(terms).fill(1);
  const coefficient = new Float32Array(terms);
  const segment = new BigInt64Array(terms);
  const segments = level === "token" ? terms : level === "step" ? context.batch * context.rounds : context.batch;
  const recorded = new Float32Array(segments);
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
    recorded[s] = (recorded[s] as number) + (packed.logProbs[term] as number);
    owner[s] = b;
    r++;
  }
  const { batch, length, inputIds, positionIds, attentionBias, temperature } = packed;
  return { batch, length, inputIds, positionIds, attentionBias, temperature, rows, targets, eosAllowed, coefficient, segment, segments, owner, recorded };
}
