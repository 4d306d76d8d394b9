/**
 * SentencePiece's `precompiled_charsmap`, as the Rust library applies it: the size of a double-array trie (darts-clone)
 * in bytes, its units, and the texts, each with a NUL behind it, to which its leaves point.
 */

/** Longest grapheme that is looked up whole, in bytes and exclusive. */
const WHOLE = 6;
const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/** Makes the normaliser of a charsmap in base64; undefined where it is malformed. */
export function precompiled(base64: string): ((text: string) => string) | undefined {
  const bytes = Buffer.from(base64, "base64");
  const size = bytes.length < 4 ? -1 : bytes.readUInt32LE();
  if (size < 4 || size % 4 !== 0 || 4 + size > bytes.length) return undefined;
  const units = Uint32Array.from({ length: size / 4 }, (_, i) => bytes.readUInt32LE(4 + 4 * i));
  const texts = bytes.subarray(4 + size);
  const step = (unit: number): number => (unit >>> 10) << ((unit & 0x200) >>> 6);
  // of several keys that a text begins with, the shortest counts
  const found = (text: string): string | undefined => {
    let at = step(units[0] as number);
    for (const byte of Buffer.from(text)) {
      at ^= byte;
      const unit = units[at];
      if (byte === 0 || unit === undefined || (unit & 0x800000ff) !== byte) return undefined;
      at ^= step(unit);
      if ((unit & 0x100) === 0) continue;
      const begin = (units[at] ?? 0) & 0x7fffffff;
      const end = texts.indexOf(0, begin);
      return texts.toString("utf8", begin, end < 0 ? texts.length : end);
    }
    return undefined;
  };
  const each = (grapheme: string): string => Array.from(grapheme, (letter) => found(letter) ?? letter).join("");
  return (text) =>
    Array.from(graphemes.segment(text), ({ segment }) => {
      const whole = Buffer.byteLength(segment) < WHOLE ? found(segment) : undefined;
      return whole ?? each(segment);
    }).join("");
}
