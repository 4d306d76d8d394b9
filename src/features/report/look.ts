import { z } from "zod";
import { resolvePath } from "../../config/config.js";
import type { Reveal } from "../../diffusion/sampler.js";
import { samplerKinds } from "../../diffusion/sampler-kinds.js";
import type { Trajectory } from "../../diffusion/trajectory.js";
import type { EnvironmentKind } from "../../env/environment.js";
import { environmentKinds } from "../../env/open.js";
import type { Speller } from "../../text/token-text.js";
import { Tokenizer } from "../../text/tokenizer.js";

/** Reads the tokens of a recorded response with their rounds, from left to right; undefined if it cannot. */
export type RevealReader = (trajectory: unknown) => Reveal[] | undefined;

/** The modules and names that show a run's rollouts. */
export interface Look {
  readonly reveals: RevealReader;
  /** The run's environment; undefined if its config does not name one that exists. */
  readonly kind: EnvironmentKind | undefined;
  /** Undefined if the model's tokenizer cannot be read: tokens are then shown as numbers. */
  readonly tokenizer: Speller | undefined;
}

const kindOf = z.object({ kind: z.string() }).optional().catch(undefined);
const namesOf = z
  .object({ model: z.string().optional().catch(undefined), sampler: kindOf, environment: kindOf })
  .catch({});

/**
 * Loads the look of a run. @param config of the run; it may be damaged, and its parts may no longer exist.
 * @param opened the tokenizer of the run's model, if it is open.
 */
export async function lookOf(config: unknown, opened?: Speller): Promise<Look> {
  const { model, sampler, environment } = namesOf.parse(config);
  const tolerant = async <T>(find: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await find();
    } catch {
      return undefined;
    }
  };
  return {
    reveals: await revealReader(sampler?.kind),
    kind: await tolerant(async () => environment && (await environmentKinds(environment.kind)).get(environment.kind)),
    tokenizer:
      opened ?? (await tolerant(() => (model === undefined ? model : Tokenizer.load(resolvePath(model, "model"))))),
  };
}

const answer = z.array(
  z.object({
    position: z.int().nonnegative(),
    token: z.int().nonnegative(),
    step: z.int().nonnegative(),
    logProb: z.number().optional(),
  }),
);

/**
 * Makes the reader of a run's records from its sampler's `reveals`. A report also reads damaged or hand-made files, and
 * has no model to validate them: records that the sampler cannot read have no order.
 * @param kind the run's sampler; undefined: all samplers are tried.
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
