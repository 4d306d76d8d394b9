import { z } from "zod";
import { BLOCKED, type TokenBuffer } from "./buffer.js";

/** The key `kv_cache` of samplers that use keys and values again. */
export const cacheUse = z
  .union([z.boolean(), z.literal("auto")])
  .default("auto")
  .describe(
    "use keys and values of unchanged tokens again: the same responses, sooner; auto: not on a GPU by npm's binding",
  );

/**
 * One forward over what is new: B sequences of N new tokens, and the W keys of each one's buffer, in its order. Padding
 * is at the end of both and seen by nothing real. Readings of one and the same buffer share a sequence.
 */
export interface NewTokens {
  /** B */
  readonly batch: number;
  /** N */
  readonly length: number;
  /** W, a multiple of {@link LANES} */
  readonly width: number;
  /** [B*N] */
  readonly inputIds: BigInt64Array;
  /** [B*N] original positions */
  readonly positionIds: BigInt64Array;
  /**
   * [B*W] where a key is: an index b*W+w of the forward before (its own sizes; {@link NOTHING_KEPT} rows behind none), or
   * b*N+n - B*N for a new token, counted from the end.
   */
  readonly keys: BigInt64Array;
  /** [B*N*W] additive, query-major. */
  readonly attentionBias: Float32Array;
}

/** Rows that a first forward finds kept: one, which nothing sees. */
export const NOTHING_KEPT = 1;

/** Sums over W run in vectors of at most so many numbers: a multiple leaves no rest, which would be added up apart. */
const LANES = 32;

/** A sequence to read, and the entries of it that are asked for: they are computed, kept or not. */
export interface Reading {
  readonly buffer: TokenBuffer;
  readonly rows: readonly number[];
}

/** An entry of a sequence: what it sees is [0, shared) and [own, itself]. */
interface Entry {
  readonly id: number;
  readonly position: number;
  readonly shared: number;
  readonly own: number;
  /** The same number for entries with the same keys and values. */
  readonly name: number;
}

/** A sequence of the next forward. */
interface Part {
  readonly entries: readonly Entry[];
  /** Index of a computed entry among the computed ones. */
  readonly computed: Map<number, number>;
}

/**
 * Keys and values of the previous forward that can be used again. Those of a token follow from its id, its position and
 * the keys and values that it sees, in their order; so each such combination has a name, and what has the name of
 * something kept is not computed again, wherever it stands and in whichever sequence. Rollouts of one prompt are one
 * sequence until they differ.
 */
export class PrefixCache {
  private readonly names = new Names();
  /** Index b*W+w of the last forward, by name. */
  private kept: ReadonlyMap<number, number> = new Map();

  /**
   * Lays out the next forward.
   * @param readings by a key of the caller's; what no sequence of this forward holds is forgotten.
   * @returns what to compute, and where each entry that was asked for is.
   */
  next(
    readings: ReadonlyMap<number, Reading>,
    pad: number,
  ): { tokens: NewTokens; row(key: number, n: number): number } {
    const parts = new Map<number, Part>();
    const partOf = new Map<number, number>();
    for (const [key, { buffer, rows }] of readings) {
      const { entries, all } = this.names.ofBuffer(buffer);
      const part = parts.get(all) ?? { entries, computed: new Map() };
      parts.set(all, part);
      partOf.set(key, [...parts.keys()].indexOf(all));
      for (const n of rows) part.computed.set(n, 0);
    }
    const sequences = [...parts.values()];
    for (const { entries, computed } of sequences) {
      let next = 0;
      entries.forEach(({ name }, j) => {
        if (computed.has(j) || !this.kept.has(name)) computed.set(j, next++);
      });
    }
    const batch = sequences.length;
    const length = Math.max(1, ...sequences.map(({ computed }) => computed.size));
    const width = LANES * Math.ceil(Math.max(1, ...sequences.map(({ entries }) => entries.length)) / LANES);
    const tokens: NewTokens = {
      batch,
      length,
      width,
      inputIds: new BigInt64Array(batch * length).fill(BigInt(pad)),
      positionIds: new BigInt64Array(batch * length),
      keys: new BigInt64Array(batch * width),
      attentionBias: new Float32Array(batch * length * width).fill(BLOCKED),
    };
    const kept = new Map<number, number>();
    sequences.forEach(({ entries, computed }, b) => {
      entries.forEach(({ id, position, shared, own, name }, j) => {
        kept.set(name, b * width + j);
        const n = computed.get(j);
        if (n === undefined) {
          tokens.keys[b * width + j] = BigInt(this.kept.get(name) as number);
          return;
        }
        const at = b * length + n;
        tokens.keys[b * width + j] = BigInt(at - batch * length);
        tokens.inputIds[at] = BigInt(id);
        tokens.positionIds[at] = BigInt(position);
        tokens.attentionBias.fill(0, at * width, at * width + shared);
        tokens.attentionBias.fill(0, at * width + own, at * width + j + 1);
      });
      // nobody reads padding, but it must see something
      for (let n = computed.size; n < length; n++) tokens.attentionBias[(b * length + n) * width] = 0;
    });
    this.kept = kept;
    const row = (key: number, n: number): number => {
      const b = partOf.get(key) as number;
      return b * length + ((sequences[b] as Part).computed.get(n) as number);
    };
    return { tokens, row };
  }
}

/** Numbers for pairs of numbers: equal ones for equal pairs. */
class Pairs {
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

/** Names what keys and values follow from; lists are named by their beginning and their last entry. */
class Names {
  private readonly tokens = new Pairs();
  private readonly entries = new Pairs();
  private readonly lists = new Pairs();

  /** @returns the buffer's entries, and a name for all of them together. */
  ofBuffer({ ids, positions, shared, own }: TokenBuffer): { entries: Entry[]; all: number } {
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
    return { entries, all: before.at(-1) as number };
  }
}
