import { UserError } from "../core/errors.js";

/**
 * The additive bias of a blocked pair. Finite, because -Infinity turns a row with nothing visible into NaN and
 * 0 * -Infinity in a fused kernel's gradient into NaN; large enough that exp() of it is exactly 0 in float32.
 */
export const BLOCKED = -1e9;

/**
 * One sequence as the network reads it. Attention is causal over the buffer unless `shared` and `own` say otherwise:
 * entry j then sees the entries [0, shared[j]) and [own[j], j].
 */
export interface TokenBuffer {
  readonly ids: readonly number[];
  /** Original positions (the rotary embedding's), not buffer indices. */
  readonly positions: readonly number[];
  readonly shared?: readonly number[];
  readonly own?: readonly number[];
}

/** B buffers of N entries, padded at the end. */
export interface BufferBatch {
  readonly batch: number;
  readonly length: number;
  /** [B*N] */
  readonly inputIds: BigInt64Array;
  /** [B*N] */
  readonly positionIds: BigInt64Array;
  /** [B*N*N] */
  readonly attentionBias: Float32Array;
}

/** Tokens beyond which buckets grow coarser. */
const FINE = 256;

/**
 * The smallest multiple of `step` that holds `length`. Beyond 256 tokens the step doubles wherever the length does, so
 * that every doubling adds the same few lengths.
 */
export function bucketLength(length: number, step = 32): number {
  const doublings = Math.max(0, Math.ceil(Math.log2(length / FINE)));
  const unit = step * 2 ** doublings;
  return Math.max(1, Math.ceil(length / unit)) * unit;
}

/** Whether no entry of a batch sees one behind it. */
export function isCausal({ batch, length, attentionBias }: BufferBatch): boolean {
  for (let row = 0; row < batch * length; row++) {
    for (let n = (row % length) + 1; n < length; n++)
      if ((attentionBias[row * length + n] as number) > BLOCKED / 2) return false;
  }
  return true;
}

/**
 * Lays buffers out as one padded batch. Padding is at the end of a row (and whole rows after the last buffer), has
 * position 0 and attends to itself only, so that no row of the attention matrix is empty and nothing real sees it.
 * @throws UserError where a buffer does not fit `length` or there are more than `batch`.
 */
export function batchBuffers(
  buffers: readonly TokenBuffer[],
  size: { readonly batch: number; readonly length: number; readonly pad: number },
): BufferBatch {
  const { batch, length, pad } = size;
  if (buffers.length > batch) throw new UserError(`${buffers.length} sequences do not fit a batch of ${batch}`);
  const inputIds = new BigInt64Array(batch * length).fill(BigInt(pad));
  const positionIds = new BigInt64Array(batch * length);
  const attentionBias = new Float32Array(batch * length * length).fill(BLOCKED);
  const out: BufferBatch = { batch, length, inputIds, positionIds, attentionBias };
  for (let b = 0; b < batch; b++) {
    const buffer = buffers[b];
    if (buffer !== undefined) writeBuffer(out, b, buffer);
    for (let n = 0; n < length; n++) {
      const row = (b * length + n) * length;
      if (buffer !== undefined && n < buffer.ids.length) {
        attentionBias.fill(0, row, row + (buffer.shared?.[n] ?? 0));
        attentionBias.fill(0, row + (buffer.own?.[n] ?? 0), row + n + 1);
      } else {
        attentionBias[row + n] = 0;
      }
    }
  }
  return out;
}

/**
 * Writes a buffer's tokens and positions over row `b`; the bias stays, so the new buffer must be as long and as visible
 * as the one that the batch was built with.
 */
export function writeBuffer(target: BufferBatch, b: number, buffer: TokenBuffer): void {
  const { length, inputIds, positionIds } = target;
  if (buffer.ids.length > length) {
    throw new UserError(`A sequence of ${buffer.ids.length} tokens does not fit a length of ${length}`, {
      hint: "Raise the length, or shorten the prompt or the response.",
    });
  }
  for (let n = 0; n < buffer.ids.length; n++) {
    inputIds[b * length + n] = BigInt(buffer.ids[n] as number);
    positionIds[b * length + n] = BigInt(buffer.positions[n] as number);
  }
}

/** Collects a buffer entry by entry: the prompt first, at positions 0, 1, ... */
export class BufferBuilder implements TokenBuffer {
  readonly ids: number[];
  readonly positions: number[];
  private readonly offset: number;

  constructor(prompt: readonly number[]) {
    this.ids = [...prompt];
    this.positions = prompt.map((_, i) => i);
    this.offset = prompt.length;
  }

  get length(): number {
    return this.ids.length;
  }

  /** Appends the token of a response position (0-based in the response). @returns its buffer index. */
  push(token: number, responsePosition: number): number {
    this.positions.push(this.offset + responsePosition);
    return this.ids.push(token) - 1;
  }
}
