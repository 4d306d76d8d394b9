import type { DType } from "../../onnx/types.js";
import type { StoredMatrix } from "../../weights/model-weights.js";
import type { TokenizerDescription } from "./tokenizer-files.js";

/** An object of a JSON file. */
export type Json = Readonly<Record<string, unknown>>;

/** Progress reports of a transfer, and the signal that ends it. */
export interface SourceOptions {
  /** Called after every piece with the bytes received so far. */
  readonly progress?: (file: string, done: number, total: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * A kind of source other than a folder of Hugging Face's files. Each file under checkpoints/ exports one as
 * `checkpoints`.
 */
export interface CheckpointSource {
  /** Tells whether a source is of this kind, by its spelling or by its files. */
  takes(source: string): boolean;
  /** @returns the checkpoint, or another source of it. @throws UserError naming the missing or damaged part. */
  open(source: string, options: SourceOptions): Promise<Checkpoint | string>;
}

/** A weight of a checkpoint, not opened yet. */
export interface CheckpointWeight {
  /** Path of its file. */
  readonly path: string;
  readonly shape: readonly number[];
  /** Element type in the file; uint8 where it is quantised. */
  readonly dtype: DType;
  open(): StoredMatrix;
}

/** A checkpoint of any source, in the form of Hugging Face's files. */
export interface Checkpoint {
  /** Name of the source of `config` in errors. */
  readonly where: string;
  readonly config: Json;
  readonly generationConfig: Json;
  readonly tokenizerConfig: TokenizerDescription;
  /** The text of tokenizer.json. */
  readonly tokenizer: string;
  readonly weights: ReadonlyMap<string, CheckpointWeight>;
}
