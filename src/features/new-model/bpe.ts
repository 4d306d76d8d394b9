import { Tokenizer as HuggingFaceTokenizer } from "@huggingface/tokenizers";
import { byteAlphabet } from "../../text/tokenizer-json.js";
import { type ByteLevelBpe, byteLevelBpeJson, type Cutting } from "../export/tokenizer-files.js";

/** Least number of occurrences of a pair that becomes a token. */
const LEAST_FREQUENT = 2;

/** A distinct piece of the corpus, with its current symbols and its number of occurrences. */
interface Piece {
  symbols: number[];
  readonly count: number;
}

/**
 * Pieces of text that merges never cross, by the first matching alternative:
 * a line end; the separator of plans and prompts, with its second space only before a digit (a digit pair is then the
 * same token everywhere); words with their leading space; digits in pieces of at most two, so that dates and prices are
 * encoded alike everywhere; punctuation; white space, whose last blank belongs to the next word.
 */
const PIECES = [
  "\\n",
  " \\| (?=\\p{N})",
  " \\|",
  " ?[\\p{L}\\p{M}]+",
  "\\p{N}{1,2}",
  " ?[^\\s\\p{L}\\p{M}\\p{N}]+",
  "[^\\S\\n]+(?!\\S)",
  "[^\\S\\n]+",
].join("|");
const CUTTING: Cutting = {
  normalizer: null,
  pre_tokenizer: {
    type: "Sequence",
    pretokenizers: [
      { type: "Split", pattern: { Regex: PIECES }, behavior: "Isolated", invert: false },
      { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false },
    ],
  },
};

/** Factor that encodes a pair of symbols as one number, in the order of pairs. */
const RADIX = 2 ** 24;

/**
 * Learns byte-level BPE merges (Sennrich et al. 2016; bytes as in GPT-2): the most frequent pair of neighbours becomes
 * a token, until the vocabulary is full. Ties go to the lower pair of ids, so that the result is deterministic and
 * independent of the order of the texts.
 * The vocabulary is smaller than requested if no pair is frequent enough.
 * @param vocabSize total number of tokens: 256 bytes, the merges, the special tokens.
 * @param specialTokens get the last ids, in this order; distinct, and longer than a character.
 */
export function trainBpe(
  corpus: Iterable<string>,
  { vocabSize, specialTokens }: { readonly vocabSize: number; readonly specialTokens: readonly string[] },
): ByteLevelBpe {
  const tokens = byteAlphabet().sort();
  const ids = new Map(tokens.map((token, id) => [token, id]));
  const merges = learnMerges(countPieces(corpus, ids), tokens, ids, vocabSize - specialTokens.length);
  const plain = { single_word: false, lstrip: false, rstrip: false, normalized: false };
  const addedTokens = specialTokens.map((content, i) => ({ id: tokens.length + i, content, ...plain, special: true }));
  const vocab = Object.fromEntries([...tokens, ...specialTokens].map((token, id) => [token, id]));
  return { cutting: CUTTING, addedTokens, vocab, merges };
}

/** Cuts the corpus into distinct pieces, with the same code that cuts texts later. */
function countPieces(corpus: Iterable<string>, ids: ReadonlyMap<string, number>): Piece[] {
  const none = JSON.parse(byteLevelBpeJson({ cutting: CUTTING, addedTokens: [], vocab: {}, merges: [] }));
  const splitter = new HuggingFaceTokenizer(none, {}).pre_tokenizer as unknown as {
    pre_tokenize(text: string): string[];
  };
  const counts = new Map<string, number>();
  for (const text of corpus) {
    for (const piece of splitter.pre_tokenize(text)) counts.set(piece, (counts.get(piece) ?? 0) + 1);
  }
  return [...counts].map(([piece, count]) => ({ symbols: [...piece].map((byte) => ids.get(byte) as number), count }));
}

/** Learns merges, and extends `tokens` and `ids`, until there are `room` tokens or no pair is frequent enough. */
function learnMerges(
  pieces: readonly Piece[],
  tokens: string[],
  ids: Map<string, number>,
  room: number,
): ByteLevelBpe["merges"] {
  const counts = new Map<number, number>();
  /** Pieces that have contained a pair at some time; those that no longer do are harmless. */
  const holders = new Map<number, Set<Piece>>();
  const tally = (piece: Piece, sign: 1 | -1): void => {
    for (let i = 1; i < piece.symbols.length; i++) {
      const pair = (piece.symbols[i - 1] as number) * RADIX + (piece.symbols[i] as number);
      counts.set(pair, (counts.get(pair) ?? 0) + sign * piece.count);
      if (sign === 1) holders.set(pair, (holders.get(pair) ?? new Set()).add(piece));
    }
  };
  for (const piece of pieces) tally(piece, 1);

  const merges: [string, string][] = [];
  while (tokens.length < room) {
    let best = -1;
    let bestCount = LEAST_FREQUENT - 1;
    for (const [pair, count] of counts) {
      if (count > bestCount || (count === bestCount && best !== -1 && pair < best)) {
        best = pair;
        bestCount = count;
      }
    }
    if (best === -1) break;
    const left = Math.floor(best / RADIX);
    const right = best % RADIX;
    const pair: [string, string] = [tokens[left] as string, tokens[right] as string];
    const token = pair.join("");
    merges.push(pair);
    // two merges may produce the same token
    const id = ids.get(token) ?? tokens.push(token) - 1;
    ids.set(token, id);
    for (const piece of holders.get(best) ?? []) {
      tally(piece, -1);
      piece.symbols = mergePair(piece.symbols, left, right, id);
      tally(piece, 1);
    }
    counts.delete(best);
    holders.delete(best);
  }
  return merges;
}

/** Replaces every adjacent pair (left, right) by `merged`, from the left. */
function mergePair(symbols: readonly number[], left: number, right: number, merged: number): number[] {
  const out: number[] = [];
  for (let i = 0; i < symbols.length; i++) {
    if (symbols[i] === left && symbols[i + 1] === right) {
      out.push(merged);
      i++;
    } else {
      out.push(symbols[i] as number);
    }
  }
  return out;
}
