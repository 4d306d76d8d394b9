import { f32, i64, type NamedTensors } from "../../onnx/tensors.js";
import { BLOCKED, type TokenBuffer } from "./buffer.js";

/** Sequences with the same start, laid out so that it is read once. */
export interface SharedStarts {
  /** Inputs of a graph with shared keys (nn/past.ts). */
  readonly inputs: NamedTensors;
  /** Returns the token index of entry `n` of buffer `i`. */
  flat(i: number, n: number): number;
}

/** Entries [first, ids.length) of a buffer; the first of them is the token `at`. */
interface Piece extends TokenBuffer {
  readonly first: number;
  readonly at: number;
  /** Returns the token index of an entry. */
  place(n: number): number;
}

/** Cost of gathering the keys of one attention row, relative to the cost of one query. */
const ROW = 8;

/**
 * Lays out causal buffers so that consecutive ones with the same start (prompt and given text) share its hidden states,
 * keys and values. The T tokens are concatenated without padding, with each start once. For the attention they are
 * gathered in A rows of Q queries. The W keys of a row are the entries of its buffer, in order. An entry sees the same
 * entries as in a sequence of its own, in at most two ranges of keys.
 */
export function shareStarts(buffers: readonly TokenBuffer[]): SharedStarts {
  const pieces: Piece[] = [];
  let tokens = 0;
  const add = (buffer: TokenBuffer, first: number, before?: Piece): Piece => {
    const at = tokens;
    const place = (n: number): number => (n < first && before !== undefined ? before.at + n : at + n - first);
    const piece = { ...buffer, first, at, place };
    pieces.push(piece);
    tokens += buffer.ids.length - first;
    return piece;
  };
  let start: Piece | undefined;
  const own = buffers.map((buffer) => {
    const length = buffer.start ?? 0;
    const [ids, positions] = [buffer.ids.slice(0, length), buffer.positions.slice(0, length)];
    if (start === undefined || !isSame(start.ids, ids) || !isSame(start.positions, positions))
      start = add({ ids, positions }, 0);
    return add(buffer, length, start);
  });
  return { inputs: layRows(pieces, tokens), flat: (i, n) => (own[i] as Piece).place(n) };
}

function layRows(pieces: readonly Piece[], tokens: number): NamedTensors {
  const size = rowSize(pieces.map(({ ids, first }) => ids.length - first));
  const rows = pieces.flatMap((piece) =>
    Array.from({ length: Math.ceil((piece.ids.length - piece.first) / size) }, (_, k) => {
      const from = piece.first + k * size;
      return { piece, from, end: Math.min(from + size, piece.ids.length) };
    }),
  );
  const width = Math.max(1, ...rows.map(({ end }) => end));
  const [ids, positions, places] = [0, 1, 2].map(() => new BigInt64Array(tokens)) as [
    BigInt64Array,
    ...BigInt64Array[],
  ];
  const queries = new BigInt64Array(rows.length * size);
  const keys = new BigInt64Array(rows.length * width);
  const bias = new Float32Array(rows.length * size * width).fill(BLOCKED);
  rows.forEach(({ piece, from, end }, row) => {
    for (let n = 0; n < end; n++) keys[row * width + n] = BigInt(piece.place(n));
    for (let q = 0; q < size; q++) {
      const n = from + q;
      const at = row * size + q;
      // padding is never read, but must see one key
      const [shared, own, last] = n < end ? [piece.shared?.[n] ?? 0, piece.own?.[n] ?? 0, n] : [0, 0, 0];
      bias.fill(0, at * width, at * width + shared);
      bias.fill(0, at * width + own, at * width + last + 1);
      if (n >= end) continue;
      const token = piece.place(n);
      queries[at] = BigInt(token);
      (places as BigInt64Array)[token] = BigInt(at);
      ids[token] = BigInt(piece.ids[n] as number);
      (positions as BigInt64Array)[token] = BigInt(piece.positions[n] as number);
    }
  });
  return {
    input_ids: i64([1, tokens], ids),
    position_ids: i64([1, tokens], positions as BigInt64Array),
    attention_bias: f32([rows.length, 1, size, width], bias),
    keys: i64([rows.length, width], keys),
    queries: i64([rows.length, size], queries),
    places: i64([1, tokens], places as BigInt64Array),
  };
}

/** Returns the number of queries per row that wastes least, for pieces of these lengths. */
function rowSize(lengths: readonly number[]): number {
  const cost = (size: number): number => lengths.reduce((n, length) => n + Math.ceil(length / size) * (size + ROW), 0);
  const sizes = Array.from({ length: Math.max(1, ...lengths) }, (_, i) => i + 1);
  return sizes.reduce((best, size) => (cost(size) < cost(best) ? size : best));
}

function isSame(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((x, i) => x === b[i]);
}
