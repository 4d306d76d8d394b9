/**
 * Gradient checkpointing (Chen et al. 2016, arXiv 1604.06174), one block at a time: the backward pass of a layer reads
 * activations that are recomputed from the layer's input, so that the forward pass keeps only those inputs.
 *
 * ONNX Runtime merges equal computations and orders nodes freely, so a plain copy of a layer saves nothing. The copy
 * reads x + Clip(s, 0, 0), where s sums one element of the gradient that reaches the layer and of each parameter
 * gradient of the next layer. This adds 0, cannot be merged with the forward pass, and cannot run before the backward
 * pass of the next layer is done with its own activations.
 */
import { Emitter } from "../onnx/emit.js";
import type { GraphBuilder } from "../onnx/graph.js";
import type { Node, Value } from "../onnx/types.js";

/** The number of layers that selects gradient checkpointing of a whole model. */
export const ALL_LAYERS = Number.POSITIVE_INFINITY;

/** Values that a backward pass recomputes instead of keeping them. */
export interface Recomputed {
  /** Number of first layers to recompute as a whole; the activations of the last layers are freed before they run. */
  readonly layers?: number;
  /** Least size in bytes at which results of cheap ops are recomputed (selective.ts), in the other layers. */
  readonly cheap?: number;
}

/** A layer: the nodes of one path `.../layers.3`. */
interface Block {
  readonly nodes: Node[];
  /** Recomputed values by the name of the original; filled when the backward pass reaches the block. */
  recomputed: Map<string, Value> | undefined;
}

/** Splits a path at its first numbered part: `/model/layers` and `3` of `/model/layers.3/mlp/Mul`; `h/3` counts too. */
export function layerOf(path: string): { stack: string; index: string } | undefined {
  const match = /^(.*?\/[A-Za-z_]\w*)[./](\d+)(?=\/)/.exec(path);
  return match === null ? undefined : { stack: match[1] as string, index: match[2] as string };
}

/** Groups nodes by the repeated part of their paths; a stack of a single layer is left out. */
export function findBlocks<N extends { readonly name: string }>(nodes: readonly N[]): Map<string, N[]> {
  const blocks = new Map<string, N[]>();
  const layers = new Map<string, Set<string>>();
  for (const node of nodes) {
    const layer = layerOf(node.name);
    if (layer === undefined) continue;
    const key = `${layer.stack}.${layer.index}`;
    blocks.set(key, [...(blocks.get(key) ?? []), node]);
    layers.set(layer.stack, (layers.get(layer.stack) ?? new Set()).add(layer.index));
  }
  for (const [stack, indices] of layers)
    if (indices.size < 2) for (const index of indices) blocks.delete(`${stack}.${index}`);
  return blocks;
}

/** Recomputes the activations that the backward pass reads, layer by layer. */
export class Recompute {
  private readonly e: Emitter;
  private readonly blockOf = new Map<Node, Block>();
  private readonly producer = new Map<string, Node>();
  private readonly users = new Map<string, Node[]>();
  /** Parameter gradients that a barrier already depends on. */
  private readonly waited: Map<string, Value>;

  /**
   * @param forward nodes of the forward pass.
   * @param initial gradients from before the backward pass.
   * @param layers number of first layers to recompute.
   */
  constructor(
    private readonly g: GraphBuilder,
    forward: readonly Node[],
    private readonly parameters: readonly Value[],
    initial: ReadonlyMap<string, Value>,
    layers: number,
  ) {
    this.e = new Emitter(g);
    this.waited = new Map(initial);
    for (const nodes of [...findBlocks(forward).values()].slice(0, layers)) {
      const block: Block = { nodes, recomputed: undefined };
      for (const node of nodes) this.blockOf.set(node, block);
    }
    for (const node of forward) {
      for (const output of node.outputs) this.producer.set(output.name, node);
      for (const input of node.inputs)
        if (input !== undefined) this.users.set(input.name, [...(this.users.get(input.name) ?? []), node]);
    }
  }

  /** Returns a node of the forward pass that reads and yields the recomputed values of its layer. */
  node(node: Node, gradients: ReadonlyMap<string, Value>): Node {
    const block = this.blockOf.get(node);
    if (block === undefined) return node;
    block.recomputed ??= this.compute(block, node, gradients);
    return this.reread(node);
  }

  /** Returns a node with the recomputed values of its layer where they exist already, else the node itself. */
  reread(node: Node): Node {
    const recomputed = this.blockOf.get(node)?.recomputed;
    if (recomputed === undefined) return node;
    const of = (v: Value): Value => recomputed.get(v.name) ?? v;
    return { ...node, inputs: node.inputs.map((v) => v && of(v)), outputs: node.outputs.map(of) };
  }

  private compute(block: Block, last: Node, gradients: ReadonlyMap<string, Value>): Map<string, Value> {
    const recomputed = new Map<string, Value>();
    const inside = new Set(block.nodes);
    const upstream = last.outputs.map((o) => gradients.get(o.name)).find((v) => v !== undefined);
    if (upstream === undefined) throw new Error(`no gradient reaches ${last.name}`);
    this.g.scope("recompute", () => {
      let zero: Value | undefined;
      for (const node of block.nodes) {
        for (const input of node.inputs) {
          if (input === undefined || recomputed.has(input.name) || !this.isStream(input, inside)) continue;
          zero ??= this.barrier(upstream, gradients);
          recomputed.set(input.name, this.e.add(input, this.e.cast(zero, input.dtype)));
        }
        if (!node.inputs.some((input) => input !== undefined && recomputed.has(input.name))) continue;
        const inputs = node.inputs.map((input) => {
          const value = input && recomputed.get(input.name);
          // a known content stays known
          return value === undefined || input?.content === undefined
            ? (value ?? input)
            : { ...value, content: input.content };
        });
        const outputs = this.g.scope(node.name.replace(/^\//, ""), () =>
          this.g.node(node.op, inputs, node.attributes, { domain: node.domain, count: node.outputs.length }),
        );
        node.outputs.forEach((output, i) => {
          recomputed.set(output.name, outputs[i] as Value);
        });
      }
    });
    return recomputed;
  }

  /** Tells whether a value flows into this layer only: its input, but no mask or rotation that all layers share. */
  private isStream(value: Value, inside: ReadonlySet<Node>): boolean {
    const producer = this.producer.get(value.name);
    if (producer === undefined || inside.has(producer) || !value.dtype.includes("float")) return false;
    return (this.users.get(value.name) ?? []).every((user) => inside.has(user));
  }

  /** A zero [1] that depends on these gradients, so that it is known only after them. */
  private barrier(upstream: Value, gradients: ReadonlyMap<string, Value>): Value {
    const fresh = this.parameters.flatMap(({ name }) => {
      const gradient = gradients.get(name);
      if (gradient === undefined || this.waited.get(name) === gradient) return [];
      this.waited.set(name, gradient);
      return [gradient];
    });
    const { e } = this;
    const first = (v: Value): Value => e.cast(e.slice(e.reshape(v, [-1]), 0, 0, 1), upstream.dtype);
    const sum = [upstream, ...fresh].map(first).reduce((a, b) => e.add(a, b));
    return e.clip(sum, 0, 0);
  }
}
