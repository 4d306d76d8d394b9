import { UserError } from "../core/errors.js";
import type { Rng } from "../core/rng.js";
import { type BufferBatch, BufferBuilder, batchBuffers, type TokenBuffer } from "./buffer.js";
import type { TokenIds } from "./policy.js";

/** A supervised example: token ids, the response without EOS. */
export interface SupervisedExample {
  readonly prompt: readonly number[];
  readonly response: readonly number[];
}

export interface CorruptOptions {
  readonly tokens: TokenIds;
  readonly slotSize: number;
  /** L: canvas, a multiple of `slotSize`; the response and its EOS must fit. */
  readonly responseLength: number;
  /** N: prompt + L must fit. */
  readonly length: number;
  /** B; default: the number of examples. Rows behind them are padding without weight. */
  readonly batch?: number;
  /** Weight of the autoregressive loss inside clean slots, against the masked loss. */
  readonly arWeight: number;
  /** Weight of the EOS tokens behind the first one. */
  readonly eosFillWeight: number;
  /**
   * Always mask the slots that hold EOS, as in a rollout, where no EOS is ever in the context. Their loss then has the
   * weight of inclusion probability 1 instead of p.
   */
  readonly maskEosSlots: boolean;
}

/** A batch for the supervised loss: sum over terms of weights * cross-entropy(logits[rows], targets). */
export interface SupervisedBatch extends BufferBatch {
  /** [B*L] flat index b*N+n of the row that predicts the target; 0 where there is none. */
  readonly rows: BigInt64Array;
  /** [B*L] the canvas's own tokens, also where the weight is 0; EOS in padding. */
  readonly targets: BigInt64Array;
  /** [B*L] 0 where there is no term. */
  readonly weights: Float32Array;
  /** [B*L] 1 where the target was masked, 0 where it was clean (for metrics). */
  readonly masked: Uint8Array;
}

/** A response with some of its slots masked, as the network reads it. */
export interface MaskedSlots {
  readonly buffer: TokenBuffer;
  /** Buffer index of every response position. */
  readonly indexOf: Int32Array;
}

/**
 * Masks a set of slots: prompt | clean slots in `cleanOrder` | masked slots in original order, with original positions.
 * The last slot may be partial.
 * @param masked one flag a slot.
 * @param cleanOrder the clean slots in the order of their "commitment".
 */
export function maskSlots(
  example: SupervisedExample,
  slotSize: number,
  masked: readonly boolean[],
  cleanOrder: readonly number[],
  mask: number,
): MaskedSlots {
  const { prompt, response } = example;
  const buffer = new BufferBuilder(prompt);
  const indexOf = new Int32Array(response.length);
  const push = (slot: number): void => {
    const end = Math.min((slot + 1) * slotSize, response.length);
    for (let i = slot * slotSize; i < end; i++) {
      indexOf[i] = buffer.push(masked[slot] ? mask : (response[i] as number), i);
    }
  };
  cleanOrder.forEach(push);
  masked.forEach((isMasked, slot) => {
    if (isMasked) push(slot);
  });
  return { buffer, indexOf };
}

/**
 * Mask fractions of a batch, stratified: one in each of `count` equal parts of (0, 1), in random order, so that every
 * batch holds light and heavy corruption. p = (1 - 1e-3) t + 1e-3 (ReFusion's floor: 1/p stays below 1000).
 */
export function stratifiedFractions(count: number, rng: Rng): number[] {
  const strata = rng.shuffle(Array.from({ length: count }, (_, i) => i));
  return strata.map((stratum) => ((1 - 1e-3) * (stratum + rng.uniform())) / count + 1e-3);
}

/**
 * ReFusion's supervised batch (arXiv 2512.13586, `forward_process`): each slot is masked with the example's probability
 * p; a masked position predicts its own token, a clean one its successor inside the slot (so a clean slot's first token
 * has no term). With w = 1, or `eosFillWeight` behind the first EOS:
 *   masked  w / (p * W_b) / B, W_b the sum of w over the example's canvas (the paper's answer length, EOS fill discounted)
 *   clean   arWeight * w / (sum of w over the batch's clean terms)
 * @throws UserError where an example does not fit.
 */
export function corruptBatch(
  examples: readonly SupervisedExample[],
  options: CorruptOptions,
  rng: Rng,
): SupervisedBatch {
  const { tokens, slotSize, responseLength, length } = options;
  if (responseLength % slotSize !== 0) {
    throw new UserError(`response_length ${responseLength} is not a multiple of slot_size ${slotSize}`);
  }
  const batch = options.batch ?? examples.length;
  const rows = new BigInt64Array(batch * responseLength);
  const targets = new BigInt64Array(batch * responseLength).fill(BigInt(tokens.eos));
  const weights = new Float32Array(batch * responseLength);
  const maskedAt = new Uint8Array(batch * responseLength);
  const fractions = stratifiedFractions(examples.length, rng);
  const clean: { term: number; weight: number }[] = [];
  const buffers = examples.map((example, b) => {
    const canvas = fillCanvas(example, options, b);
    const tokenWeight = (i: number): number => (i > example.response.length ? options.eosFillWeight : 1);
    const fraction = fractions[b] as number;
    const slots = responseLength / slotSize;
    const inclusion = Array.from({ length: slots }, (_, slot) => {
      const holdsEos = (slot + 1) * slotSize > example.response.length;
      return options.maskEosSlots && holdsEos ? 1 : fraction;
    });
    const masked = inclusion.map((probability) => rng.uniform() < probability);
    const cleanOrder = rng.shuffle(masked.flatMap((isMasked, slot) => (isMasked ? [] : [slot])));
    const { buffer, indexOf } = maskSlots(canvas, slotSize, masked, cleanOrder, tokens.mask);
    let answer = 0;
    for (let i = 0; i < responseLength; i++) answer += tokenWeight(i);
    for (let i = 0; i < responseLength; i++) {
      const term = b * responseLength + i;
      const slot = Math.floor(i / slotSize);
      targets[term] = BigInt(canvas.response[i] as number);
      if (masked[slot]) {
        maskedAt[term] = 1;
        rows[term] = BigInt(b * length + (indexOf[i] as number));
        weights[term] = tokenWeight(i) / ((inclusion[slot] as number) * answer * examples.length);
      } else if (i % slotSize > 0) {
        rows[term] = BigInt(b * length + (indexOf[i - 1] as number));
        clean.push({ term, weight: tokenWeight(i) });
      }
    }
    return buffer;
  });
  const total = clean.reduce((sum, { weight }) => sum + weight, 0);
  for (const { term, weight } of clean) weights[term] = total > 0 ? (options.arWeight * weight) / total : 0;
  return { ...batchBuffers(buffers, { batch, length, pad: tokens.pad }), rows, targets, weights, masked: maskedAt };
}

/** The response with its EOS, filled with EOS to the canvas. */
function fillCanvas(example: SupervisedExample, options: CorruptOptions, b: number): SupervisedExample {
  const { responseLength, length, tokens } = options;
  const { prompt, response } = example;
  if (response.length + 1 > responseLength) {
    throw new UserError(
      `Example ${b}: a response of ${response.length} tokens and EOS do not fit response_length ${responseLength}`,
      { hint: "Raise response_length, or leave the example out: a truncated response teaches a wrong end." },
    );
  }
  if (prompt.length + responseLength > length) {
    throw new UserError(`Example ${b}: prompt ${prompt.length} + canvas ${responseLength} exceed the length ${length}`);
  }
  const fill = Array.from({ length: responseLength - response.length }, () => tokens.eos);
  return { prompt, response: [...response, ...fill] };
}
