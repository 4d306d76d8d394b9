import { join } from "node:path";
import { Tokenizer as HuggingFaceTokenizer } from "@huggingface/tokenizers";
import { fail, messageOf } from "../core/errors.js";
import { readJson } from "../core/files.js";

/** The used part of the library's tokenizer (its own typings do not resolve under NodeNext). */
interface Implementation {
  encode(text: string, options: { add_special_tokens: boolean }): { ids: (number | undefined)[] };
  decode(ids: number[], options: { skip_special_tokens: boolean; clean_up_tokenization_spaces: boolean }): string;
  token_to_id(token: string): number | undefined;
  id_to_token(id: number): string | undefined;
  get_vocab(withAddedTokens: boolean): Map<string, number>;
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

  /**
   * @param implementation decodes ids, including special ones.
   * @param reader encodes texts without special tokens, so that a text cannot contain one.
   */
  private constructor(
    private readonly implementation: Implementation,
    private readonly reader: Implementation,
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
    return Tokenizer.fromJson(readJson(path), path, special);
  }

  /**
   * Builds a tokenizer.
   * @param json the parsed content of a `tokenizer.json`. @param where names it in errors.
   * @throws UserError where it is not a tokenizer, or encodes every text as nothing.
   */
  static fromJson(json: unknown, where: string, special: readonly number[] = []): Tokenizer {
    const hint = "Copy tokenizer.json from the model's own release: it is the Hugging Face tokenizers format.";
    if (typeof json !== "object" || json === null) fail(`${where} is not a tokenizer: expected an object`, { hint });
    const open = (of: object): Implementation =>
      new HuggingFaceTokenizer(of, { clean_up_tokenization_spaces: false }) as unknown as Implementation;
    const odd = idsIn(json).find((id) => !(Number.isSafeInteger(id) && id >= 0 && id < LARGEST_VOCABULARY));
    if (odd !== undefined) fail(`${where} is not a tokenizer: a token has the id ${odd}`, { hint });
    let tokenizer: Tokenizer;
    let reads: number[];
    try {
      tokenizer = new Tokenizer(open(json), open(withoutSpecial(json, special)));
      const first = Array.from({ length: SPOKEN }, (_, id) => id);
      reads = tokenizer.encode(`a 1 ${tokenizer.decode(first, { skipSpecial: true })}`);
    } catch (error) {
      fail(`${where} is not a tokenizer: ${messageOf(error)}`, { hint, cause: error });
    }
    if (tokenizer.vocabSize === 0) fail(`${where} is not a tokenizer: its vocabulary is empty`, { hint });
    if (reads.length === 0) fail(`${where} yields no ids for a text.`, { hint });
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
    // a vocabulary with neither the piece nor an unknown token leaves undefined ids
    for (const id of this.reader.encode(text, { add_special_tokens: false }).ids) if (id !== undefined) ids.push(id);
    if (text.length <= SHORT && this.known.size < MOST_KNOWN) this.known.set(text, [...ids]);
    return ids;
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

/** The parts of a `tokenizer.json` that may contain special tokens. */
interface Parts {
  readonly added_tokens?: readonly { readonly id: number; readonly content: string; readonly special?: boolean }[];
  readonly model?: {
    readonly unk_token?: string | null;
    readonly unk_id?: number | null;
    readonly vocab?: Readonly<Record<string, number>> | readonly (readonly [string, number])[];
    readonly merges?: readonly (string | readonly [string, string])[];
  };
}

/** Number of first ids whose decoded text is encoded again, to test a tokenizer. */
const SPOKEN = 100;
/** Returns all ids of a `tokenizer.json`. */
function idsIn(json: object): number[] {
  const { added_tokens: added, model } = json as Parts;
  const listed = Array.isArray(added) ? added.map((token) => token?.id) : [];
  const vocab = model?.vocab ?? {};
  return Array.isArray(vocab) || typeof vocab !== "object" ? listed : [...listed, ...Object.values(vocab)];
}

/** Below any real score of a unigram model: a piece that is never chosen. */
const NEVER = -1e6;

/** Returns the tokenizer without special tokens and without merges that would make one; unknown text stays unknown. */
function withoutSpecial(json: object, special: readonly number[]): object {
  const { added_tokens: added = [], model = {} } = json as Parts;
  const { vocab = {}, merges } = model;
  const listed = Array.isArray(vocab);
  const ids = new Map<string, number>(
    listed
      ? vocab.map(([token]: readonly [string, number], id: number) => [token, id] as const)
      : Object.entries(vocab),
  );
  const removed = new Set(special);
  for (const token of added) if (token.special === true) removed.add(token.id);
  const unknown = model.unk_id ?? ids.get(model.unk_token ?? "");
  if (unknown !== undefined) removed.delete(unknown);
  // a line end may be EOS, but is a character of texts too
  const isKept = (token: string): boolean => [...token].length === 1 || !removed.has(ids.get(token) ?? -1);
  // ids of a unigram model are indices into its list
  const kept = listed
    ? vocab.map((entry: readonly [string, number]) => (isKept(entry[0]) ? entry : [entry[0], NEVER]))
    : Object.fromEntries([...ids].filter(([token]) => isKept(token)));
  return {
    ...json,
    // it only adds special tokens
    post_processor: null,
    added_tokens: added.filter(({ id, special: of }) => of !== true && !removed.has(id)),
    model: {
      ...model,
      vocab: kept,
      ...(Array.isArray(merges)
        ? { merges: merges.filter((pair) => isKept(typeof pair === "string" ? pair.replace(" ", "") : pair.join(""))) }
        : {}),
    },
  };
}
