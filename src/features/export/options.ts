import type { Precision } from "../../weights/precision.js";
import type { ChosenTokens } from "./families.js";

export interface ExportOptions {
  /** A Hugging Face checkpoint, a model directory, a GGUF file, or a name on the Hub. */
  readonly checkpoint: string;
  /** The new model directory; must not exist. */
  readonly out: string;
  readonly precision: Precision;
  /** Quantises the scales of 4-bit weights as well: 4.13 bits a weight instead of 4.5. */
  readonly doubleQuant: boolean;
  /** An adapter directory whose changes are added to the weights. */
  readonly adapter?: string | undefined;
  /** A directory whose model.safetensors replaces the checkpoint's weights, from a run that trained all of them. */
  readonly weights?: string | undefined;
  readonly tokens?: ChosenTokens;
  /** A corpus: tokens that are needed neither for it nor for bytes are removed from the vocabulary. */
  readonly keepTokens?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly progress?: (progress: ExportProgress) => void;
}

export interface ExportProgress {
  readonly stage: "downloading" | "exporting";
  /** Name of a file or a weight. */
  readonly name: string;
  /** Bytes of the file, or elements of all weights. */
  readonly done: number;
  readonly total: number;
}

export interface ExportResult {
  readonly parameters: number;
  /** Size of model.safetensors in bytes. */
  readonly bytes: number;
  /** True if some of the source's weights were in 4 bits. */
  readonly from4Bits: boolean;
  /** Number of tokens in the model, and in the checkpoint. */
  readonly vocabulary: { readonly kept: number; readonly whole: number };
}
