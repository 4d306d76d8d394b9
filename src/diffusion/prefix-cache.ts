import { z } from "zod";
import { BLOCKED, type TokenBuffer } from "./buffer.js";

/** The key `kv_cache` of samplers that use keys and values again. */
export const cacheUse = z
  .union([z.boolean(), z.literal("auto")])
  .default("auto")
  .describe("use keys and values of unchanged tokens again: the same responses, sooner; auto: on the CPU");

/**
 * One forward over what is new: B sequences of N new tokens, the ends of their buffers, and the W keys that each sees, in
 * the order of the buffer. Padding is at the end of both and seen by nothing real. Readings of one and the same buffer
 * share a sequence.
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
   * that many and b*N+n for a new token.
   */
  readonly keys: BigInt64Array;
  /** [B*N*W] additive, query-major. */
  readonly attentionBias: Float32Array;
}

/** Rows that a first forward finds kept: one, which nothing sees. */
export const NOTHING_KEPT = 1;

/** Sums over W run in vectors of at most so many numbers: a multiple leaves no rest, which would be added up apart. */
const LANES = 32;

/** A sequence to read, from `from` on at least: the rows that are asked for must be computed. */
export interface Reading {
  readonly buffer: TokenBuffer;
  readonly from: number;
}

/** A token of the last forward: its entry in the buffer, and where its keys and values are. */
interface Known {
  readonly id: number;
  readonly position: number;
  readonly shared: number;
  readonly own: number;
  readonly at: number;
}

/** What a key that was not in the last forward has: always this list, as {@link PrefixCache} compares by identity. */
const NOTHING: readonly Known[] = [];

/** A sequence of the next forward. */
interface Part {
  readonly before: readonly Known[];
  readonly entries: readonly Entry[];
  /** Entries that are kept. */
  common: number;
}

/**
 * Which keys and values of the forward before can be used again. Those of a token follow from its id, its position and
 * the tokens that it sees, all of which stand before it in the buffer. So they are the same in two buffers as far as
 * these begin alike, entry by entry, in id, position and what is seen; from the first difference on all is computed.
 * Rollouts of one prompt are one sequence until they differ.
 */
export class PrefixCache {
  private known: ReadonlyMap<number, readonly Known[]> = new Map();
  private rows = NOTHING_KEPT;

  /**
   * Lays out the next forward.
   * @param readings by a key that a sequence keeps; sequences of the last forward that are not among them are forgotten.
   * @returns what to compute, and where each sequence's entries from the first computed one on are.
   */
  next(
    readings: ReadonlyMap<number, Reading>,
    pad: number,
  ): { tokens: NewTokens; row(key: number, n: number): number } {
    const parts: Part[] = [];
    const partOf = new Map<number, number>();
    for (const [key, { buffer, from }] of readings) {
      const before = this.known.get(key) ?? NOTHING;
      const entries = entriesOf(buffer);
      let b = parts.findIndex((part) => part.before === before && isSame(part.entries, entries));
      if (b < 0) b = parts.push({ before, entries, common: commonStart(before, entries) }) - 1;
      const part = parts[b] as Part;
      part.common = Math.min(part.common, from);
      partOf.set(key, b);
    }
    const batch = parts.length;
    const length = Math.max(1, ...parts.map(({ entries, common }) => entries.length - common));
    const width = LANES * Math.ceil(Math.max(1, ...parts.map(({ entries }) => entries.length)) / LANES);
    const tokens: NewTokens = {
      batch,
      length,
      width,
      inputIds: new BigInt64Array(batch * length).fill(BigInt(pad)),
      positionIds: new BigInt64Array(batch * length),
      keys: new BigInt64Array(batch * width),
      attentionBias: new Float32Array(batch * length * width).fill(BLOCKED),
    };
    parts.forEach(({ before, entries, common }, b) => {
      entries.forEach((_, j) => {
        const at = j < common ? (before[j] as Known).at : this.rows + b * length + j - common;
        tokens.keys[b * width + j] = BigInt(at);
      });
      for (let n = 0; n < length; n++) {
        const row = (b * length + n) * width;
        const entry = entries[common + n];
        if (entry === undefined) {
          // nobody reads it, but it must see something
          tokens.attentionBias[row] = 0;
          continue;
        }
        tokens.inputIds[b * length + n] = BigInt(entry.id);
        tokens.positionIds[b * length + n] = BigInt(entry.position);
        tokens.attentionBias.fill(0, row, row + entry.shared);
        tokens.attentionBias.fill(0, row + entry.own, row + common + n + 1);
      }
    });
    const known = parts.map(({ entries }, b): readonly Known[] =>
      entries.map((entry, j) => ({ ...entry, at: b * width + j })),
    );
    this.rows = batch * width;
    this.known = new Map([...partOf].map(([key, b]) => [key, known[b] as readonly Known[]]));
    const row = (key: number, n: number): number => {
      const b = partOf.get(key) as number;
      return b * length + n - (parts[b] as Part).common;
    };
    return { tokens, row };
  }
}

type Entry = Omit<Known, "at">;

/** What each entry sees, said in one way: [0, shared) and [own, itself], where own is 0 if the two meet. */
function entriesOf({ ids, positions, shared, own }: TokenBuffer): Entry[] {
  return ids.map((id, j) => {
    const [end, begin] = [shared?.[j] ?? 0, own?.[j] ?? 0];
    const position = positions[j] as number;
    return begin <= end ? { id, position, shared: 0, own: 0 } : { id, position, shared: end, own: begin };
  });
}

function isSame(a: readonly Entry[], b: readonly Entry[]): boolean {
  return a.length === b.length && commonStart(a, b) === b.length;
}

function commonStart(before: readonly Entry[], now: readonly Entry[]): number {
  const differs = now.findIndex((entry, j) => {
    const old = before[j];
    return (
      old === undefined ||
      old.id !== entry.id ||
      old.position !== entry.position ||
      old.shared !== entry.shared ||
      old.own !== entry.own
    );
  });
  return differs < 0 ? now.length : differs;
}
