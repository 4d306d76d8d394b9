import type { TokenizerDescription } from "../text/tokenizer-files.js";
import type { CheckpointWeight } from "../weights/checkpoint.js";
import type { Json } from "./families.js";

/** A checkpoint of any source, in the words of Hugging Face's files. */
export interface Checkpoint {
  /** How errors name what `config` was read from. */
  readonly where: string;
  readonly config: Json;
  readonly generationConfig: Json;
  readonly tokenizerConfig: TokenizerDescription;
  /** The text of tokenizer.json. */
  readonly tokenizer: string;
  readonly weights: ReadonlyMap<string, CheckpointWeight>;
}
