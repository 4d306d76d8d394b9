import { join } from "node:path";
import { Tokenizer as HuggingFaceTokenizer } from "@huggingface/tokenizers";
import { messageOf, UserError } from "../core/errors.js";
import { readJson } from "../core/files.js";

/** What is used of the library's tokenizer (its own typings do not resolve under NodeNext). */
interface Implementation {
  encode(text: string, options: { add_special_tokens: boolean }): { ids: (number | undefined)[] };
  decode(ids: number[], options: { skip_special_tokens: boolean; clean_up_tokenization_spaces: boolean }): string;
  token_to_id(token: string): number | undefined;
  id_to_token(id: number): string | undefined;
  get_vocab(withAddedTokens: boolean): Map<string, number>;
}

/** Text to token ids and back, from a Hugging Face `tokenizer.json`. */
export class Tokenizer {
  /** One more than the highest id. A model's own vocabulary may be padded beyond it. */
  readonly vocabSize: number;

  private constructor(private readonly implementation: Implementation) {
    let highest = -1;
    for (const id of implementation.get_vocab(true).values()) highest = Math.max(highest, id);
    this.vocabSize = highest + 1;
  }

  /**
   * Loads `tokenizer.json` of a model directory.
   * @throws UserError naming the file where it is missing, no JSON or no tokenizer.
   */
  static load(dir: string): Tokenizer {
    const path = join(dir, "tokenizer.json");
    return Tokenizer.fromJson(readJson(path), path);
  }

  /**
   * @param json the parsed content of a `tokenizer.json`.
   * @param where names it in errors.
   */
  static fromJson(json: unknown, where: string): Tokenizer {
    const hint = "Copy tokenizer.json from the model's own release: it is the Hugging Face tokenizers format.";
    if (typeof json !== "object" || json === null)
      throw new UserError(`${where} is not a tokenizer: expected an object`, { hint });
    let tokenizer: Tokenizer;
    try {
      tokenizer = new Tokenizer(
        new HuggingFaceTokenizer(json, { clean_up_tokenization_spaces: false }) as unknown as Implementation,
      );
    } catch (error) {
      throw new UserError(`${where} is not a tokenizer: ${messageOf(error)}`, { hint, cause: error });
    }
    if (tokenizer.vocabSize === 0)
      throw new UserError(`${where} is not a tokenizer: its vocabulary is empty`, { hint });
    return tokenizer;
  }

  /**
   * The ids of a text: nothing is added around it; special tokens that are spelled out in it become their ids.
   * Unpaired surrogates become U+FFFD, as UTF-8 cannot hold them.
   */
  encode(text: string): number[] {
    const ids: number[] = [];
    // a vocabulary that has neither the piece nor an unknown token leaves holes, which are no tokens
    for (const id of this.implementation.encode(text, { add_special_tokens: false }).ids)
      if (id !== undefined) ids.push(id);
    return ids;
  }

  /**
   * The text of ids. Ids without a token (a model's padded vocabulary) are left out.
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

  /** The id of one token as it stands in the vocabulary (`<|mask|>`), or undefined. */
  idOf(token: string): number | undefined {
    return this.implementation.token_to_id(token);
  }
}
