import type { Precision } from "../../weights/precision.js";
import type { ChosenTokens } from "./families.js";

export interface ExportOptions {
  /** A Hugging Face checkpoint, a model directory, a GGUF file, or one of the Hub. */
  readonly checkpoint: string;
  /** The model directory that is made; must not exist. */
  readonly out: string;
  readonly precision: Precision;
  /** Quantises the scales of 4-bit weights as well: 4.13 bits a weight instead of 4.5. */
  readonly doubleQuant: boolean;
  /** An adapter directory whose changes are added to the weights. */
  readonly adapter?: string | undefined;
  /** A directory whose model.safetensors replaces the checkpoint's weights: a run that trained all of them. */
  readonly weights?: string | undefined;
  readonly tokens?: ChosenTokens;
  /** A corpus: tokens that neither it nor the fallback to bytes needs are left out of the vocabulary. */
  readonly keepTokens?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly progress?: (progress: ExportProgress) => void;
}

export interface ExportProgress {
  readonly stage: "downloading" | "exporting";
  /** A file, or a weight. */
  readonly name: string;
  /** Bytes of the file, or elements of all weights. */
  readonly done: number;
  readonly total: number;
}

export interface ExportResult {
  readonly parameters: number;
  /** Size of model.safetensors. */
  readonly bytes: number;
  /** True where some of the weights that were read were in 4 bits. */
  readonly from4Bits: boolean;
  /** Tokens of the model, and of the checkpoint. */
  readonly vocabulary: { readonly kept: number; readonly whole: number };
}
