import { UserError } from "../core/errors.js";
import type { Rng } from "../core/rng.js";

/** A supervised example: token ids, the response without EOS; of a continuous policy, the numbers of a state and of a chunk of actions. */
export interface SupervisedExample {
  readonly prompt: readonly number[];
  readonly response: readonly number[];
}

/**
 * Positions 0..1 of a batch, stratified: one in each of `count` equal parts, in random order, so that every batch holds
 * light and heavy corruption.
 */
export function stratified(count: number, rng: Rng): number[] {
  const strata = rng.shuffle(Array.from({ length: count }, (_, i) => i));
  return strata.map((stratum) => (stratum + rng.uniform()) / count);
}

/**
 * The response with its EOS, filled with EOS to a canvas of `responseLength`.
 * @throws UserError where prompt or response do not fit.
 */
export function fillCanvas(
  { prompt, response }: SupervisedExample,
  sizes: { readonly promptLength: number; readonly responseLength: number },
  eos: number,
): SupervisedExample {
  const { promptLength, responseLength } = sizes;
  if (response.length + 1 > responseLength) {
    throw new UserError(
      `A response of ${response.length} tokens and EOS do not fit response_length ${responseLength}`,
      {
        hint: "Raise response_length, or leave the example out: a truncated response teaches a wrong end.",
      },
    );
  }
  if (prompt.length > promptLength) {
    throw new UserError(`A prompt of ${prompt.length} tokens does not fit prompt_length ${promptLength}`);
  }
  const fill = Array.from({ length: responseLength - response.length }, () => eos);
  return { prompt, response: [...response, ...fill] };
}
