import type { LoadOptions, Runtime } from "../onnx/session.js";
import type { NamedTensors } from "../onnx/tensors.js";
import type { Graph } from "../onnx/types.js";

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
    /** Each session keeps the memory of its runs, and the weights; otherwise all share them, and none is released. */
    private readonly keepsMemory: boolean,
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
    const loaded = this.held.get(name);
    const bytes = Number.isFinite(this.budget) ? Math.max(loaded?.bytes ?? 0, this.graph(name, build).size(feeds)) : 0;
    const released = this.release(bytes, name);
    const session = loaded ?? this.open(name, this.graph(name, build), options, released);
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
    if (!this.keepsMemory) return [];
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
