import { z } from "zod";
import { samplerKinds } from "../../diffusion/kinds.js";
import type { Reveal } from "../../diffusion/sampler.js";
import type { Trajectory } from "../../diffusion/trajectory.js";

/** Tells when each token of a recorded response got its final value, from left to right; undefined where it cannot. */
export type RevealReader = (trajectory: unknown) => Reveal[] | undefined;

const answer = z.array(
  z.object({
    position: z.int().nonnegative(),
    token: z.int().nonnegative(),
    step: z.int().nonnegative(),
    logProb: z.number().optional(),
  }),
);

/**
 * The reader of a run's records: its sampler's own `reveals`. A report also reads what a damaged or hand-made file
 * holds, without the model that could check it: whatever the sampler makes no sense of has no order.
 * @param kind the run's sampler; undefined tries every one.
 */
export async function revealReader(kind: string | undefined): Promise<RevealReader> {
  const samplers = await samplerKinds();
  const named = kind === undefined ? undefined : samplers.get(kind);
  const candidates = named === undefined ? [...samplers.values()] : [named];
  return (trajectory) => {
    for (const sampler of candidates) {
      try {
        const { data } = answer.safeParse(sampler.reveals?.(trajectory as Trajectory));
        if (data === undefined || data.length === 0) continue;
        return data
          .map(({ logProb, ...rest }): Reveal => ({ ...rest, logProb }))
          .sort((a, b) => a.position - b.position);
      } catch {
        // not a record of this sampler
      }
    }
    return undefined;
  };
}
