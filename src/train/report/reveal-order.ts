import { z } from "zod";

/** One token of a response, and when it took the value that it ended with. */
export interface Reveal {
  readonly token: number;
  /** Round or step of the sampler, from 0. */
  readonly step: number;
  /** Log-probability in nats that it was sampled with, where the sampler records one for each token. */
  readonly logProb: number | null;
}

type Mapping = (trajectory: unknown) => Reveal[] | undefined;

const unmask = z.looseObject({
  response: z.array(z.int()),
  rounds: z.array(z.looseObject({ positions: z.array(z.int()), logProbs: z.array(z.number()) })),
});

/**
 * What each sampler's record says about the order, by the sampler's name. A new sampler adds one mapping, which answers
 * undefined for a record that is not its own.
 */
const MAPPINGS: Readonly<Record<string, Mapping>> = {
  /** Every position is revealed in one round and stays. */
  unmask(trajectory) {
    const { data } = unmask.safeParse(trajectory);
    if (data === undefined) return undefined;
    const at = new Map<number, Omit<Reveal, "token">>();
    for (const [step, { positions, logProbs }] of data.rounds.entries()) {
      for (const [i, position] of positions.entries()) at.set(position, { step, logProb: logProbs[i] ?? null });
    }
    return data.response.map((token, position) => ({ token, ...(at.get(position) ?? { step: 0, logProb: null }) }));
  },
};

/** The tokens of a recorded response from left to right; undefined where no sampler's mapping knows the record. */
export function revealOrder(trajectory: unknown): Reveal[] | undefined {
  for (const mapping of Object.values(MAPPINGS)) {
    const reveals = mapping(trajectory);
    if (reveals !== undefined) return reveals;
  }
  return undefined;
}
