import { nearest } from "../../core/errors.js";
import type { Binding, Held, Loaded } from "./binding.js";
import type { Call, LoadCall, RunCall, Tensors, WireTensor } from "./messages.js";

/** Named sessions on a binding, and the store of tensors that persist between runs. */
export class Host<T extends Held, S extends Loaded> {
  private readonly sessions = new Map<string, S>();
  private readonly store = new Map<string, T>();

  constructor(private readonly binding: Binding<T, S>) {}

  async handle(call: Exclude<Call, { kind: "start" }>): Promise<Tensors> {
    switch (call.kind) {
      case "load":
        await this.load(call);
        return {};
      case "unload":
        await this.binding.release(this.session(call.session));
        this.sessions.delete(call.session);
        return {};
      case "put":
        this.keep(call.key, this.binding.hold(call.tensor, `"${call.key}"`));
        return {};
      case "get": {
        const tensor = this.store.get(call.key);
        if (tensor === undefined) throw new Error(`"${call.key}" is not in the store`);
        return { value: this.binding.read(tensor, `"${call.key}"`) };
      }
      case "drop":
        for (const key of call.keys) this.drop(key);
        return {};
      case "run":
        return await this.run(call);
      case "close":
        for (const session of this.sessions.values()) await this.binding.release(session);
        this.sessions.clear();
        for (const key of [...this.store.keys()]) this.drop(key);
        this.binding.close();
        return {};
    }
  }

  private async load(call: LoadCall): Promise<void> {
    if (this.sessions.has(call.session)) throw new Error("is loaded already; unload it first");
    this.sessions.set(call.session, await this.binding.load(call));
  }

  private session(name: string): S {
    const session = this.sessions.get(name);
    if (session === undefined)
      throw new Error(`is not loaded (loaded: ${[...this.sessions.keys()].join(", ") || "none"})`);
    return session;
  }

  private keep(key: string, tensor: T): void {
    // written in place
    if (this.store.get(key) === tensor) return;
    this.drop(key);
    this.store.set(key, tensor);
  }

  private drop(key: string): void {
    const tensor = this.store.get(key);
    if (tensor === undefined) return;
    this.store.delete(key);
    this.binding.free(tensor);
  }

  private async run(call: RunCall): Promise<Tensors> {
    const session = this.session(call.session);
    const inputs = session.inputs.map((input) => input.name);
    const fed = new Map<string, T>();
    const bound = new Map<string, T>();
    try {
      for (const [input, wire] of Object.entries(call.feeds)) {
        checkName("input", input, inputs);
        fed.set(input, this.binding.hold(wire, `input "${input}"`));
      }
      for (const [input, key] of Object.entries(call.bind)) {
        checkName("input", input, inputs);
        if (fed.has(input)) throw new Error(`input "${input}" is both fed and bound`);
        const stored = this.store.get(key);
        if (stored === undefined) throw new Error(`input "${input}" is bound to "${key}", which is not in the store`);
        bound.set(input, stored);
      }
      checkFeeds(session, new Map([...fed, ...bound]));

      const kept = Object.keys(call.keep);
      const fetched = call.fetch ?? session.outputs.filter((name) => !kept.includes(name));
      for (const output of [...kept, ...fetched]) checkName("output", output, session.outputs);
      if (kept.length + fetched.length === 0) throw new Error("nothing to compute: no output is kept or fetched");

      const results = await this.binding.run(session, fed, bound, kept, fetched);
      // stored last: a failed run leaves the store unchanged
      for (const [name, tensor] of results.kept) this.keep(call.keep[name] as string, tensor);
      return results.fetched satisfies Readonly<Record<string, WireTensor>>;
    } finally {
      for (const tensor of fed.values()) this.binding.free(tensor);
    }
  }
}

function checkName(kind: "input" | "output", name: string, names: readonly string[]): void {
  if (names.includes(name)) return;
  const guess = nearest(name, names);
  throw new Error(
    `has no ${kind} "${name}"${guess === undefined ? "" : `, did you mean "${guess}"?`} (it has: ${names.join(", ")})`,
  );
}

/**
 * Refuses a missing input, a wrong dtype, rank or fixed dimension, and one symbol with two sizes. A binding that keeps
 * tensors in 16 bits rounds float32. @throws Error
 */
function checkFeeds({ inputs }: Loaded, feeds: ReadonlyMap<string, Held>): void {
  const symbols = new Map<string, { size: number; input: string }>();
  for (const { name, dtype, shape } of inputs) {
    const tensor = feeds.get(name);
    if (tensor === undefined) throw new Error(`input "${name}" is neither fed nor bound`);
    const expected = `${dtype} [${shape.join(", ")}]`;
    const got = `${tensor.dtype} [${tensor.shape.join(", ")}]`;
    const refuse = (why: string): never => {
      throw new Error(`input "${name}": expected ${expected}, got ${got}${why}`);
    };
    const isRounded = tensor.dtype === "float32" && (dtype === "bfloat16" || dtype === "float16");
    if (tensor.dtype !== dtype && !isRounded) refuse("");
    // ONNX Runtime reports both a scalar and an unknown rank as []
    if (shape.length === 0) continue;
    if (tensor.shape.length !== shape.length) refuse("");
    for (const [axis, dim] of shape.entries()) {
      const size = tensor.shape[axis] as number;
      if (typeof dim === "number") {
        if (dim !== size) refuse("");
      } else if (dim !== "" && dim !== undefined) {
        const bound = symbols.get(dim);
        if (bound === undefined) symbols.set(dim, { size, input: name });
        else if (bound.size !== size) refuse(` (${dim} is ${bound.size} in input "${bound.input}")`);
      }
    }
  }
}
