import type { Graph, Node } from "../types.js";

/** A node as it stands in the file: values are names only. */
export interface RawNode extends Omit<Node, "inputs" | "outputs"> {
  /** An omitted optional input is undefined. */
  readonly inputs: readonly (string | undefined)[];
  /** An omitted optional output is "". */
  readonly outputs: readonly string[];
  /** The exporter's note of it; absent where it noted nothing. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** A model as it stands in the file, before any shape inference. Its inputs are without those that an initializer provides. */
export interface RawModel extends Omit<Graph, "nodes" | "metadata"> {
  /** The program that wrote the file: PRODUCER, "pytorch", ... */
  readonly producer?: string;
  readonly nodes: readonly RawNode[];
  readonly metadata: Readonly<Record<string, string>>;
}
