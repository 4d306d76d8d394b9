import type { Batch } from "../diffusion/layout/batch.js";

/** Functions that change the unit of the ratio of a batch, or the weights of its segments. */

/** Makes every scored term a segment, with its step where the batch has one: S = R. */
export function perTerm(batch: Batch): Batch {
  const terms = batch.coefficient.length;
  const scored = (r: number): number => (batch.coefficient[r] === 0 ? -1 : Number(batch.segment[r]));
  const at = <T>(values: readonly T[], missing: T): T[] =>
    Array.from({ length: terms }, (_, r) => (scored(r) < 0 ? missing : (values[scored(r)] as T)));
  const { logProb: _, share: __, ...rest } = batch;
  return {
    ...rest,
    coefficient: batch.coefficient.map((c) => (c === 0 ? 0 : 1)),
    segment: BigInt64Array.from({ length: terms }, (_, r) => BigInt(r)),
    segments: terms,
    owner: at(batch.owner, -1),
    step: at(batch.step, -1),
    units: new Float32Array(terms).fill(1),
    logProb: undefined,
  };
}

/**
 * Weights all groups of segments equally, whatever their sizes: the mean over groups of the means over members.
 * @param groupOf the group of a segment.
 */
export function countEqually(batch: Batch, groupOf: (segment: number) => string): Batch {
  const sizes = new Map<string, number>();
  const groups = batch.owner.map((owner, s) => (owner < 0 ? undefined : groupOf(s)));
  for (const group of groups) if (group !== undefined) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  return { ...batch, share: Float32Array.from(groups, (g) => (g === undefined ? 0 : 1 / (sizes.get(g) as number))) };
}

/** Weights all responses equally: the mean over responses of the means over their rounds of the means over tokens. */
export function meanOfRounds(batch: Batch): Batch {
  const rounds = new Map<number, Set<number>>();
  batch.owner.forEach((owner, s) => {
    if (owner >= 0) rounds.set(owner, (rounds.get(owner) ?? new Set()).add(batch.step[s] as number));
  });
  const inRound = countEqually(batch, (s) => `${batch.owner[s]}/${batch.step[s]}`);
  const share = (inRound.share as Float32Array).map((x, s) => {
    const owner = batch.owner[s] as number;
    return owner < 0 ? 0 : x / (rounds.get(owner)?.size ?? 1);
  });
  return { ...batch, share };
}
