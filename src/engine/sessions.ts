import type { RawModel } from "../onnx/format/raw-model.js";
import { peakActivationBytes } from "../onnx/liveness.js";
import type { LoadOptions, Runtime } from "../onnx/session.js";
import { sizeOf } from "../onnx/shapes.js";
import { BYTES, type Graph, isExternal } from "../onnx/types.js";
import type { Parameter } from "../optim/optimizer.js";
import { ADAPTER_COPIES, PROGRAM } from "./least-memory.js";

/** Bytes of a session's arena beyond what its graph needs at one time: measured at 135 M parameters. */
const ARENA = 1.15;

/**
 * Bytes that a session takes: activations, and on the CPU its own copies of the weights, one for each way in which they
 * are multiplied. On other devices the weights are there once for all sessions.
 */
export function sessionBytes(graph: Graph, copiesWeights: boolean): number {
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
  return weights + ARENA * peakActivationBytes(graph);
}

/**
 * Gives what sessions may take of a memory that holds the program, copies of what is trained, and on a device the
 * weights.
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

interface Held {
  readonly inputs: ReadonlySet<string>;
  readonly bytes: number;
  readonly ready: Promise<void>;
  /** Runs that are under way or about to begin. */
  users: number;
}

/** A graph on its way to a session. */
export interface Built {
  readonly bytes: Uint8Array;
  readonly inputs: ReadonlySet<string>;
  /** Bytes that its session will take. */
  readonly size: number;
}

/**
 * The sessions of one engine, built and loaded at first use. Where all together would take more than `budget` bytes,
 * those that were not used for longest are released; one that is used again is loaded again.
 */
export class Sessions {
  /** Least recently used first. */
  private readonly held = new Map<string, Held>();
  /** Graphs that may be loaded again, where there is a budget: building one takes seconds. */
  private readonly built = new Map<string, Built>();

  constructor(
    private readonly runtime: Runtime,
    private readonly weightsDir: string,
    private readonly budget: number,
  ) {}

  /**
   * Runs something on a session, which stays at least until that is done.
   * @param work gets the session's name, and the names of its graph's inputs.
   */
  async use<T>(
    name: string,
    build: () => Built,
    options: LoadOptions,
    work: (session: string, inputs: ReadonlySet<string>) => Promise<T>,
  ): Promise<T> {
    const session = this.held.get(name) ?? this.open(name, this.graph(name, build), options);
    this.held.delete(name);
    this.held.set(name, session);
    session.users++;
    try {
      await session.ready;
      return await work(name, session.inputs);
    } finally {
      session.users--;
    }
  }

  private graph(name: string, build: () => Built): Built {
    const built = this.built.get(name) ?? build();
    if (Number.isFinite(this.budget)) this.built.set(name, built);
    return built;
  }

  private open(name: string, { bytes, inputs, size }: Built, options: LoadOptions): Held {
    let total = size;
    for (const { bytes } of this.held.values()) total += bytes;
    const released: Promise<void>[] = [];
    for (const [other, { bytes, users }] of this.held) {
      if (total <= this.budget) break;
      if (users > 0) continue;
      total -= bytes;
      this.held.delete(other);
      released.push(this.runtime.unload(other));
    }
    const ready = Promise.all([...released, this.runtime.load(name, { bytes, weightsDir: this.weightsDir }, options)])
      .then(() => undefined)
      .catch((error: unknown) => {
        this.held.delete(name);
        throw error;
      });
    return { inputs, bytes: size, ready, users: 0 };
  }
}
