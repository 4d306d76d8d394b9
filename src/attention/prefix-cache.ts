import { i32, i64, type NamedTensors } from "../onnx/tensors.js";
import { type LaidOut, layRows, type TokenBuffer } from "./rows.js";

/** Cached rows before the first forward: one, which no query sees. */
export const NOTHING_KEPT = 1;

/** Vector width of sums over W. A multiple leaves no remainder, which would be summed in another order. */
const VECTOR = 32;

/** A sequence to read, and its requested entries, which are computed even where they are cached. */
export interface Reading {
  readonly buffer: TokenBuffer;
  readonly rows: readonly number[];
}

/** A sequence of the next forward. */
interface Sequence extends Numbered {
  readonly buffer: TokenBuffer;
  /** The token of each computed entry. */
  readonly computed: Map<number, number>;
}

/**
 * Reuses keys and values of the previous forward. The keys and values of a token depend on its id, its position, and
 * the keys and values that it sees, in order; each such combination has a number. An entry whose number is cached is
 * not computed again, at any index and in any sequence. So rollouts of one prompt are one sequence until they differ.
 */
export class PrefixCache {
  private readonly pairs = new PairNumbers();
  /** Index a*W+w in the last forward of each entry's keys, by the entry's number. */
  private kept: ReadonlyMap<number, number> = new Map();
  /** The sequences whose keys the rows of the last forward hold: {@link Numbered.starts}. */
  private lanes: readonly (readonly number[])[] = [];
  private width = 0;

  /** @param page keys of which a row has a multiple, where what is kept may stay in place; default: it is gathered. */
  constructor(private readonly page?: number) {}

  /**
   * Lays out the next forward, over the new tokens only; equal buffers are one sequence.
   * @param readings by a key of the caller's, as in `row`; entries in none of them are dropped from the cache.
   */
  next(readings: ReadonlyMap<number, Reading>): LaidOut {
    const byWhole = new Map<number, Sequence>();
    const sequenceOf = new Map<number, Sequence>();
    for (const [key, { buffer, rows }] of readings) {
      const numbered = numberEntries(buffer, this.pairs);
      const whole = numbered.starts.at(-1) as number;
      const sequence = byWhole.get(whole) ?? { buffer, ...numbered, computed: new Map() };
      byWhole.set(whole, sequence);
      sequenceOf.set(key, sequence);
      for (const n of rows) sequence.computed.set(n, 0);
    }
    const sequences = [...byWhole.values()];
    let count = 0;
    for (const { numbers, computed } of sequences)
      numbers.forEach((number, n) => {
        if (computed.has(n) || !this.kept.has(number)) computed.set(n, count++);
      });
    const lanes = this.page === undefined || count === 0 ? undefined : this.findLanes(sequences);
    const queries = Math.max(1, ...sequences.map(({ computed }) => computed.size));
    const inputs =
      lanes === undefined
        ? this.gathered(sequences, Math.max(1, count), queries)
        : inLanes(sequences, lanes, count, [queries, this.width]);
    const held = lanes === undefined ? [] : [...this.lanes];
    this.kept = new Map(
      sequences.flatMap(({ numbers, starts }, a) => {
        const lane = lanes?.[a] ?? a;
        held[lane] = starts;
        return numbers.map((number, n) => [number, lane * this.width + n] as const);
      }),
    );
    this.lanes = held;
    return { inputs, row: (key, n) => sequenceOf.get(key)?.computed.get(n) as number };
  }

  /**
   * Finds a lane of its own for each sequence that begins with all that the sequence has kept. New tokens must follow
   * this, and see all before them. @returns undefined where a sequence has no such lane.
   */
  private findLanes(sequences: readonly Sequence[]): number[] | undefined {
    const lanes: number[] = [];
    for (const { buffer, starts, numbers, computed } of sequences) {
      const kept = numbers.length - computed.size;
      const fits =
        numbers.length <= this.width && numbers.every((_, n) => n < kept || (computed.has(n) && seesAll(buffer, n)));
      const lane = this.lanes.findIndex((held, i) => held[kept] === starts[kept] && !lanes.includes(i));
      if (!fits || lane < 0) return undefined;
      lanes.push(lane);
    }
    return lanes;
  }

  /** Gathers what is kept and new in rows: a key is an index of the last forward, or t - T for a new token t. */
  private gathered(sequences: readonly Sequence[], tokens: number, queries: number): NamedTensors {
    const [longest, unit] = [Math.max(1, ...sequences.map(({ numbers }) => numbers.length)), this.page ?? VECTOR];
    this.width = unit * Math.ceil(longest / unit);
    const rows = sequences.map(({ buffer, numbers, computed }) => ({
      buffer,
      length: numbers.length,
      key: (n: number): number => {
        const token = computed.get(n);
        return token === undefined ? (this.kept.get(numbers[n] as number) as number) : token - tokens;
      },
      queries: inOrder(computed),
    }));
    return layRows(rows, { tokens, queries, width: this.width });
  }
}

/** Lays out new tokens whose sequences keep their keys in place: each has a lane of W keys, and sees all before it. */
function inLanes(
  sequences: readonly Sequence[],
  lanes: readonly number[],
  tokens: number,
  longest: readonly [queries: number, width: number],
): NamedTensors {
  const [ids, positions] = [new BigInt64Array(tokens), new BigInt64Array(tokens)];
  const starts = new Int32Array(sequences.length + 1);
  sequences.forEach(({ buffer, computed }, a) => {
    starts[a + 1] = (starts[a] as number) + computed.size;
    for (const [n, token] of computed) {
      ids[token] = BigInt(buffer.ids[n] as number);
      positions[token] = BigInt(buffer.positions[n] as number);
    }
  });
  const kept = Int32Array.from(sequences, ({ numbers, computed }) => numbers.length - computed.size);
  return {
    input_ids: i64([1, tokens], ids),
    position_ids: i64([1, tokens], positions),
    starts: i32([starts.length], starts),
    kept: i32([kept.length], kept),
    lanes: i32([lanes.length, 1], Int32Array.from(lanes)),
    longest: i32([2], Int32Array.from(longest)),
  };
}

const inOrder = (computed: ReadonlyMap<number, number>): [number, number][] => [...computed].sort(([a], [b]) => a - b);

const seesAll = ({ prefix, from }: TokenBuffer, n: number): boolean => (from?.[n] ?? 0) <= (prefix?.[n] ?? 0);

/** The entries of a buffer by numbers that are equal where the keys and values are, and the lists of its first n. */
interface Numbered {
  readonly numbers: readonly number[];
  /** Numbers of the lists of its first 0, 1, ... entries. */
  readonly starts: readonly number[];
}

/** Numbers entries: a token is a pair of id and position, an entry of token and seen list, a list of list and entry. */
function numberEntries(buffer: TokenBuffer, pairs: PairNumbers): Numbered {
  const { ids, positions, prefix, from } = buffer;
  const extended = (list: number, entry: number): number => pairs.of(list, entry);
  const numbers: number[] = [];
  const starts = [0];
  let seen = 0;
  ids.forEach((id, n) => {
    const last = numbers.at(-1);
    const isNext = last !== undefined && from?.[n] === from?.[n - 1] && prefix?.[n] === prefix?.[n - 1];
    if (seesAll(buffer, n)) seen = starts[n] as number;
    else if (isNext) seen = extended(seen, last);
    else seen = numbers.slice(from?.[n]).reduce(extended, starts[prefix?.[n] ?? 0] as number);
    const entry = pairs.of(pairs.of(id, positions[n] as number), seen);
    numbers.push(entry);
    starts.push(extended(starts[n] as number, entry));
  });
  return { numbers, starts };
}

/** Numbers pairs of numbers 1, 2, ...: equal pairs get equal numbers. */
class PairNumbers {
  private readonly numbers = new Map<number, number>();

  of(a: number, b: number): number {
    const key = a * 2 ** 26 + b;
    const number = this.numbers.get(key) ?? this.numbers.size + 1;
    this.numbers.set(key, number);
    return number;
  }
}
