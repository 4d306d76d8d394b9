import { Rng } from "../../../../src/core/rng.js";
import type { Batch } from "../../../../src/diffusion/layout/batch.js";
import type { StepLayout } from "../../../../src/diffusion/layout/scorings.js";
import type { RoundInput, RoundModel } from "../../../../src/diffusion/sampler.js";
import type { UnmaskOptions } from "../../../../src/diffusion/samplers/unmask/options.js";
import type { RowStatistics } from "../../../../src/diffusion/samplers/unmask/round.js";
import type { UnmaskTrajectory } from "../../../../src/diffusion/samplers/unmask/trajectory.js";
import type { TemplateStart } from "../../../../src/diffusion/template.js";
import type { SampledModel, TokenIds } from "../../../../src/diffusion/tokens.js";
import type { Tensor } from "../../../../src/onnx/types.js";
import { type TokenArrays, tokensOf } from "../../../support/token-batch.js";

const WIDTH = 6;
const LAYERS = 2;
const MAX_POSITIONS = 64;

/** Special tokens; 0 and 1 are ordinary, so the vocabulary has five tokens. */
export const TOKENS: TokenIds = { eos: 2, mask: 3, pad: 4 };
export const VOCAB = 5;
export const MODEL: SampledModel = { tokens: TOKENS, vocabulary: VOCAB, attention: "causal" };

export const SMALL: UnmaskOptions = {
  ...{ rounds: 2, slotSize: 2, responseLength: 4, promptLength: 3, temperature: 1, model: MODEL },
  ...{ order: "confidence", slotFill: "parallel", canvasPerPrompt: null, kvCache: "auto" },
};

/** A template of two blanks between given tokens. */
export const EXAMPLE: TemplateStart = {
  prompt: [1, 0],
  parts: [[1, 1], { name: "a", needs: 2 }, [0, 1, 0], { name: "b", needs: 2 }, [1]],
};

/** Allocates statistics of `rows` rows. */
function emptyStatistics(rows: number): RowStatistics & Record<"token" | "argmax", BigInt64Array> {
  return {
    token: new BigInt64Array(rows * 2),
    logProb: new Float32Array(rows * 2),
    argmax: new BigInt64Array(rows * 2),
    argmaxLogProb: new Float32Array(rows * 2),
    top: new Float32Array(rows),
    top2: new Float32Array(rows),
    entropy: new Float32Array(rows),
    eosIsArgmax: new Uint8Array(rows),
    candidateLogProb: new Float32Array(rows),
  };
}

/** log pi of the whole trajectory in nats, as recorded. */
export const totalLogProb = ({ rounds }: UnmaskTrajectory): number =>
  rounds.flatMap(({ logProbs }) => logProbs).reduce((sum, logProb) => sum + logProb, 0);

/** Makes the layout of a batch whose ratios are of tokens. */
export const layout = (batch: number, rest: Partial<StepLayout> = {}): StepLayout => ({
  ...{ batch, lengthStep: 1, level: "token" },
  ...rest,
});

/**
 * A random two-layer attention network in float64. Its logits depend on all entries that a row sees by the bias and,
 * through the second layer, on the entries that those see. A wrong bias, position or order changes them.
 */
export class FakeNetwork implements RoundModel<RowStatistics> {
  readonly parameters: Float64Array;
  forwards = 0;

  constructor(seed: number) {
    const rng = Rng.named(seed, "fake network");
    const size = (VOCAB + MAX_POSITIONS) * WIDTH + LAYERS * 3 * WIDTH * WIDTH + WIDTH * VOCAB;
    this.parameters = Float64Array.from({ length: size }, () => rng.normal());
  }

  /** Computes one row's log-softmax at `temperature` over {0, 1, EOS}; a forbidden EOS gets -Infinity. */
  logProbs(hidden: Float64Array, temperature: number, eosAllowed: boolean): number[] {
    const head = this.parameters.length - WIDTH * VOCAB;
    const logits = Array.from({ length: VOCAB }, (_, token) => {
      const blocked = token === TOKENS.mask || token === TOKENS.pad || (token === TOKENS.eos && !eosAllowed);
      if (blocked) return Number.NEGATIVE_INFINITY;
      let sum = 0;
      for (let d = 0; d < WIDTH; d++)
        sum += (hidden[d] as number) * (this.parameters[head + token * WIDTH + d] as number);
      return sum / temperature;
    });
    const top = Math.max(...logits);
    const total = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - top), 0)) + top;
    return logits.map((logit) => logit - total);
  }

  /** Computes the hidden states of buffer `b`, one array per entry. */
  hidden(input: TokenArrays, b: number): Float64Array[] {
    const { length } = input;
    let states = Array.from({ length }, (_, n) => {
      const token = Number(input.inputIds[b * length + n]);
      const position = Number(input.positionIds[b * length + n]);
      return Float64Array.from({ length: WIDTH }, (_, d) => {
        const embedded = this.parameters[token * WIDTH + d] as number;
        return embedded + (this.parameters[(VOCAB + position) * WIDTH + d] as number);
      });
    });
    // plain loops for speed: tests that enumerate all outcomes spend their time here
    for (let layer = 0; layer < LAYERS; layer++) {
      const [queries, keys, values] = [0, 1, 2].map((i) =>
        states.map((state) => this.project(state, layer * 3 + i)),
      ) as [Float64Array[], Float64Array[], Float64Array[]];
      const weights = new Float64Array(length);
      states = states.map((state, n) => {
        const query = queries[n] as Float64Array;
        let top = Number.NEGATIVE_INFINITY;
        for (let m = 0; m < length; m++) {
          const key = keys[m] as Float64Array;
          let dot = 0;
          for (let d = 0; d < WIDTH; d++) dot += (query[d] as number) * (key[d] as number);
          weights[m] = dot / WIDTH + (input.attentionBias[(b * length + n) * length + m] as number);
          top = Math.max(top, weights[m] as number);
        }
        let total = 0;
        const mixed = new Float64Array(WIDTH);
        for (let m = 0; m < length; m++) {
          const weight = Math.exp((weights[m] as number) - top);
          if (weight === 0) continue;
          total += weight;
          const value = values[m] as Float64Array;
          for (let d = 0; d < WIDTH; d++) mixed[d] = (mixed[d] as number) + weight * (value[d] as number);
        }
        return state.map((x, d) => Math.tanh(x + (mixed[d] as number) / total));
      });
    }
    return states;
  }

  private project(state: Float64Array, matrix: number): Float64Array {
    const base = (VOCAB + MAX_POSITIONS) * WIDTH + matrix * WIDTH * WIDTH;
    const projected = new Float64Array(WIDTH);
    for (let i = 0; i < WIDTH; i++) {
      let sum = 0;
      for (let d = 0; d < WIDTH; d++) sum += (state[d] as number) * (this.parameters[base + i * WIDTH + d] as number);
      projected[i] = sum / 2;
    }
    return projected;
  }

  async forwardRound(round: RoundInput): Promise<RowStatistics> {
    if (round.again !== true) this.forwards++;
    const input = tokensOf(round);
    const rows = input.rows.length;
    const candidates = round.headInputs.candidates as Tensor;
    const width = candidates.shape[1] as number;
    const out = { ...emptyStatistics(rows), candidateLogProb: new Float32Array(rows * width) };
    const states = Array.from({ length: input.batch }, (_, b) => this.hidden(input, b));
    input.rows.forEach((flat, r) => {
      const hidden = states[Math.floor(Number(flat) / input.length)]?.[Number(flat) % input.length] as Float64Array;
      for (const variant of [0, 1]) {
        const logProbs = this.logProbs(hidden, input.temperature, variant === 0);
        const probabilities = logProbs.map(Math.exp);
        let cumulative = 0;
        let token = 1;
        for (let v = 0; v < VOCAB; v++) {
          cumulative += probabilities[v] as number;
          if ((input.uniform[r] as number) >= cumulative) continue;
          token = v;
          break;
        }
        const best = logProbs.indexOf(Math.max(...logProbs));
        out.token[r * 2 + variant] = BigInt(token);
        out.logProb[r * 2 + variant] = logProbs[token] as number;
        out.argmax[r * 2 + variant] = BigInt(best);
        out.argmaxLogProb[r * 2 + variant] = logProbs[best] as number;
        if (variant === 1) continue;
        for (let i = r * width; i < (r + 1) * width; i++)
          out.candidateLogProb[i] = logProbs[Number(candidates.data[i])] as number;
        const sorted = [...probabilities].sort((a, b) => b - a);
        out.top[r] = sorted[0] as number;
        out.top2[r] = sorted[1] as number;
        out.entropy[r] = probabilities.reduce((sum, p) => (p > 0 ? sum - p * Math.log(p) : sum), 0);
        out.eosIsArgmax[r] = best === TOKENS.eos ? 1 : 0;
      }
    });
    return out;
  }

  /** Computes the log-probabilities [R] of a batch's terms; 0 where there is no term. */
  score(batch: Batch, eosAllowed = batch.headInputs.eos_allowed?.data as Float32Array): Float64Array {
    const input = tokensOf(batch);
    const states = Array.from({ length: input.batch }, (_, b) => this.hidden(input, b));
    return Float64Array.from(input.rows, (flat, term) => {
      if (batch.coefficient[term] === 0) return 0;
      const hidden = states[Math.floor(Number(flat) / input.length)]?.[Number(flat) % input.length] as Float64Array;
      const logProbs = this.logProbs(hidden, input.temperature, eosAllowed[term] === 1);
      const { open, allowed } = batch.headInputs;
      const logProb = logProbs[Number(input.targets[term])] as number;
      if (open === undefined || allowed === undefined || open.data[term] === 1) return logProb;
      const width = allowed.shape[1] as number;
      const set = new Set([...(allowed.data as BigInt64Array).slice(term * width, (term + 1) * width)].map(Number));
      return logProb - Math.log([...set].reduce((sum, token) => sum + Math.exp(logProbs[token] as number), 0));
    });
  }

  /** Computes the sums [S] of the segments as the graph does. */
  values(batch: Batch, eosAllowed?: Float32Array): number[] {
    const sums = new Array<number>(batch.segments).fill(0);
    this.score(batch, eosAllowed).forEach((score, r) => {
      const s = Number(batch.segment[r]);
      sums[s] = (sums[s] as number) + score * (batch.coefficient[r] as number);
    });
    return sums;
  }
}

/** Makes the random streams of `count` rollouts. */
export const streams = (count: number, seed: number): Rng[] =>
  Array.from({ length: count }, (_, i) => Rng.named(seed, `rollout ${i}`));

/** Draws prompts of different lengths up to `longest`. */
export function prompts(count: number, longest: number, seed: number): number[][] {
  const rng = Rng.named(seed, "prompts");
  return Array.from({ length: count }, () => Array.from({ length: 1 + rng.int(longest) }, () => rng.int(2)));
}

/** Computes log p of the terms with a weight, in order. */
export function scored(network: FakeNetwork, batch: Batch): number[] {
  const scores = network.score(batch);
  return [...batch.coefficient].flatMap((c, r) => (c === 0 ? [] : [scores[r] as number]));
}

/** Lists the positions of a batch's terms, relative to the end of the prompt of its only sequence. */
export function readAt(batch: Batch, prompt: number): number[] {
  const { rows, positionIds } = tokensOf(batch);
  return [...batch.coefficient].flatMap((c, r) => (c === 0 ? [] : [Number(positionIds[Number(rows[r])]) - prompt]));
}
