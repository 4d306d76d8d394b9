import { z } from "zod";
import { BLOCKED, type TokenBuffer } from "./buffer.js";

/** The option `kv_cache` of samplers that reuse keys and values. */
export const cacheUse = z
  .union([z.boolean(), z.literal("auto")])
  .default("auto")
  .describe(
    "use keys and values of unchanged tokens again: the same responses, sooner; auto: not on a GPU by npm's binding",
  );

/**
 * One forward over the new tokens only: T tokens, concatenated without padding, by sequence. Readings of the same
 * buffer share a sequence.
 */
export interface NewTokens {
  /** A, Q, W; W is a multiple of {@link LANES}, or of a page. */
  readonly rows: readonly [sequences: number, queries: number, width: number];
  /** [T] */
  readonly inputIds: BigInt64Array;
  /** [T] original positions */
  readonly positionIds: BigInt64Array;
  readonly seen: SeenByRows | SeenInLanes;
}

/**
 * The attention has a row of Q queries for each of A sequences, and the W keys of its buffer, in order; padding is at
 * the end of both and no real token sees it.
 */
export interface SeenByRows {
  /** [A*Q] the token of each query. */
  readonly queries: BigInt64Array;
  /** [T] the query index a*Q+q of each token. */
  readonly places: BigInt64Array;
  /**
   * [A*W] source of each key: an index a*W+w of the previous forward (in its own sizes; at first {@link NOTHING_KEPT}
   * rows), or t - T for a new token, counted from the end.
   */
  readonly keys: BigInt64Array;
  /** [A*Q*W] additive, query-major. */
  readonly attentionBias: Float32Array;
}

/** All that is kept stays in place: each sequence has a lane of W keys, and its new tokens see all before them. */
export interface SeenInLanes {
  /** [A + 1] the first token of each sequence, and T. */
  readonly starts: Int32Array;
  /** [A] kept keys of each sequence, at the start of its lane. */
  readonly kept: Int32Array;
  /** [A] */
  readonly lanes: Int32Array;
}

/** Cached rows before the first forward: one, which no query sees. */
export const NOTHING_KEPT = 1;

/** Vector width of sums over W. A multiple leaves no remainder, which would be summed in another order. */
const LANES = 32;

/** A sequence to read, and its requested entries, which are computed even where they are cached. */
export interface Reading {
  readonly buffer: TokenBuffer;
  readonly rows: readonly number[];
}

/** An entry of a sequence; it sees [0, shared) and [own, itself]. */
interface Entry {
  readonly id: number;
  readonly position: number;
  readonly shared: number;
  readonly own: number;
  /** Equal for entries with the same keys and values. */
  readonly name: number;
}

/** A sequence of the next forward. */
interface Part {
  readonly entries: readonly Entry[];
  /** Names of the lists of its first 0, 1, ... entries. */
  readonly starts: readonly number[];
  /** The token index of each computed entry. */
  readonly computed: Map<number, number>;
}

/**
 * Reuses keys and values of the previous forward. The keys and values of a token depend on its id, its position, and
 * the keys and values that it sees, in order. Each such combination has a number, its `name`. An entry whose name is
 * cached is not computed again, at any index and in any sequence. So rollouts of one prompt are one sequence until they
 * differ.
 */
export class PrefixCache {
  private readonly names = new EntryNames();
  /** Index a*W+w in the last forward, by name. */
  private kept: ReadonlyMap<number, number> = new Map();
  /** The sequences whose keys the rows of the last forward hold: {@link Part.starts}. */
  private lanes: readonly (readonly number[])[] = [];
  private width = 0;

  /** @param page keys of which a row has a multiple, where what is kept may stay in place; default: it is gathered. */
  constructor(private readonly page?: number) {}

  /**
   * Lays out the next forward.
   * @param readings by a key of the caller's; entries that are in none of them are dropped from the cache.
   * @returns the tokens to compute, and the token of each requested entry.
   */
  next(readings: ReadonlyMap<number, Reading>): { tokens: NewTokens; row(key: number, n: number): number } {
    const parts = new Map<number, Part>();
    const partOf = new Map<number, Part>();
    for (const [key, { buffer, rows }] of readings) {
      const { entries, starts } = this.names.ofBuffer(buffer);
      const all = starts.at(-1) as number;
      const part = parts.get(all) ?? { entries, starts, computed: new Map() };
      parts.set(all, part);
      partOf.set(key, part);
      for (const n of rows) part.computed.set(n, 0);
    }
    const sequences = [...parts.values()];
    let count = 0;
    for (const { entries, computed } of sequences) {
      entries.forEach(({ name }, j) => {
        if (computed.has(j) || !this.kept.has(name)) computed.set(j, count++);
      });
    }
    const queries = Math.max(1, ...sequences.map(({ computed }) => computed.size));
    const inputIds = new BigInt64Array(Math.max(1, count));
    const positionIds = new BigInt64Array(inputIds.length);
    for (const { entries, computed } of sequences)
      for (const [n, t] of computed) {
        const { id, position } = entries[n] as Entry;
        inputIds[t] = BigInt(id);
        positionIds[t] = BigInt(position);
      }
    const lanes = this.page === undefined || count === 0 ? undefined : this.lanesOf(sequences);
    if (lanes === undefined) {
      const [longest, unit] = [Math.max(1, ...sequences.map(({ entries }) => entries.length)), this.page ?? LANES];
      this.width = unit * Math.ceil(longest / unit);
    }
    const { width } = this;
    const rows = [sequences.length, queries, width] as const;
    const seen = lanes === undefined ? this.byRows(sequences, rows, inputIds.length) : inLanes(sequences, lanes);
    const held = lanes === undefined ? [] : [...this.lanes];
    const places = sequences.flatMap(({ entries, starts }, a) => {
      const lane = lanes?.[a] ?? a;
      held[lane] = starts;
      return entries.map(({ name }, j) => [name, lane * width + j] as const);
    });
    this.lanes = held;
    this.kept = new Map(places);
    return {
      tokens: { rows, inputIds, positionIds, seen },
      row: (key, n) => partOf.get(key)?.computed.get(n) as number,
    };
  }

  /**
   * Finds a lane of its own for each sequence that begins with all that the sequence has kept. New tokens must follow
   * this, and see all before them. @returns undefined where a sequence has no such lane.
   */
  private lanesOf(sequences: readonly Part[]): number[] | undefined {
    const lanes: number[] = [];
    for (const { entries, starts, computed } of sequences) {
      const kept = entries.length - computed.size;
      const fits =
        entries.length <= this.width && entries.every(({ own }, j) => j < kept || (computed.has(j) && own === 0));
      const lane = this.lanes.findIndex((held, i) => held[kept] === starts[kept] && !lanes.includes(i));
      if (!fits || lane < 0) return undefined;
      lanes.push(lane);
    }
    return lanes;
  }

  private byRows(sequences: readonly Part[], [, queries, width]: NewTokens["rows"], count: number): SeenByRows {
    const tokens: SeenByRows = {
      queries: new BigInt64Array(sequences.length * queries),
      places: new BigInt64Array(count),
      keys: new BigInt64Array(sequences.length * width),
      attentionBias: new Float32Array(sequences.length * queries * width).fill(BLOCKED),
    };
    sequences.forEach(({ entries, computed }, a) => {
      let query = a * queries;
      entries.forEach(({ shared, own, name }, j) => {
        const t = computed.get(j);
        tokens.keys[a * width + j] = BigInt(t === undefined ? (this.kept.get(name) as number) : t - count);
        if (t === undefined) return;
        tokens.queries[query] = BigInt(t);
        tokens.places[t] = BigInt(query);
        tokens.attentionBias.fill(0, query * width, query * width + shared);
        tokens.attentionBias.fill(0, query * width + own, query * width + j + 1);
        query++;
      });
      // padding is never read, but must see one key
      for (; query < (a + 1) * queries; query++) tokens.attentionBias[query * width] = 0;
    });
    return tokens;
  }
}

function inLanes(sequences: readonly Part[], lanes: readonly number[]): SeenInLanes {
  const starts = new Int32Array(sequences.length + 1);
  sequences.forEach(({ computed }, a) => {
    starts[a + 1] = (starts[a] as number) + computed.size;
  });
  const kept = Int32Array.from(sequences, ({ entries, computed }) => entries.length - computed.size);
  return { starts, kept, lanes: Int32Array.from(lanes) };
}

/** Numbers pairs of numbers: equal pairs get equal numbers. */
class PairNumbers {
  private readonly known = new Map<number, number>();

  /** @returns 1, 2, ... */
  of(a: number, b: number): number {
    const key = a * 2 ** 26 + b;
    let name = this.known.get(key);
    if (name === undefined) {
      name = this.known.size + 1;
      this.known.set(key, name);
    }
    return name;
  }
}

/** Numbers the combinations that determine keys and values. A list is a pair: its prefix and its last entry. */
class EntryNames {
  private readonly tokens = new PairNumbers();
  private readonly entries = new PairNumbers();
  private readonly lists = new PairNumbers();

  /** @returns the buffer's entries, and names of the lists of its first 0, 1, ... entries. */
  ofBuffer({ ids, positions, shared, own }: TokenBuffer): { entries: Entry[]; starts: number[] } {
    const entries: Entry[] = [];
    // the list of the first n entries; 0 is the empty one
    const before = [0];
    const extended = (list: number, { name }: Entry): number => this.lists.of(list, name);
    let seen = 0;
    ids.forEach((id, j) => {
      const last = entries[j - 1];
      let [end, begin] = [shared?.[j] ?? 0, own?.[j] ?? 0];
      if (begin <= end) [end, begin] = [0, 0];
      if (begin === 0) seen = before[j] as number;
      else if (last?.own === begin && last.shared === end) seen = extended(seen, last);
      else seen = entries.slice(begin).reduce(extended, before[end] as number);
      const position = positions[j] as number;
      const entry = {
        id,
        position,
        shared: end,
        own: begin,
        name: this.entries.of(this.tokens.of(id, position), seen),
      };
      entries.push(entry);
      before.push(extended(before[j] as number, entry));
    });
    return { entries, starts: before };
  }
}
