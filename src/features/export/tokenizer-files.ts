import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fail } from "../../core/errors.js";
import { readJson } from "../../core/files.js";

/** Builds tokenizer.json for checkpoints whose tokenizer is vocab.json and merges.txt. */

/** The way a byte-level BPE splits a text into pieces before it merges bytes. */
export interface Cutting {
  readonly normalizer: object | null;
  readonly pre_tokenizer: object;
  /** Takes a piece that is a token itself whole, whatever the merges are. */
  readonly ignore_merges?: boolean;
}

const GPT2 = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true };
const split = (pattern: string): object => ({
  type: "Split",
  pattern: { Regex: pattern },
  behavior: "Isolated",
  invert: false,
});
/** The pattern that Qwen2 and Llama 3 share, except for the number of digits per piece. */
const cut = (digits: string): object => ({
  type: "Sequence",
  pretokenizers: [
    split(
      `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`,
    ),
    { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
  ],
});

/** By the names of llama.cpp (`tokenizer.ggml.pre`). */
export const CUTTINGS: Readonly<Record<string, Cutting>> = {
  "gpt-2": { normalizer: null, pre_tokenizer: GPT2 },
  qwen2: { normalizer: { type: "NFC" }, pre_tokenizer: cut("\\p{N}") },
  "llama-bpe": { normalizer: null, pre_tokenizer: cut("\\p{N}{1,3}"), ignore_merges: true },
  smollm: { normalizer: null, pre_tokenizer: { type: "Sequence", pretokenizers: [split("\\p{N}"), GPT2] } },
};

/** By the `tokenizer_class` of tokenizer_config.json. */
const CLASSES: Readonly<Record<string, string>> = {
  Qwen2Tokenizer: "qwen2",
  Qwen2TokenizerFast: "qwen2",
  Qwen3Tokenizer: "qwen2",
  DreamTokenizer: "qwen2",
  GPT2Tokenizer: "gpt-2",
  GPT2TokenizerFast: "gpt-2",
};

export interface ByteLevelBpe {
  readonly cutting: Cutting;
  readonly addedTokens: readonly object[];
  readonly vocab: Readonly<Record<string, number>>;
  readonly merges: readonly (readonly [string, string])[];
}

/** Returns the text of a tokenizer.json. */
export function byteLevelBpeJson({ cutting, addedTokens, vocab, merges }: ByteLevelBpe): string {
  const bytes = { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false };
  return `${JSON.stringify({
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: addedTokens,
    normalizer: cutting.normalizer,
    pre_tokenizer: cutting.pre_tokenizer,
    post_processor: bytes,
    decoder: bytes,
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: "",
      end_of_word_suffix: "",
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: cutting.ignore_merges ?? false,
      vocab,
      merges,
    },
  })}\n`;
}

/** Content of the files beside a tokenizer. */
export interface TokenizerDescription {
  readonly tokenizer_class?: unknown;
  readonly added_tokens_decoder?: unknown;
  readonly add_prefix_space?: unknown;
  readonly eos_token?: unknown;
  readonly pad_token?: unknown;
  readonly mask_token?: unknown;
}

/** Reads tokenizer_config.json; empty where there is none. */
export function readTokenizerConfig(dir: string): TokenizerDescription {
  const path = join(dir, "tokenizer_config.json");
  return existsSync(path) ? ((readJson(path) ?? {}) as TokenizerDescription) : {};
}

/**
 * Returns a checkpoint's tokenizer.json: the file's text, or made from vocab.json, merges.txt and added_tokens.json.
 * @throws UserError naming the missing or malformed file.
 */
export function tokenizerJson(dir: string): string {
  const ready = join(dir, "tokenizer.json");
  if (existsSync(ready)) {
    readJson(ready);
    return readFileSync(ready, "utf8");
  }
  const [vocabPath, mergesPath] = [join(dir, "vocab.json"), join(dir, "merges.txt")];
  if (!existsSync(vocabPath) || !existsSync(mergesPath))
    fail(`There is no tokenizer in ${dir}: neither tokenizer.json nor vocab.json with merges.txt.`, {
      hint: "Copy them from the model's own release.",
    });
  const description = readTokenizerConfig(dir);
  const name = description.tokenizer_class ?? "Qwen2Tokenizer";
  const cutting = CUTTINGS[CLASSES[String(name)] ?? ""];
  if (cutting === undefined)
    fail(`${join(dir, "tokenizer_config.json")}: the tokenizer_class ${String(name)} is not supported.`, {
      hint: `Known: ${Object.keys(CLASSES).join(", ")}. Or save a tokenizer.json with transformers (save_pretrained of the fast tokenizer).`,
    });
  const prefixed = (part: object): object =>
    JSON.parse(JSON.stringify(part).replaceAll('"add_prefix_space":false', '"add_prefix_space":true'));
  const pre_tokenizer = description.add_prefix_space === true ? prefixed(cutting.pre_tokenizer) : cutting.pre_tokenizer;
  const vocab = idsOf(vocabPath);
  const addedTokens = addedTokensOf(dir, description, vocab);
  return byteLevelBpeJson({
    cutting: { ...cutting, pre_tokenizer },
    addedTokens,
    vocab,
    merges: readMerges(mergesPath, vocab),
  });
}

/** Reads a JSON object of token -> id. */
function idsOf(path: string): Record<string, number> {
  const vocab = readJson(path);
  const isVocabulary =
    typeof vocab === "object" &&
    vocab !== null &&
    Object.values(vocab).every((id) => Number.isSafeInteger(id) && id >= 0);
  if (!isVocabulary) fail(`${path} is not an object of tokens with their ids.`);
  return vocab as Record<string, number>;
}

function readMerges(path: string, vocab: Readonly<Record<string, number>>): [string, string][] {
  const lines = readFileSync(path, "utf8").split(/\r?\n/);
  return lines.flatMap((line, i): [string, string][] => {
    // the first line may be the version; a merge of "#" and "version:" never comes first
    if (line === "" || (i === 0 && line.startsWith("#version"))) return [];
    const parts = line.split(" ");
    const [left, right] = parts;
    if (left === undefined || right === undefined || parts.length !== 2 || !Object.hasOwn(vocab, left + right))
      fail(`${path}, line ${i + 1}: "${line}" is not a merge of two tokens into one of vocab.json.`, {
        hint: "vocab.json and merges.txt must come from the same tokenizer.",
      });
    return [[left, right]];
  });
}

/** Lists the tokens that are never split: added_tokens.json, with their properties from tokenizer_config.json. */
function addedTokensOf(
  dir: string,
  { added_tokens_decoder: decoder }: TokenizerDescription,
  vocab: Readonly<Record<string, number>>,
): object[] {
  const path = join(dir, "added_tokens.json");
  const tokens = new Map<number, Record<string, unknown>>();
  if (existsSync(path)) for (const [content, id] of Object.entries(idsOf(path))) tokens.set(id, { content });
  if (typeof decoder === "object" && decoder !== null)
    for (const [id, token] of Object.entries(decoder)) tokens.set(Number(id), { ...(token as object) });
  const words = new Map(Object.entries(vocab).map(([token, id]) => [id, token]));
  return [...tokens]
    .sort(([a], [b]) => a - b)
    .map(([id, token]) => {
      const content = token.content;
      if (typeof content !== "string" || !Number.isSafeInteger(id))
        fail(`${dir}: the added token ${id} has no content.`);
      const taken = words.get(id);
      if (taken !== undefined && taken !== content)
        fail(`${dir}: the id ${id} is both "${taken}" (vocab.json) and the added token "${content}".`);
      return {
        id,
        content,
        single_word: token.single_word === true,
        lstrip: token.lstrip === true,
        rstrip: token.rstrip === true,
        normalized: token.normalized === true,
        special: typeof token.special === "boolean" ? token.special : /^<\|.*\|>$/.test(content),
      };
    });
}
