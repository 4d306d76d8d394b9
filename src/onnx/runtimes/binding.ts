import type { DType } from "../types.js";
import type { LoadCall, WireTensor } from "./messages.js";

/** A tensor held by a binding. */
export interface Held {
  readonly dtype: DType;
  readonly shape: readonly number[];
}

/** An input of a session; a dimension that is not a number is a symbol. */
export interface InputOf {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly (number | string | undefined)[];
}

export interface Loaded {
  readonly inputs: readonly InputOf[];
  readonly outputs: readonly string[];
}

/** Outputs of a run: the kept ones, and those returned to the caller. */
export interface Results<T> {
  readonly kept: ReadonlyMap<string, T>;
  readonly fetched: Readonly<Record<string, WireTensor>>;
}

/** Opens a binding. @param deviceMemory limit in bytes of device memory; undefined: all of it. */
export type OpenBinding = (deviceMemory: number | undefined) => Promise<Binding>;

/** A way to call ONNX Runtime from this thread. The caller owns its tensors, until `free`. */
export interface Binding<T extends Held = Held, S extends Loaded = Loaded> {
  load(call: LoadCall): Promise<S>;
  release(session: S): Promise<void>;
  /** Takes ownership of a tensor's buffer. @throws Error for an unsupported dtype. */
  hold(wire: WireTensor, what: string): T;
  /** Copies a held tensor. */
  read(tensor: T, what: string): WireTensor;
  free(tensor: T): void;
  /**
   * @param fed inputs of this run alone.
   * @param bound persistent inputs: a binding may move them to the session's device for good.
   */
  run(
    session: S,
    fed: ReadonlyMap<string, T>,
    bound: ReadonlyMap<string, T>,
    kept: readonly string[],
    fetched: readonly string[],
  ): Promise<Results<T>>;
  /** Called after the last session and tensor were released. */
  close(): void;
}
