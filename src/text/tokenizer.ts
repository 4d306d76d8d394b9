import { statSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer as HuggingFaceTokenizer } from "@huggingface/tokenizers";
import { fail, messageOf, UserError } from "../core/errors.js";
import { readJson } from "../core/files.js";
import { limited } from "../core/limited.js";
import { precompiled } from "./precompiled.js";
import { COPY, isLetter, readParts, type TokenizerParts } from "./tokenizer-json.js";

interface Normalizer {
  readonly config: { readonly type: string; readonly precompiled_charsmap?: string };
  normalize(text: string): string;
}

interface Decoder {
  readonly config: { readonly type: string; readonly replacement?: string };
  decode_chain(tokens: readonly string[]): string[];
  text_decoder?: { decode(bytes: Uint8Array): string };
}

/** The used part of the library's tokenizer (its own typings do not resolve under NodeNext). */
interface Implementation {
  encode(text: string, options: { add_special_tokens: boolean }): { ids: (number | undefined)[] };
  decode(ids: number[], options: { skip_special_tokens: boolean; clean_up_tokenization_spaces: boolean }): string;
  token_to_id(token: string): number | undefined;
  id_to_token(id: number): string | undefined;
  readonly normalizer: (((text: string) => string) & { readonly normalizers: readonly Normalizer[] }) | null;
  readonly decoder: (Decoder & { readonly decoders?: readonly Decoder[] }) | null;
  get_vocab(withAddedTokens: boolean): Map<string, number>;
  readonly added_tokens_map: Map<string, unknown>;
  readonly splitter_unnormalized: { split(text: string): string[] };
  readonly model: {
    readonly tokens_to_ids: Map<string, number>;
    tokenize?(text: string): string[];
    encode(texts: readonly string[]): string[];
  };
}

/** Exclusive limit of token ids: lists of this length are allocated. */
export const LARGEST_VOCABULARY = 2 ** 22;

/** Longest text with cached ids, in characters, as lines that all tasks of a form share; and most cached texts. */
const [SHORT, MOST_KNOWN] = [64, 4096];

/** Text to token ids and back, from a Hugging Face `tokenizer.json`. */
export class Tokenizer {
  /** The highest id plus one. A model's own vocabulary may be padded beyond it. */
  readonly vocabSize: number;
  private readonly known = new Map<string, readonly number[]>();
  /** Loaded tokenizers by their file's state: a dry run opens its model twice. */
  private static readonly opened = new Map<string, Tokenizer>();

  /**
   * @param implementation decodes ids, including special ones.
   * @param reader encodes texts without special tokens, so that a text cannot contain one.
   */
  private constructor(
    private readonly implementation: Implementation,
    private readonly reader: Implementation,
    private readonly unknown: number | undefined,
    private readonly where: string,
  ) {
    let highest = -1;
    for (const id of implementation.get_vocab(true).values()) highest = Math.max(highest, id);
    this.vocabSize = highest + 1;
  }

  /**
   * Loads `tokenizer.json` of a model directory.
   * @param special ids that no text may contain, besides those of the tokens that the file marks as special.
   * @throws UserError naming the file where it is missing, not JSON or not a tokenizer.
   */
  static load(dir: string, special: readonly number[] = []): Tokenizer {
    const path = join(dir, "tokenizer.json");
    const { mtimeMs, size } = statSync(path, { throwIfNoEntry: false }) ?? {};
    const key = JSON.stringify([path, mtimeMs, size, special]);
    const tokenizer = Tokenizer.opened.get(key) ?? Tokenizer.fromJson(readJson(path), path, special);
    Tokenizer.opened.set(key, tokenizer);
    return tokenizer;
  }

  /**
   * Builds a tokenizer.
   * @param json the parsed content of a `tokenizer.json`. @param where names it in errors.
   * @throws UserError where it is not a tokenizer, or encodes every text as nothing.
   */
  static fromJson(json: unknown, where: string, special: readonly number[] = []): Tokenizer {
    const parts = readParts(json, where);
    const odd = idsIn(parts).find((id) => !(Number.isSafeInteger(id) && id >= 0 && id < LARGEST_VOCABULARY));
    if (odd !== undefined) fail(`${where} is not a tokenizer: a token has the id ${odd}`, { hint: COPY });
    const shared = sharedId(parts);
    if (shared !== undefined) fail(`${where} is not a tokenizer: ${shared}`, { hint: COPY });
    const reader = withoutSpecial(parts, new Set(special), where);
    let tokenizer: Tokenizer;
    let reads: number[];
    try {
      const opened = open(parts);
      const changed = parts.added_tokens.find(
        ({ content, special: of, normalized = true }) =>
          !of &&
          normalized &&
          limited(where, content.length, () => opened.normalizer?.(content) ?? content) !== content,
      );
      if (changed !== undefined)
        fail(`${where}: the normalizer changes the added token ${JSON.stringify(changed.content)}.`, {
          hint: "Set its normalized to false in tokenizer.json: texts have it as it is written.",
        });
      tokenizer = new Tokenizer(opened, findAsWritten(open(reader), reader), parts.unknown, where);
      const first = Array.from({ length: SPOKEN }, (_, id) => id);
      reads = tokenizer.encode(`a 1 ${tokenizer.decode(first, { skipSpecial: true })}`);
    } catch (error) {
      if (error instanceof UserError) throw error;
      fail(`${where} is not a tokenizer: ${messageOf(error)}`, { hint: COPY, cause: error });
    }
    if (tokenizer.vocabSize === 0) fail(`${where} is not a tokenizer: its vocabulary is empty`, { hint: COPY });
    if (reads.length === 0) fail(`${where} yields no ids for a text.`, { hint: COPY });
    return tokenizer;
  }

  /**
   * Encodes a text: nothing is added around it, and a special token written in it is read as its characters, so that no
   * page and no task can contain a mask or an end. Unpaired surrogates become U+FFFD, as UTF-8 cannot represent them.
   */
  encode(text: string): number[] {
    const known = this.known.get(text);
    if (known !== undefined) return [...known];
    const ids: number[] = [];
    // unpaired surrogates become U+FFFD; a piece without a token and without an unknown one has no id
    const whole = new TextDecoder("utf-8", { ignoreBOM: true }).decode(new TextEncoder().encode(text));
    const read = () => this.reader.encode(whole, { add_special_tokens: false });
    for (const id of limited(this.where, text.length, read).ids) if (id !== undefined) ids.push(id);
    if (text.length <= SHORT && this.known.size < MOST_KNOWN) this.known.set(text, [...ids]);
    return ids;
  }

  /**
   * Lists the words of a text, separated by blanks, with a part that no token spells.
   * @param options.bytes also words with a character that only tokens of single bytes spell: one that was rare or absent
   * in the tokenizer's texts.
   */
  unknownWords(text: string, { bytes = false }: { readonly bytes?: boolean } = {}): string[] {
    const words = [...new Set(text.split(/\s+/))].filter((word) => word !== "");
    return words.filter((word) => {
      const ids = this.encode(word);
      return (
        ids.length === 0 || ids.some((id) => id === this.unknown || (bytes && this.decode([id]).includes("\uFFFD")))
      );
    });
  }

  /**
   * Decodes ids. Ids without a token (a model's padded vocabulary) are left out.
   * @param options.skipSpecial leaves special tokens (EOS, padding, mask) out as well.
   */
  decode(ids: readonly number[], options: { skipSpecial?: boolean } = {}): string {
    const known = ids.filter((id) => this.implementation.id_to_token(id) !== undefined);
    // the library refuses an empty list
    if (known.length === 0) return "";
    return this.implementation.decode(known, {
      skip_special_tokens: options.skipSpecial ?? false,
      clean_up_tokenization_spaces: false,
    });
  }

  /** Returns the id of one token of the vocabulary (`<|mask|>`), or undefined. */
  idOf(token: string): number | undefined {
    return this.implementation.token_to_id(token);
  }
}

/** Opens the library's tokenizer; bytes and the first blank are decoded as the Rust library does. */
function open(of: object): Implementation {
  const opened = new HuggingFaceTokenizer(of, { clean_up_tokenization_spaces: false }) as unknown as Implementation;
  const { decoder, normalizer, model } = opened;
  for (const part of normalizer?.normalizers ?? [])
    if (part.config.type === "Precompiled")
      part.normalize = precompiled(part.config.precompiled_charsmap ?? "") ?? part.normalize;
  // a Unigram model: its own passes the pieces of a word as arguments, and a long word has too many
  const tokenize = model.tokenize?.bind(model);
  if (tokenize !== undefined) model.encode = (texts) => texts.flatMap(tokenize);
  for (const part of decoder?.decoders ?? [decoder]) {
    const { type, replacement = "" } = part?.config ?? {};
    if (part !== null && type === "ByteFallback") part.text_decoder = { decode: decodeBytes };
    if (part !== null && type === "Metaspace")
      part.decode_chain = (tokens) => tokens.map((token, i) => token.replaceAll(replacement, i === 0 ? "" : " "));
  }
  return opened;
}

/**
 * Keeps the tokens that are found in the text as it is written out of what the normalizer makes of it: there the library
 * knows them by another name, which no text has.
 */
function findAsWritten(reader: Implementation, { added_tokens: added, model }: TokenizerParts): Implementation {
  if (reader.normalizer === null) return reader;
  const { added_tokens_map: known, splitter_unnormalized: splitter } = reader;
  const raw = added.flatMap(({ content, normalized }) => (normalized === false ? [content] : []));
  const names = new Map(raw.map((content) => [content, `\ud800${content}`]));
  for (const [content, name] of names) {
    known.set(name, known.get(content));
    known.delete(content);
    if (model.type !== "Unigram" && !Object.hasOwn(model.vocab, content)) reader.model.tokens_to_ids.delete(content);
  }
  const split = splitter.split.bind(splitter);
  splitter.split = (text) => split(text).map((part) => names.get(part) ?? part);
  return reader;
}

/** Decodes a run of bytes as UTF-8; each byte of an invalid run becomes U+FFFD. */
function decodeBytes(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
  } catch {
    return "\ufffd".repeat(bytes.length);
  }
}

/** Number of first ids whose decoded text is encoded again, to test a tokenizer. */
const SPOKEN = 100;

/** Returns all ids of a tokenizer. Those of a unigram model are indices into its list. */
function idsIn({ added_tokens: added, model }: TokenizerParts): number[] {
  return [...added.map(({ id }) => id), ...(model.type === "Unigram" ? [] : Object.values(model.vocab))];
}

/** Names two tokens of the vocabulary with one id: a text of the one would be decoded as the other. */
function sharedId({ model }: TokenizerParts): string | undefined {
  if (model.type === "Unigram") return undefined;
  const seen = new Map<number, string>();
  for (const [token, id] of Object.entries(model.vocab)) {
    const other = seen.get(id);
    if (other !== undefined) return `${JSON.stringify(other)} and ${JSON.stringify(token)} both have the id ${id}`;
    seen.set(id, token);
  }
  return undefined;
}

/**
 * Returns the tokenizer without special tokens and without merges that would make one; unknown text stays unknown.
 * @param reserved ids that stand for no text at all, be it unknown (mask, EOS, padding).
 */
function withoutSpecial(parts: TokenizerParts, reserved: ReadonlySet<number>, where: string): TokenizerParts {
  const { added_tokens: added, model, hasBytes, unknown = -1 } = parts;
  const taken = (token: string): never =>
    fail(`${where}: ${JSON.stringify(token)} is the mask, EOS, padding or special, and texts need this token.`, {
      hint: "Set other ids in the model's config.json: mask_token_id, eos_token_id, pad_token_id.",
    });
  const removed = new Set([...reserved, ...added.filter(({ special }) => special).map(({ id }) => id)]);
  const isKept = (token: string, id: number): boolean => {
    if (!removed.has(id)) return true;
    if (id === unknown && !hasBytes) return !reserved.has(id) || taken(token);
    // only this token spells the letter or byte
    if (model.type === "BPE" && (hasBytes || unknown < 0) && !model.byte_fallback && isLetter(token)) taken(token);
    return false;
  };
  const kept = { ...parts, added_tokens: added.filter(({ id }) => !removed.has(id)) };
  if (model.type === "Unigram") {
    // a removed piece becomes one that no text has: ids are places, and the lowest score counts
    const vocab = model.vocab.map(([piece, score], id): [string, number] => [
      isKept(piece, id) ? piece : `\ud800${id}`,
      score,
    ]);
    return { ...kept, model: { ...model, vocab } };
  }
  const vocab = Object.fromEntries(Object.entries(model.vocab).filter(([token, id]) => isKept(token, id)));
  if (model.type !== "BPE") return { ...kept, model: { ...model, vocab } };
  return {
    ...kept,
    model: { ...model, vocab, merges: model.merges.filter((pair) => Object.hasOwn(vocab, [...pair].join(""))) },
  };
}
