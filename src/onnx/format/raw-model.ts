import type { Graph, Node } from "../types.js";

/** A node as stored in the file: values are names only. */
export interface RawNode extends Omit<Node, "inputs" | "outputs"> {
  /** An omitted optional input is undefined. */
  readonly inputs: readonly (string | undefined)[];
  /** An omitted optional output is "". */
  readonly outputs: readonly string[];
  /** The exporter's metadata; absent where there is none. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** A model as stored in the file, before shape inference. Its inputs exclude those that an initializer provides. */
export interface RawModel extends Omit<Graph, "nodes" | "metadata"> {
  /** The program that wrote the file: PRODUCER, "pytorch", ... */
  readonly producer?: string;
  readonly nodes: readonly RawNode[];
  readonly metadata: Readonly<Record<string, string>>;
}
