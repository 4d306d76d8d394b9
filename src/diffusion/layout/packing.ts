import type { Place } from "../../attention/rows.js";
import { misuse } from "../../core/errors.js";
import { bufferTerms, type ScoredBuffer, type SegmentInfo } from "../terms.js";
import type { Batch } from "./batch.js";
import type { SupervisedLayout } from "./scorings.js";

/** Cuts examples into as few batches of at most `most` as hold them, of sizes that differ by at most one. */
export function inBatches<T>(examples: readonly T[], most = examples.length): T[][] {
  const count = Math.ceil(examples.length / most);
  const at = (i: number): number => Math.round((i * examples.length) / count);
  return Array.from({ length: count }, (_, i) => examples.slice(at(i), at(i + 1)));
}

/**
 * Lays sequences out as batches of one segment. Without `packLength` a batch holds `batch` of them, padded to `length`.
 * With it, every batch is one sequence of N = `packLength` tokens with as many examples as fit, longest first, invisible
 * to each other: one shape, and little padding.
 * @param length most tokens of a sequence.
 * @throws UserError where a sequence is longer than `packLength`.
 */
export function packTerms(
  scored: readonly ScoredBuffer[],
  length: number,
  { packLength, batch }: Pick<SupervisedLayout, "packLength" | "batch">,
  info: SegmentInfo,
): Batch[] {
  if (packLength === undefined)
    return inBatches(scored, batch).map((some) => bufferTerms(some, { batch: some.length, length, segments: 1 }, info));
  return fill(scored, packLength).map((sequences) => {
    let offset = 0;
    const places = sequences.map(({ buffer }): Place => {
      const place = { b: 0, offset };
      offset += buffer.ids.length;
      return place;
    });
    return bufferTerms(sequences, { batch: 1, length: packLength, segments: 1, places }, info);
  });
}

/** First-fit decreasing packing. */
function fill(scored: readonly ScoredBuffer[], length: number): ScoredBuffer[][] {
  const packs: { of: ScoredBuffer[]; length: number }[] = [];
  for (const one of [...scored].sort((a, b) => b.buffer.ids.length - a.buffer.ids.length)) {
    const size = one.buffer.ids.length;
    if (size > length) {
      misuse(`An example of ${size} tokens does not fit objective.pack_length=${length}.`, {
        hint: `Set objective.pack_length=${size}, or leave long tasks out: training.skip_long=true.`,
      });
    }
    let pack = packs.find((p) => p.length + size <= length);
    if (pack === undefined) {
      pack = { of: [], length: 0 };
      packs.push(pack);
    }
    pack.of.push(one);
    pack.length += size;
  }
  return packs.map(({ of }) => of);
}
