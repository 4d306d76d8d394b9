import type { RoundInput, RoundModel } from "../../../src/diffusion/sampler.js";
import type { RowDrafts } from "../../../src/features/refusion-decoding/head.js";
import type { FakeNetwork } from "../../diffusion/samplers/unmask/fake-model.js";
import { tokensOf } from "../../support/token-batch.js";

/** The fake network behind the sampler's head; counts its forwards. */
export class Drafting implements RoundModel<RowDrafts> {
  forwards = 0;

  constructor(private readonly network: FakeNetwork) {}

  async forwardRound(round: RoundInput): Promise<RowDrafts> {
    const input = tokensOf(round);
    this.forwards++;
    const states = Array.from({ length: input.batch }, (_, b) => this.network.hidden(input, b));
    const rows = [...input.rows].map((flat) => {
      const hidden = states[Math.floor(Number(flat) / input.length)]?.[Number(flat) % input.length] as Float64Array;
      return this.network.logProbs(hidden, input.temperature, true);
    });
    const best = rows.map((row) => row.indexOf(Math.max(...row)));
    const target = input.features.target as BigInt64Array;
    return {
      token: BigInt64Array.from(best, BigInt),
      logProb: Float32Array.from(rows, (row, r) => row[best[r] as number] as number),
      targetLogProb: Float32Array.from(rows, (row, r) => row[Number(target[r])] as number),
    };
  }
}
