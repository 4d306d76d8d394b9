import { fail } from "../../core/errors.js";
import { f32, i64, type NamedTensors } from "../../onnx/tensors.js";
import { Canvas } from "../template.js";

/**
 * The additive bias of a blocked pair. Finite, because -Infinity gives NaN in a row with nothing visible, and in a
 * fused kernel's gradient (0 * -Infinity); large enough that exp() of it is exactly 0 in float32.
 */
export const BLOCKED = -1e9;

/**
 * One input sequence of the network. Attention is causal over the buffer unless `shared` and `own` are given: entry j
 * then sees the entries [0, shared[j]) and [own[j], j].
 */
export interface TokenBuffer {
  readonly ids: readonly number[];
  /** Original positions (for the rotary embedding), not buffer indices. */
  readonly positions: readonly number[];
  readonly shared?: readonly number[];
  readonly own?: readonly number[];
  /** Number of first entries (prompt and given text) that sequences of one prompt share; each sees those before it. */
  readonly start?: number;
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

/** Converts a batch to inputs of the model's graph: input_ids and position_ids [B, N], attention_bias [B, 1, N, N]. */
export function tokenInputs(batch: BufferBatch): NamedTensors {
  const { batch: rows, length } = batch;
  return {
    input_ids: i64([rows, length], batch.inputIds),
    position_ids: i64([rows, length], batch.positionIds),
    attention_bias: f32([rows, 1, length, length], batch.attentionBias),
  };
}

/** Length in tokens beyond which buckets grow coarser. */
const FINE = 256;

/**
 * Returns the smallest multiple of `step` that is at least `length`. Beyond 256 tokens the step doubles with the
 * length, so that every doubling adds the same small number of bucket lengths.
 */
export function bucketLength(length: number, step = 32): number {
  const doublings = Math.max(0, Math.ceil(Math.log2(length / FINE)));
  const unit = step * 2 ** doublings;
  return Math.max(1, Math.ceil(length / unit)) * unit;
}

/** Place of a buffer: sequence b of a batch, from entry `offset` on. */
export interface Place {
  readonly b: number;
  readonly offset: number;
}

/** Tells whether no entry of a batch sees a later one. */
export function isCausal({ batch, length, attentionBias }: BufferBatch): boolean {
  for (let row = 0; row < batch * length; row++) {
    for (let n = (row % length) + 1; n < length; n++)
      if ((attentionBias[row * length + n] as number) > BLOCKED / 2) return false;
  }
  return true;
}

/**
 * Lays buffers out as one padded batch. Padding is at the end of a row (and whole rows after the last buffer), has
 * position 0 and attends to itself only, so that no row of the attention matrix is empty and no real entry sees it.
 * @param size `places` packs several buffers into one row, invisible to each other; default: one row each.
 * @throws UserError where a buffer does not fit `length` or there are more than `batch`.
 */
export function batchBuffers(
  buffers: readonly TokenBuffer[],
  size: {
    readonly batch: number;
    readonly length: number;
    readonly pad: number;
    readonly places?: readonly Place[] | undefined;
  },
): BufferBatch {
  const { batch, length, pad } = size;
  const places = size.places ?? buffers.map((_, b) => ({ b, offset: 0 }));
  if (places.some(({ b }) => b >= batch)) fail(`${buffers.length} sequences do not fit a batch of ${batch}`);
  const inputIds = new BigInt64Array(batch * length).fill(BigInt(pad));
  const positionIds = new BigInt64Array(batch * length);
  const attentionBias = new Float32Array(batch * length * length).fill(BLOCKED);
  for (let n = 0; n < batch * length; n++) attentionBias[n * length + (n % length)] = 0;
  buffers.forEach(({ ids, positions, shared, own }, i) => {
    const { b, offset } = places[i] as Place;
    if (offset + ids.length > length) {
      fail(`A sequence of ${ids.length} tokens does not fit a length of ${length}`, {
        hint: "Raise the length, or shorten the prompt or the response.",
      });
    }
    const start = b * length + offset;
    ids.forEach((id, n) => {
      inputIds[start + n] = BigInt(id);
      positionIds[start + n] = BigInt(positions[n] as number);
      const row = (start + n) * length + offset;
      attentionBias.fill(0, row, row + (shared?.[n] ?? 0));
      attentionBias.fill(0, row + (own?.[n] ?? 0), row + n + 1);
    });
  });
  return { batch, length, inputIds, positionIds, attentionBias };
}

/**
 * Writes a buffer's tokens and positions over row `b`. The bias stays, so the new buffer needs the length and the
 * visibility of the one that the batch was built with.
 */
export function writeBuffer(target: BufferBatch, b: number, { ids, positions }: TokenBuffer): void {
  const { length, inputIds, positionIds } = target;
  ids.forEach((id, n) => {
    inputIds[b * length + n] = BigInt(id);
    positionIds[b * length + n] = BigInt(positions[n] as number);
  });
}

/** Builds a buffer entry by entry: the prompt first, at positions 0, 1, ..., then the entries of a canvas. */
export class BufferBuilder implements TokenBuffer {
  readonly ids: number[];
  readonly positions: number[];
  readonly shared: number[];
  readonly own: number[];
  readonly start: number;
  private readonly offset: number;

  constructor(
    prompt: readonly number[],
    private readonly canvas: Canvas = Canvas.FREE,
  ) {
    this.offset = prompt.length;
    this.ids = [...prompt, ...canvas.given.map(([, token]) => token)];
    this.positions = [...prompt.keys(), ...canvas.given.map(([position]) => prompt.length + position)];
    this.start = this.ids.length;
    this.shared = this.ids.map(() => 0);
    this.own = this.ids.map(() => 0);
  }

  get length(): number {
    return this.ids.length;
  }

  /**
   * Sorts the entries by position; each then sees its own block of `size` positions and the blocks before it (BD3-LM,
   * arXiv 2503.09573). @returns new index of each entry.
   */
  inBlocks(size: number): number[] {
    const { ids, positions } = this;
    const order = [...ids.keys()].sort((a, b) => (positions[a] as number) - (positions[b] as number));
    const sorted = order.map((n) => [ids[n] as number, positions[n] as number] as const);
    const blocks = sorted.map(([, position]) => Math.floor(position / size));
    sorted.forEach(([id, position], n) => {
      ids[n] = id;
      positions[n] = position;
      this.shared[n] = blocks.lastIndexOf(blocks[n] as number) + 1;
    });
    const places: number[] = [];
    order.forEach((n, place) => {
      places[n] = place;
    });
    return places;
  }

  /**
   * Appends the token of a cell (without a template: of a response position, from 0). It sees all entries before it, or
   * those of `shared` and `own` ({@link TokenBuffer}). @returns its buffer index.
   */
  push(token: number, cell: number, shared = 0, own = 0): number {
    this.positions.push(this.offset + this.canvas.position(cell));
    this.shared.push(shared);
    this.own.push(own);
    return this.ids.push(token) - 1;
  }
}
