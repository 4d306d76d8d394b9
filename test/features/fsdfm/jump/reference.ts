import type { Batch } from "../../../../src/diffusion/layout/batch.js";
import type { RoundInput, RoundModel } from "../../../../src/diffusion/sampler.js";
import type { SampledModel } from "../../../../src/diffusion/tokens.js";
import type { Drawn } from "../../../../src/features/fsdfm/jump/heads.js";
import type { JumpOptions } from "../../../../src/features/fsdfm/jump/options.js";
import { FakeNetwork, TOKENS, VOCAB } from "../../../diffusion/samplers/unmask/fake-model.js";
import { type TokenBatch, tokensOf } from "../../../support/token-batch.js";

export const MODEL: SampledModel = { tokens: TOKENS, vocabulary: VOCAB, attention: "bidirectional" };

export const SMALL: JumpOptions = {
  steps: 3,
  responseLength: 2,
  promptLength: 3,
  temperature: 1,
  exponent: 1,
  model: MODEL,
};

/**
 * Computes the transition probabilities by the paper's formula, in float64 and without logarithms: stay with
 * probability r^(1 - p_z), otherwise jump to j in proportion to p_j; in the last step draw from p.
 */
export function transition(p: readonly number[], current: number, hazard: number, last: boolean): number[] {
  if (last) return [...p];
  const pz = p[current] as number;
  const stay = Math.exp(-hazard) ** (1 - pz);
  return p.map((pj, j) => (j === current ? stay : pz === 1 ? 0 : ((1 - stay) * pj) / (1 - pz)));
}

/** A random network over tokens 0, 1 and EOS whose predictions also depend on time and step size. */
export class FakeFlow implements RoundModel<Drawn> {
  readonly network: FakeNetwork;

  constructor(seed: number) {
    this.network = new FakeNetwork(seed);
  }

  /** Computes the model's prediction of x_1 at every row, [R][V]. */
  predictions(
    input: Pick<
      TokenBatch,
      "batch" | "length" | "inputIds" | "positionIds" | "attentionBias" | "rows" | "conditions" | "temperature"
    >,
  ): number[][] {
    const states = Array.from({ length: input.batch }, (_, b) => this.network.hidden(input, b));
    return Array.from(input.rows, (flat) => {
      const b = Math.floor(Number(flat) / input.length);
      const hidden = states[b]?.[Number(flat) % input.length] as Float64Array;
      const [time, step] = [input.conditions.time?.[b] as number, input.conditions.step?.[b] as number];
      const conditioned = hidden.map((x, d) => x + (d === 0 ? time : d === 1 ? step : 0));
      return this.network.logProbs(conditioned, input.temperature, true).map(Math.exp);
    });
  }

  async forwardRound(round: RoundInput): Promise<Drawn> {
    const input = tokensOf(round);
    const { current, hazard, last } = input.features as Record<string, Float32Array>;
    const rows = this.predictions(input).map((p, r) =>
      transition(p, Number(current?.[r]), hazard?.[r] as number, last?.[r] === 1),
    );
    const token = rows.map((row, r) => {
      let cumulative = 0;
      const drawn = row.findIndex((probability) => {
        cumulative += probability;
        return (input.uniform[r] as number) < cumulative;
      });
      return drawn < 0 ? TOKENS.eos : drawn;
    });
    return {
      token: BigInt64Array.from(token, BigInt),
      logProb: Float32Array.from(token, (t, r) => Math.log(rows[r]?.[t] as number)),
    };
  }

  /** Computes the scores [R] of a layout's terms by its head; 0 where there is no term. */
  score(batch: Pick<Batch, "inputs" | "headInputs" | "coefficient" | "head">): number[] {
    const input = tokensOf(batch);
    const { current, hazard, last } = input.features as Record<string, Float32Array>;
    return this.predictions(input).map((p, r) => {
      if (batch.coefficient[r] === 0) return 0;
      const [target, now] = [Number(input.targets[r]), Number(current?.[r])];
      if (batch.head.name === "gkl")
        return (p[now] as number) - (now === target ? 1 : 0) + (now === target ? 0 : Math.log(p[target] as number));
      return Math.log(transition(p, now, hazard?.[r] as number, last?.[r] === 1)[target] as number);
    });
  }

  /** Computes the sums [S] of the segments. */
  values(batch: Batch): number[] {
    const sums = new Array<number>(batch.segments).fill(0);
    this.score(batch).forEach((score, r) => {
      const s = Number(batch.segment[r]);
      sums[s] = (sums[s] as number) + score * (batch.coefficient[r] as number);
    });
    return sums;
  }
}
