import type { Batch } from "./layout/batch.js";
import type { Scoring } from "./layout/scorings.js";
import { Canvas } from "./template.js";
import type { TokenTrajectory } from "./trajectory.js";

/** A batch with the weights of its segments. */
export interface ScoredBatch {
  readonly batch: Batch;
  /** The trajectories to which the batch's `owner` refers. */
  readonly trajectories: readonly TokenTrajectory[];
  readonly values: { readonly weight: Float32Array };
}

/**
 * Returns the share of a step's trained tokens after the EOS of their response or blank. It is read from the position
 * ids of the rows that the batches gather, and so checks the layout itself.
 * @param scoring a text is predicted by the row before each token, everything else by the token's own row.
 */
export function afterEosFraction(batches: readonly ScoredBatch[], scoring: Scoring, eos: number): number {
  const shift = scoring === "text" ? 1 : 0;
  let scored = 0;
  let behind = 0;
  for (const { batch, trajectories, values } of batches) {
    const places = trajectories.map(({ prompt, response, template }) => {
      const canvas = Canvas.of(template);
      return new Set(
        canvas
          .cellsOf(canvas.read(canvas.byCell(response, eos), eos), eos)
          .map((cell) => prompt.length + canvas.position(cell)),
      );
    });
    const [rows, positions] = [batch.inputs.rows?.data, batch.inputs.position_ids?.data];
    (rows as BigInt64Array | undefined)?.forEach((row, r) => {
      const segment = Number(batch.segment[r]);
      const positionsOfResponse = places[batch.owner[segment] as number];
      if (positionsOfResponse === undefined || batch.coefficient[r] === 0 || values.weight[segment] === 0) return;
      scored++;
      if (!positionsOfResponse.has(Number(positions?.[Number(row)]) + shift)) behind++;
    });
  }
  return scored === 0 ? 0 : behind / scored;
}
