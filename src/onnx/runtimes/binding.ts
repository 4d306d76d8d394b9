import type { DType } from "../types.js";
import type { LoadCall, WireTensor } from "./messages.js";

/** A tensor that a binding holds. */
export interface Held {
  readonly dtype: DType;
  readonly shape: readonly number[];
}

/** An input of a session; a dimension that is no number is a symbol. */
export interface InputOf {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly (number | string | undefined)[];
}

export interface Loaded {
  readonly inputs: readonly InputOf[];
  readonly outputs: readonly string[];
}

/** Outputs of a run: those that stay, and those that go back. */
export interface Results<T> {
  readonly kept: ReadonlyMap<string, T>;
  readonly fetched: Readonly<Record<string, WireTensor>>;
}

/** One file under bindings/ exports one of these as `binding`: a way besides npm's to call ONNX Runtime. */
export interface BindingKind {
  /** @param deviceMemory bytes of the device that may be taken; undefined: all of it. */
  open(deviceMemory: number | undefined): Promise<Binding>;
}

/** A way to call ONNX Runtime from this thread. Its tensors belong to whoever got them, until `free`. */
export interface Binding<T extends Held = Held, S extends Loaded = Loaded> {
  load(call: LoadCall): Promise<S>;
  release(session: S): Promise<void>;
  /** Takes a tensor over; its buffer belongs to the binding from now on. @throws Error for a dtype that it cannot carry. */
  hold(wire: WireTensor, what: string): T;
  /** A copy of a held tensor. */
  read(tensor: T, what: string): WireTensor;
  free(tensor: T): void;
  /**
   * @param fed inputs of this run alone.
   * @param bound inputs that stay: a binding may move them to the session's device for good.
   */
  run(
    session: S,
    fed: ReadonlyMap<string, T>,
    bound: ReadonlyMap<string, T>,
    kept: readonly string[],
    fetched: readonly string[],
  ): Promise<Results<T>>;
  /** After the last session and tensor were released. */
  close(): void;
}
