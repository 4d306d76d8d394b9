import { BLOCKED, type BufferBatch, bucketLength, type TokenBuffer } from "./buffer.js";

/** A batch in which sequences with the same start read it once. */
export interface SharedStarts extends BufferBatch {
  /** W: keys of a row. */
  readonly width: number;
  /** [B*W] the row-major place b*N+n of each key. */
  readonly keys: BigInt64Array;
  /** The place of entry `n` of buffer `i`. */
  flat(i: number, n: number): number;
}

interface Start {
  readonly ids: readonly number[];
  readonly positions: readonly number[];
}

/**
 * Lays causal buffers out so that those one behind the other with the same start (prompt and given text) share its
 * hidden states, keys and values: the start takes K rows of N entries, each buffer one row for what is its own. A row's
 * keys are W = (K + 1) N: the start, aligned to the right, then the row's own entries. What an entry sees is the same as
 * in a sequence of its own, and stays at most two ranges of keys.
 * @param size of the batch: rows of buffers (missing ones are padding), and what N is a multiple of.
 */
export function shareStarts(
  buffers: readonly TokenBuffer[],
  size: { readonly batch: number; readonly lengthStep: number; readonly pad: number },
): SharedStarts {
  const startOf = (buffer: TokenBuffer): Start => {
    const length = buffer.start ?? 0;
    return { ids: buffer.ids.slice(0, length), positions: buffer.positions.slice(0, length) };
  };
  const starts: Start[] = [];
  const groupOf = buffers.map((buffer) => {
    const start = startOf(buffer);
    const last = starts.at(-1);
    if (last === undefined || !isSame(last.ids, start.ids) || !isSame(last.positions, start.positions))
      starts.push(start);
    return starts.length - 1;
  });
  const length = bucketLength(Math.max(1, ...buffers.map(({ ids, start = 0 }) => ids.length - start)), size.lengthStep);
  const each = Math.max(1, ...starts.map(({ ids }) => Math.ceil(ids.length / length)));
  const batch = starts.length * each + size.batch;
  const width = (each + 1) * length;
  const out = {
    batch,
    length,
    width,
    inputIds: new BigInt64Array(batch * length).fill(BigInt(size.pad)),
    positionIds: new BigInt64Array(batch * length),
    attentionBias: new Float32Array(batch * length * width).fill(BLOCKED),
    keys: new BigInt64Array(batch * width),
  };
  /** Writes a row: its keys, and what each of its entries sees. @param first entry of the buffer that the row begins with. */
  const writeRow = (
    row: number,
    { ids, positions, shared, own }: TokenBuffer,
    start: number,
    first: number,
    group: number,
  ): void => {
    const offset = each * length - start;
    for (let w = 0; w < width; w++) {
      const n = w - offset;
      const isStart = n >= 0 && n < start;
      out.keys[row * width + w] = BigInt(isStart ? group * each * length + n : row * length + (w % length));
    }
    for (let i = 0; i < length; i++) {
      const place = row * length + i;
      const n = first + i;
      const bias = place * width;
      // padding sees itself, so that no row of the attention is empty
      if (n >= ids.length || (first < start && n >= start)) {
        out.attentionBias[bias + each * length + i] = 0;
        continue;
      }
      out.inputIds[place] = BigInt(ids[n] as number);
      out.positionIds[place] = BigInt(positions[n] as number);
      out.attentionBias.fill(0, bias + offset, bias + offset + (shared?.[n] ?? 0));
      out.attentionBias.fill(0, bias + offset + (own?.[n] ?? 0), bias + offset + n + 1);
    }
  };
  starts.forEach((start, g) => {
    for (let k = 0; k < each; k++) writeRow(g * each + k, start, start.ids.length, k * length, g);
  });
  const rowOf = (i: number): number => starts.length * each + i;
  buffers.forEach((buffer, i) => {
    const start = buffer.start ?? 0;
    writeRow(rowOf(i), buffer, start, start, groupOf[i] as number);
  });
  const nothing: TokenBuffer = { ids: [], positions: [] };
  for (let i = buffers.length; i < size.batch; i++) writeRow(rowOf(i), nothing, 0, 0, 0);
  return {
    ...out,
    flat: (i, n) => {
      const start = buffers[i]?.start ?? 0;
      return n < start ? (groupOf[i] as number) * each * length + n : rowOf(i) * length + n - start;
    },
  };
}

function isSame(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((x, i) => x === b[i]);
}
