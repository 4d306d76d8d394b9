import type { Scoring } from "../diffusion/sampler.js";
import type { MicroBatch } from "./update.js";

/**
 * Share of a step's trained tokens that lie behind the first EOS of their response, read from the position ids of the
 * rows that the batches gather: what is laid out, not what should be.
 * @param scoring a text is predicted by the row before each token, everything else by the token's own row.
 */
export function afterEosFraction(
  batches: readonly Pick<MicroBatch, "terms" | "trajectories" | "values">[],
  scoring: Scoring,
  eos: number,
): number {
  const shift = scoring === "text" ? 1 : 0;
  let scored = 0;
  let behind = 0;
  for (const { terms, trajectories, values } of batches) {
    const ends = trajectories.map(({ prompt, response }) => {
      const end = response.indexOf(eos);
      return prompt.length + (end < 0 ? response.length - 1 : end);
    });
    terms.rows.forEach((row, r) => {
      const segment = Number(terms.segment[r]);
      const end = ends[terms.owner[segment] as number];
      if (end === undefined || terms.coefficient[r] === 0 || values.weight[segment] === 0) return;
      scored++;
      if (Number(terms.positionIds[Number(row)]) + shift > end) behind++;
    });
  }
  return scored === 0 ? 0 : behind / scored;
}
