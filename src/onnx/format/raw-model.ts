import type { Attribute, Initializer, Value } from "../types.js";

/** A node as it stands in the file: values are names only. */
export interface RawNode {
  readonly name: string;
  readonly op: string;
  readonly domain: string;
  /** An omitted optional input is undefined. */
  readonly inputs: readonly (string | undefined)[];
  /** An omitted optional output is "". */
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, Attribute>>;
  /** The exporter's note of it; absent where it noted nothing. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** A model as it stands in the file, before any shape inference. */
export interface RawModel {
  readonly name: string;
  /** The program that wrote the file: PRODUCER, "pytorch", ... */
  readonly producer?: string;
  readonly opset: number;
  /** Without those that an initializer provides (old files list both). */
  readonly inputs: readonly Value[];
  readonly outputs: readonly Value[];
  readonly nodes: readonly RawNode[];
  readonly initializers: ReadonlyMap<string, Initializer>;
  readonly metadata: Readonly<Record<string, string>>;
}
