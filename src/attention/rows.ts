import { fail } from "../core/errors.js";
import { f32, i64, type NamedTensors } from "../onnx/tensors.js";
import type { Tensor } from "../onnx/types.js";

/**
 * Sequences laid out for one forward: T tokens, and A rows of Q queries over W keys. A query is the place of one token
 * in a row; it sees two ranges of the row's keys. The additive bias is made of these ranges (bias.ts).
 */
export interface LaidOut {
  /**
   * `input_ids` and `position_ids` [B, N], T = B*N; `attention_ranges` [A, Q, 4]: a query sees the keys [r0, r1) and
   * [r2, r3). Where rows are not just the sequences, also (keys.ts) `keys` [A, W], `queries` [A, Q], `places` [B, N].
   */
  readonly inputs: NamedTensors;
  /** Returns the index b*N+n of the token of entry `n` of sequence `i`. */
  row(i: number, n: number): number;
}

/** One input sequence. Attention is causal over it, unless entry j sees only [0, prefix[j]) and [from[j], j]. */
export interface TokenBuffer {
  readonly ids: readonly number[];
  /** Original positions (for the rotary embedding), not buffer indices. */
  readonly positions: readonly number[];
  readonly prefix?: readonly number[];
  readonly from?: readonly number[];
  /** Number of first entries (prompt and given text) that sequences of one prompt share; each sees those before it. */
  readonly start?: number;
}

/** Place of a buffer: sequence b of a batch, from entry `offset` on. */
export interface Place {
  readonly b: number;
  readonly offset: number;
}

/** Writes the ranges of a query: entry `n` of a buffer whose first key is `offset`. */
function see(ranges: Float32Array, query: number, buffer: TokenBuffer, n: number, offset = 0): void {
  const [prefix, from] = [buffer.prefix?.[n] ?? 0, buffer.from?.[n] ?? 0];
  ranges.set([offset, offset + prefix, offset + from, offset + n + 1], 4 * query);
}

/**
 * Lays buffers out as `batch` rows of `length` tokens. Padding is at the end of a row (and whole rows after the last
 * buffer), has position 0 and sees itself only, so that no query sees nothing and no real entry sees padding.
 * @param size `places` packs several buffers into one row, invisible to each other; default: one row each.
 * @throws UserError where a buffer does not fit `length` or there are more than `batch`.
 */
export function layBuffers(
  buffers: readonly TokenBuffer[],
  size: {
    readonly batch: number;
    readonly length: number;
    readonly pad: number;
    readonly places?: readonly Place[] | undefined;
  },
): LaidOut {
  const { batch, length, pad } = size;
  const places = size.places ?? buffers.map((_, b) => ({ b, offset: 0 }));
  if (places.some(({ b }) => b >= batch)) fail(`${buffers.length} sequences do not fit a batch of ${batch}`);
  const inputs = {
    input_ids: i64([batch, length], new BigInt64Array(batch * length).fill(BigInt(pad))),
    position_ids: i64([batch, length], new BigInt64Array(batch * length)),
    attention_ranges: f32([batch, length, 4], new Float32Array(batch * length * 4)),
  };
  const ranges = inputs.attention_ranges.data;
  for (let t = 0; t < batch * length; t++) ranges.set([0, 0, t % length, (t % length) + 1], 4 * t);
  buffers.forEach((buffer, i) => {
    const { b, offset } = places[i] as Place;
    if (offset + buffer.ids.length > length)
      fail(`A sequence of ${buffer.ids.length} tokens does not fit a length of ${length}`, {
        hint: "Raise the length, or shorten the prompt or the response.",
      });
    const start = b * length + offset;
    inputs.input_ids.data.set(buffer.ids.map(BigInt), start);
    inputs.position_ids.data.set(buffer.positions.map(BigInt), start);
    for (const n of buffer.ids.keys()) see(ranges, start + n, buffer, n, offset);
  });
  return {
    inputs,
    row: (i, n) => {
      const { b, offset } = places[i] as Place;
      return b * length + offset + n;
    },
  };
}

/** Tells whether no token sees a later one, where the rows are the sequences. */
export function isCausal({ inputs: { attention_ranges } }: LaidOut): boolean {
  const { data, shape } = attention_ranges as Tensor;
  const length = shape[1] as number;
  return (data as Float32Array).every((bound, i) => i % 2 === 0 || bound <= ((i >> 2) % length) + 1);
}

/** A row of queries: entries of a buffer, over the keys of its first `length` entries. */
export interface QueryRow {
  readonly buffer: TokenBuffer;
  readonly length: number;
  /** Returns the index of the key of an entry, as the graph reads it (keys.ts). */
  key(n: number): number;
  /** Entries with their tokens. */
  readonly queries: readonly (readonly [n: number, token: number])[];
}

/** Lays `tokens` tokens out in rows of Q queries over W keys. Padding is never read, but sees the first key. */
export function layRows(
  rows: readonly QueryRow[],
  { tokens, queries: most, width }: { readonly tokens: number; readonly queries: number; readonly width: number },
): NamedTensors {
  const inputs = {
    input_ids: i64([1, tokens], new BigInt64Array(tokens)),
    position_ids: i64([1, tokens], new BigInt64Array(tokens)),
    attention_ranges: f32([rows.length, most, 4], new Float32Array(rows.length * most * 4)),
    keys: i64([rows.length, width], new BigInt64Array(rows.length * width)),
    queries: i64([rows.length, most], new BigInt64Array(rows.length * most)),
    places: i64([1, tokens], new BigInt64Array(tokens)),
  };
  const ranges = inputs.attention_ranges.data;
  for (let query = 0; query < rows.length * most; query++) ranges[4 * query + 3] = 1;
  rows.forEach(({ buffer, length, key, queries }, a) => {
    for (let n = 0; n < length; n++) inputs.keys.data[a * width + n] = BigInt(key(n));
    queries.forEach(([n, token], q) => {
      const query = a * most + q;
      see(ranges, query, buffer, n);
      inputs.queries.data[query] = BigInt(token);
      inputs.places.data[token] = BigInt(query);
      inputs.input_ids.data[token] = BigInt(buffer.ids[n] as number);
      inputs.position_ids.data[token] = BigInt(buffer.positions[n] as number);
    });
  });
  return inputs;
}

/** The entries of a buffer from `first` on, whose tokens begin at `token`; those before belong to `before`. */
interface Piece {
  readonly buffer: TokenBuffer;
  readonly first: number;
  readonly token: number;
  readonly before?: Piece | undefined;
}

const tokenOf = ({ first, token, before }: Piece, n: number): number =>
  n < first && before !== undefined ? before.token + n : token + n - first;

/** Cost of gathering the keys of one row, relative to the cost of one query. */
const ROW = 8;

/**
 * Lays out causal buffers so that consecutive ones with the same start (prompt and given text) share its hidden states,
 * keys and values: T tokens without padding, each start once. An entry sees what it sees in a sequence of its own.
 */
export function shareStarts(buffers: readonly TokenBuffer[]): LaidOut {
  const pieces: Piece[] = [];
  let tokens = 0;
  const add = (buffer: TokenBuffer, first: number, before?: Piece): Piece => {
    const piece = { buffer, first, token: tokens, before };
    pieces.push(piece);
    tokens += buffer.ids.length - first;
    return piece;
  };
  let start: Piece | undefined;
  const whole = buffers.map((buffer) => {
    const length = buffer.start ?? 0;
    const head = { ids: buffer.ids.slice(0, length), positions: buffer.positions.slice(0, length) };
    if (start === undefined || !isSame(start.buffer, head)) start = add(head, 0);
    return add(buffer, length, start);
  });
  const queries = rowSize(pieces.map(({ buffer, first }) => buffer.ids.length - first));
  const rows = pieces.flatMap((piece) => {
    const { buffer, first } = piece;
    return Array.from({ length: Math.ceil((buffer.ids.length - first) / queries) }, (_, k): QueryRow => {
      const from = first + k * queries;
      const length = Math.min(from + queries, buffer.ids.length);
      const entries = Array.from({ length: length - from }, (_, i) => from + i);
      const key = (n: number): number => tokenOf(piece, n);
      return { buffer, length, key, queries: entries.map((n) => [n, key(n)]) };
    });
  });
  const width = Math.max(1, ...rows.map(({ length }) => length));
  return { inputs: layRows(rows, { tokens, queries, width }), row: (i, n) => tokenOf(whole[i] as Piece, n) };
}

/** Returns the number of queries per row that wastes least, for pieces of these lengths. */
function rowSize(lengths: readonly number[]): number {
  const cost = (size: number): number => lengths.reduce((n, length) => n + Math.ceil(length / size) * (size + ROW), 0);
  const sizes = Array.from({ length: Math.max(1, ...lengths) }, (_, i) => i + 1);
  return sizes.reduce((best, size) => (cost(size) < cost(best) ? size : best));
}

function isSame(a: TokenBuffer, b: TokenBuffer): boolean {
  const equal = (x: readonly number[], y: readonly number[]): boolean =>
    x.length === y.length && x.every((value, i) => value === y[i]);
  return equal(a.ids, b.ids) && equal(a.positions, b.positions);
}
