import { ALL_LAYERS, type Recomputed } from "../autodiff/recompute.js";
import { LARGE } from "../autodiff/selective.js";
import type { RawModel } from "../onnx/format/raw-model.js";
import { peakActivationBytes } from "../onnx/liveness.js";
import type { LoadOptions, Runtime } from "../onnx/session.js";
import { sizeOf } from "../onnx/shapes.js";
import type { NamedTensors } from "../onnx/tensors.js";
import { BYTES, type Graph, isExternal } from "../onnx/types.js";
import type { Parameter } from "../optim/optimizer.js";
import { ADAPTER_COPIES, PROGRAM } from "./least-memory.js";

/** A session's arena relative to its graph's peak: measured at 135 M parameters. */
const ARENA = 1.15;

/**
 * Estimates a session's bytes: activations, and on the CPU its own copies of the weights, one for each layout in which
 * they are multiplied. Other devices hold the weights once for all sessions.
 * @param sizes of its graph's open dimensions.
 */
export function sessionBytes(
  graph: Graph,
  copiesWeights: boolean,
  sizes: Readonly<Record<string, number>> = {},
): number {
  const ways = new Set<string>();
  let weights = 0;
  for (const { op, inputs, attributes } of copiesWeights ? graph.nodes : []) {
    for (const [place, input] of inputs.entries()) {
      const initializer = input && graph.initializers.get(input.name);
      const way = `${input?.name} ${op} ${place} ${attributes.transB ?? 0}`;
      if (initializer === undefined || !isExternal(initializer.data) || ways.has(way)) continue;
      ways.add(way);
      weights += sizeOf(initializer.value.shape) * BYTES[initializer.value.dtype];
    }
  }
  return weights + ARENA * peakActivationBytes(graph, sizes);
}

/**
 * Returns the memory left for sessions, in bytes, beside the program, copies of the trained parameters, and on a device
 * the weights.
 * @param memory in bytes.
 */
export function sessionBudget(
  memory: number,
  { initializers }: Pick<RawModel, "initializers">,
  parameters: readonly Parameter[],
  copiesWeights: boolean,
): number {
  const trained = 4 * parameters.reduce((n, { shape }) => n + sizeOf(shape), 0);
  const weights = [...initializers.values()].reduce(
    (n, { value, data }) => n + (isExternal(data) ? sizeOf(value.shape) * BYTES[value.dtype] : 0),
    0,
  );
  return Math.max(0, memory - ADAPTER_COPIES * trained - (copiesWeights ? PROGRAM : weights));
}

/**
 * Chooses the least recomputation of a training graph within a budget: nothing, then large results of cheap ops, then
 * as many first layers as needed, as wholes. All layers are assumed to save about the same.
 * @param budget bytes of a session.
 * @param layers of the model.
 * @param bytes of the session with this recomputation.
 * @returns the choice with the smallest session where none fits.
 */
export function recomputedWithin(
  budget: number,
  layers: number,
  given: Recomputed,
  bytes: (recomputed: Recomputed) => number,
): Recomputed {
  if (given.layers !== undefined || bytes(given) <= budget) return given;
  const cheap: Recomputed = { cheap: LARGE };
  const most = bytes(cheap);
  if (most <= budget) return cheap;
  const all: Recomputed = { layers: ALL_LAYERS };
  const least = bytes(all);
  const needed = Math.ceil((layers * (most - budget)) / (most - least));
  if (least > budget || needed >= layers) return all;
  const some: Recomputed = { layers: needed, cheap: LARGE };
  return bytes(some) <= budget ? some : all;
}

interface Held {
  readonly inputs: ReadonlySet<string>;
  /** The largest size so far: a session frees nothing. */
  bytes: number;
  readonly ready: Promise<void>;
  /** Runs in progress or about to begin. */
  users: number;
}

/** A serialized graph, ready for a session. */
export interface Built {
  readonly bytes: Uint8Array;
  readonly inputs: ReadonlySet<string>;
  /** Returns the bytes of its session with these inputs. */
  size(feeds: NamedTensors): number;
}

/**
 * The sessions of one engine, built and loaded at first use. Where all together would exceed `budget` bytes, the least
 * recently used ones are released, and loaded again when they are next used.
 */
export class Sessions {
  /** Least recently used first. */
  private readonly held = new Map<string, Held>();
  /** Serialized graphs kept for reloading, where there is a budget: building one takes seconds. */
  private readonly built = new Map<string, Built>();

  constructor(
    private readonly runtime: Runtime,
    private readonly weightsDir: string,
    private readonly budget: number,
    /** Serializes a graph for a session. */
    private readonly make: (build: () => Graph) => Built,
  ) {}

  /**
   * Runs work on a session, which stays loaded at least until the work is done.
   * @param feeds determine its size.
   * @param work gets the session's name, and the names of its graph's inputs.
   */
  async use<T>(
    name: string,
    build: () => Graph,
    options: LoadOptions,
    feeds: NamedTensors,
    work: (session: string, inputs: ReadonlySet<string>) => Promise<T>,
  ): Promise<T> {
    const known = this.held.get(name);
    const bytes = Number.isFinite(this.budget) ? Math.max(known?.bytes ?? 0, this.graph(name, build).size(feeds)) : 0;
    const released = this.release(bytes, name);
    const session = known ?? this.open(name, this.graph(name, build), options, released);
    session.bytes = bytes;
    this.held.delete(name);
    this.held.set(name, session);
    session.users++;
    try {
      await Promise.all([session.ready, ...released]);
      return await work(name, session.inputs);
    } finally {
      session.users--;
    }
  }

  /** Returns a graph, built once. */
  graph(name: string, build: () => Graph): Built {
    const built = this.built.get(name) ?? this.make(build);
    if (Number.isFinite(this.budget)) this.built.set(name, built);
    return built;
  }

  /** Releases sessions until one of `wanted` bytes fits. */
  private release(wanted: number, name: string): Promise<void>[] {
    const others = [...this.held].filter(([other]) => other !== name);
    let total = others.reduce((sum, [, { bytes }]) => sum + bytes, wanted);
    return others.flatMap(([other, { bytes, users }]) => {
      if (total <= this.budget || users > 0) return [];
      total -= bytes;
      this.held.delete(other);
      return [this.runtime.unload(other)];
    });
  }

  private open(name: string, { bytes, inputs }: Built, options: LoadOptions, released: readonly Promise<void>[]): Held {
    const ready = Promise.all([...released, this.runtime.load(name, { bytes, weightsDir: this.weightsDir }, options)])
      .then(() => undefined)
      .catch((error: unknown) => {
        this.held.delete(name);
        throw error;
      });
    return { inputs, bytes: 0, ready, users: 0 };
  }
}
