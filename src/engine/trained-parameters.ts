import { join } from "node:path";
import { loraSites } from "../nn/bind.js";
import { isLora, type LoraOptions, siteShapes } from "../nn/lora.js";
import { type Model, usingGraph, WEIGHTS_FILE } from "../nn/model.js";
import type { Runtime } from "../onnx/session.js";
import { sizeOf } from "../onnx/shapes.js";
import { f32 } from "../onnx/tensors.js";
import { isExternal, type Tensor } from "../onnx/types.js";
import { type Parameter, type ParameterGroup, slot } from "../optim/optimizer.js";
import { readSafetensors } from "../weights/safetensors.js";
import { accumulator } from "./graphs.js";

export type PolicyKey = "policy" | "reference";

/** The trained parameters of a model, with their gradients and the optimizer's moments, all held in the runtime. */
export class TrainedParameters {
  /** The first group is the model's own: its adapter, or all of its weights. */
  readonly groups: readonly ParameterGroup[];
  readonly parameters: readonly Parameter[];
  /** Tells whether there are gradients to add to. */
  protected accumulated = false;
  /** Tells whether the reference is the model itself: every B of its adapter is zero. */
  protected referenceIsBase = false;

  /**
   * @param lora undefined: every weight is trained.
   * @param added groups that an objective trains beside the model.
   */
  constructor(
    readonly runtime: Runtime,
    readonly model: Model,
    lora: LoraOptions | undefined,
    added: readonly ParameterGroup[],
  ) {
    const name = lora === undefined ? "weights" : "adapter";
    const { tables } = model.names;
    this.groups = [{ name, parameters: ownParameters(model, lora), tables, inReference: true }, ...added];
    this.parameters = this.groups.flatMap((group) => group.parameters);
  }

  /** Stores a policy's parameters. */
  async setParameters(key: PolicyKey, tensors: ReadonlyMap<string, Tensor>): Promise<void> {
    for (const p of this.parametersOf(key)) {
      const tensor = tensors.get(p.name);
      if (tensor === undefined) throw new Error(`no value for the parameter ${p.name}`);
      await this.runtime.put(`${key}/${p.name}`, tensor);
    }
    if (key === "reference") this.referenceIsBase = hasNoEffect(tensors);
  }

  async getParameters(key: PolicyKey): Promise<Map<string, Tensor>> {
    return this.collect(this.parametersOf(key).map((p) => [p.name, `${key}/${p.name}`]));
  }

  /** The parameters of a policy: the reference has no copy of those that only the loss reads. */
  private parametersOf(key: PolicyKey): readonly Parameter[] {
    return key === "policy"
      ? this.parameters
      : this.groups.flatMap((group) => (group.inReference ? group.parameters : []));
  }

  /** Reads the model's own weights, for training all of them. */
  weights(): Map<string, Tensor> {
    return readSafetensors(join(this.model.dir, WEIGHTS_FILE));
  }

  /** Returns the moments of the optimizer, by the optimizer graph's names. */
  async getOptimizer(): Promise<Map<string, Tensor>> {
    return this.collect(this.moments().map((k) => [k, k]));
  }

  async setOptimizer(tensors: ReadonlyMap<string, Tensor> | undefined): Promise<void> {
    await this.startGradients();
    for (const p of this.parameters) {
      for (const key of [slot.first(p.name), slot.second(p.name)])
        await this.runtime.put(key, tensors?.get(key) ?? zeros(p));
    }
  }

  /** Stores the zeros that the first gradients are added to; {@link setOptimizer} does so too. */
  async startGradients(): Promise<void> {
    for (const p of this.parameters) await this.runtime.put(zeroKey(p.name), zeros(p));
  }

  private moments(): string[] {
    return this.parameters.flatMap((p) => [slot.first(p.name), slot.second(p.name)]);
  }

  private async collect(keys: readonly (readonly [string, string])[]): Promise<Map<string, Tensor>> {
    const out = new Map<string, Tensor>();
    for (const [name, key] of keys) out.set(name, await this.runtime.get(key));
    return out;
  }

  /** Discards the accumulated gradients. */
  discardGradients(): void {
    this.accumulated = false;
  }

  /** Returns the accumulated gradients. */
  async getGradients(): Promise<Map<string, Tensor>> {
    return this.collect(this.parameters.map((p) => [p.name, slot.gradient(p.name)]));
  }

  /** Replaces the accumulated gradients. */
  async setGradients(gradients: ReadonlyMap<string, Tensor>): Promise<void> {
    for (const p of this.parameters) {
      const tensor = gradients.get(p.name);
      if (tensor === undefined) throw new Error(`no gradient of the parameter ${p.name}`);
      await this.runtime.put(slot.gradient(p.name), tensor);
    }
    this.accumulated = true;
  }

  /** Returns the store keys of the parameters that a graph reads: only the loss reads an objective's own. */
  protected bindPolicy(key: PolicyKey, names: ReadonlySet<string>): Record<string, string> {
    const read = this.parametersOf(key).filter((p) => names.has(p.name));
    return Object.fromEntries(read.map((p) => [p.name, `${key}/${p.name}`]));
  }

  /** Returns where a training graph reads the accumulated gradients, and where it writes their sums. */
  protected bindGradients(): { readonly bind: Record<string, string>; readonly keep: Record<string, string> } {
    const bind: Record<string, string> = {};
    const keep: Record<string, string> = {};
    for (const p of this.parameters) {
      bind[accumulator(p.name)] = this.accumulated ? slot.gradient(p.name) : zeroKey(p.name);
      keep[slot.gradient(p.name)] = slot.gradient(p.name);
    }
    return { bind, keep };
  }

  /** Returns where an update reads parameters, gradients and moments, and where it writes the new ones. */
  protected bindUpdate(): { readonly bind: Record<string, string>; readonly keep: Record<string, string> } {
    const bind: Record<string, string> = {};
    const keep: Record<string, string> = {};
    for (const p of this.parameters) {
      bind[p.name] = `policy/${p.name}`;
      keep[slot.next(p.name)] = `policy/${p.name}`;
      bind[slot.gradient(p.name)] = slot.gradient(p.name);
      for (const key of [slot.first(p.name), slot.second(p.name)]) {
        bind[key] = key;
        keep[slot.next(key)] = key;
      }
    }
    return { bind, keep };
  }
}

/** The adapter's matrices, or every weight of the model's file. */
function ownParameters(model: Model, lora: LoraOptions | undefined): Parameter[] {
  if (lora === undefined) {
    return [...model.graph.initializers.values()]
      .filter((i) => isExternal(i.data))
      .map((i) => ({ name: i.value.name, shape: i.value.shape as number[] }));
  }
  return usingGraph(model, () => loraSites(model.graph, lora))
    .flatMap((site) => siteShapes(site, lora.rank))
    .map(([name, shape]) => ({ name, shape }));
}

/** Tells whether an adapter consists of pairs A and B whose B is zero. */
export function hasNoEffect(adapter: ReadonlyMap<string, Tensor>): boolean {
  return [...adapter].every(([name, { data }]) =>
    isLora(name, "B") ? (data as Float32Array).every((x) => x === 0) : isLora(name, "A"),
  );
}

const zeros = ({ shape }: Parameter): Tensor => f32(shape, new Float32Array(sizeOf(shape)));

const zeroKey = (parameter: string): string => `zero/${parameter}`;
