import type { TokenizerDescription } from "../text/tokenizer-files.js";
import type { CheckpointWeight } from "./checkpoint.js";

/** An object of a JSON file. */
export type Json = Readonly<Record<string, unknown>>;

/** Progress report of a transfer, and the signal that ends it. */
export interface SourceOptions {
  /** After every piece: bytes of the file that are there. */
  readonly progress?: (file: string, done: number, total: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * One file under checkpoints/ exports one of these as `checkpoints`: a kind of source besides a folder of Hugging Face's
 * files.
 */
export interface CheckpointSource {
  /** Tells whether a source is of this kind, by its spelling or by what lies there. */
  takes(source: string): boolean;
  /** @returns the checkpoint, or another source that holds it. @throws UserError naming what is missing or broken. */
  open(source: string, options: SourceOptions): Promise<Checkpoint | string>;
}

/** A checkpoint of any source, in the words of Hugging Face's files. */
export interface Checkpoint {
  /** The way errors name what `config` was read from. */
  readonly where: string;
  readonly config: Json;
  readonly generationConfig: Json;
  readonly tokenizerConfig: TokenizerDescription;
  /** The text of tokenizer.json. */
  readonly tokenizer: string;
  readonly weights: ReadonlyMap<string, CheckpointWeight>;
}
