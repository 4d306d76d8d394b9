import type { DType } from "../types.js";

/** Messages between the main thread and the thread that owns ONNX Runtime. */

/** A tensor in transfer between the threads: the buffer contains exactly its elements. */
export interface WireTensor {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly buffer: ArrayBuffer;
}

export type ProviderName = "cpu" | "cuda" | "webgpu";

/** `npm`: onnxruntime-node's own binding. `c-api`: the C API of the same library, whose tensors stay on the device. */
export type BindingName = "npm" | "c-api";

export interface LoadCall {
  readonly kind: "load";
  readonly session: string;
  readonly provider: ProviderName;
  readonly threads: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly weightsDir: string | undefined;
  readonly prepack: boolean;
  readonly optimization: "all" | "basic" | "disabled" | "extended";
  readonly memPattern: boolean;
  /** Prefix of a profile's path. */
  readonly profile: string | undefined;
}

export interface RunCall {
  readonly kind: "run";
  readonly session: string;
  readonly feeds: Readonly<Record<string, WireTensor>>;
  /** Graph input -> store key. */
  readonly bind: Readonly<Record<string, string>>;
  /** Graph output -> store key. */
  readonly keep: Readonly<Record<string, string>>;
  /** Outputs to return; undefined: all that are not kept. */
  readonly fetch: readonly string[] | undefined;
}

export type Call =
  | { readonly kind: "start"; readonly binding: BindingName; readonly deviceMemory: number | undefined }
  | LoadCall
  | { readonly kind: "unload"; readonly session: string }
  | { readonly kind: "put"; readonly key: string; readonly tensor: WireTensor }
  | { readonly kind: "get"; readonly key: string }
  | { readonly kind: "drop"; readonly keys: readonly string[] }
  | RunCall
  | { readonly kind: "close" };

export interface Request {
  readonly id: number;
  readonly call: Call;
}

export type Tensors = Readonly<Record<string, WireTensor>>;

export type Reply =
  | { readonly id: number; readonly tensors: Tensors }
  /** `hint`: the next step, where a user can take one. */
  | { readonly id: number; readonly error: string; readonly hint: string | undefined };
