import { mean, std } from "../../core/statistics.js";
import type { RoundInput, RoundModel } from "../../diffusion/sampler.js";
import { emptyStatistics, type RowStatistics } from "../../diffusion/samplers/unmask/round.js";
import { policyHead } from "../../diffusion/score-head.js";
import type { Engine } from "../../engine/engine.js";
import { vector } from "../../onnx/tensors.js";
import type { Tensor } from "../../onnx/types.js";

/**
 * The policy's network restricted to a few tokens of its vocabulary, with EOS. The "sampled" token of each response
 * position is set by the caller, so that all outcomes of a short canvas can be enumerated. Logits are standardised,
 * because a confident network would leave no choice. EOS can be made less likely, because a network that prefers
 * EOS everywhere would choose its slots in one order only.
 * It runs one rollout at a time, and caches the scores of each buffer.
 */
export class RestrictedModel implements RoundModel<RowStatistics> {
  /** Index into `choices` of the token at each response position. */
  forced: number[] = [];
  private readonly known = new Map<string, Float64Array[]>();

  /**
   * @param choices token ids, EOS first.
   * @param eosShift is added to the logit of EOS.
   */
  constructor(
    private readonly engine: Engine,
    private readonly choices: readonly number[],
    private readonly eosShift: number,
    private readonly promptLength: number,
  ) {}

  async forwardRound(input: RoundInput): Promise<RowStatistics> {
    const rows = input.inputs.rows?.shape[0] ?? 0;
    const logits = await this.rowLogits(input);
    const out = emptyStatistics(rows);
    logits.forEach((row, r) => {
      const allowed = normalise(row);
      const forbidden = normalise(row.map((x, c) => (c === 0 ? Number.NEGATIVE_INFINITY : x)));
      const wanted = this.forced[this.predicted(input, r)] ?? 1;
      [allowed, forbidden].forEach((logProbs, variant) => {
        // where EOS is forbidden another token replaces it: the same outcome is then enumerated twice
        const index = variant === 1 && wanted === 0 ? 1 : wanted;
        const best = logProbs.indexOf(Math.max(...logProbs));
        out.token[r * 2 + variant] = BigInt(this.choices[index] as number);
        out.logProb[r * 2 + variant] = logProbs[index] as number;
        out.argmax[r * 2 + variant] = BigInt(this.choices[best] as number);
        out.argmaxLogProb[r * 2 + variant] = logProbs[best] as number;
        if (variant === 0) out.eosIsArgmax[r] = best === 0 ? 1 : 0;
      });
      const probabilities = Array.from(allowed, Math.exp).sort((a, b) => b - a);
      out.top[r] = probabilities[0] as number;
      out.top2[r] = probabilities[1] as number;
      out.entropy[r] = -allowed.reduce((sum, x) => sum + Math.exp(x) * x, 0);
    });
    return out;
  }

  /** The response position that a row predicts: at a mask its own, else the one behind the token that it reads. */
  private predicted(input: RoundInput, r: number): number {
    const at = (name: string, n: number): number => Number(input.inputs[name]?.data[n]);
    const n = at("rows", r);
    const { mask_token_id, shifted_logits } = this.engine.model.config;
    const isMask = at("input_ids", n) === mask_token_id;
    const read = shifted_logits === true && !isMask ? n - 1 : n;
    return at("position_ids", read) - this.promptLength + (isMask ? 0 : 1);
  }

  /** Computes the standardised logits of the choices at every row. */
  private async rowLogits(input: RoundInput): Promise<Float64Array[]> {
    const data = (name: string): BigInt64Array => (input.inputs[name] as Tensor).data as BigInt64Array;
    if (input.inputs.input_ids?.shape[0] !== 1) throw new Error("one rollout at a time");
    const rowsOf = data("rows");
    const key = [data("input_ids"), data("position_ids"), rowsOf].map((a) => a.join()).join(" ");
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const count = this.choices.length;
    const terms = rowsOf.length * count;
    const { logProbs } = await this.engine.score(
      {
        inputs: {
          ...input.inputs,
          rows: vector(BigInt64Array.from({ length: terms }, (_, i) => rowsOf[Math.floor(i / count)] as bigint)),
        },
        head: policyHead,
        headInputs: {
          inverse_temperature: input.headInputs.inverse_temperature as Tensor,
          targets: vector(BigInt64Array.from({ length: terms }, (_, i) => BigInt(this.choices[i % count] as number))),
          eos_allowed: vector(new Float32Array(terms).fill(1)),
        },
        coefficient: new Float32Array(terms),
        segment: new BigInt64Array(terms),
        segments: 1,
        owner: [0],
        step: [-1],
        units: new Float32Array(1),
        recorded: undefined,
      },
      "policy",
    );
    const rows = Array.from({ length: rowsOf.length }, (_, r) => {
      const row = [...logProbs.subarray(r * count, (r + 1) * count)];
      const [middle, deviation] = [mean(row), Math.max(std(row), 1e-9)];
      return Float64Array.from(row, (x, c) => (x - middle) / deviation + (c === 0 ? this.eosShift : 0));
    });
    this.known.set(key, rows);
    return rows;
  }
}

function normalise(logits: Float64Array): Float64Array {
  const top = Math.max(...logits);
  const total = top + Math.log(logits.reduce((sum, x) => sum + Math.exp(x - top), 0));
  return logits.map((x) => x - total);
}
