/**
 * Normalises graphs of PyTorch's ONNX exporters (the TorchScript one and dynamo=True) to the form of ours: nodes are
 * named by module paths, weights by their modules, and weights behind an Identity are used directly. Only names change
 * and Identity nodes are removed; the computation stays the file's own.
 */
import { dirname, join } from "node:path";
import { fail } from "../core/errors.js";
import { PRODUCER } from "../onnx/format/proto-common.js";
import type { RawModel, RawNode } from "../onnx/format/raw-model.js";
import { Names } from "../onnx/names.js";
import { formatShape } from "../onnx/shapes.js";
import { type Initializer, isExternal } from "../onnx/types.js";
import { readRange } from "../weights/safetensors.js";
import type { ModelConfig } from "./config.js";
import { isModelInput } from "./inputs.js";
import { projectionOf } from "./projection.js";

const OPSETS = { first: 17, last: 21 };
const SCOPES = "pkg.torch.onnx.name_scopes";

/** Tells whether a graph was written by another program. */
export const isImported = (model: RawModel): boolean => model.producer !== PRODUCER;

/** Checks the graph's operator set. @throws UserError for an operator set outside 17 to 21. */
export function checkOpset(model: RawModel, where: string): void {
  if (model.opset < OPSETS.first || model.opset > OPSETS.last)
    fail(`${where} uses operator set ${model.opset}; ${OPSETS.first} to ${OPSETS.last} are read here.`, {
      hint: "Export it again with opset_version=18.",
    });
}

/** The facts of config.json by which the logits are found among a graph's outputs. */
type Outputs = Pick<ModelConfig, "vocab_size" | "logits_output">;

/**
 * Names an exported graph's logits, nodes and weights, merges equal weights, and drops what the logits do not need.
 * @param where names the file in errors.
 * @throws UserError for inputs that this program cannot feed, and where no output is clearly the logits.
 */
export function normaliseImported(model: RawModel, where: string, config: Outputs): RawModel {
  const strange = model.inputs.find(({ name }) => !isModelInput(name));
  if (strange !== undefined)
    fail(`${where} has the input "${strange.name}", which nothing here can feed.`, {
      hint: "Export a wrapper that takes input_ids and position_ids, attention_bias or attention_mask, and returns logits (docs/model.md, Bring your own graph).",
    });
  const plain = nameNodes(withLogits(model, where, config));
  const shared = shareWeights(withoutWeightIdentities(plain), dirname(where));
  const { model: named, final } = nameWeights(shared.model, ownersOf(plain));
  const stored = new Map<string, string[]>();
  for (const name of model.initializers.keys()) {
    const key = final(shared.standsFor.get(name) ?? name);
    stored.set(key, [...(stored.get(key) ?? []), name]);
  }
  STORED.set(named, stored);
  return named;
}

const STORED = new WeakMap<RawModel, ReadonlyMap<string, readonly string[]>>();

/** Returns the file's initializers behind a weight of a graph of `normaliseImported`; merged copies are several. */
export const storedNames = (model: RawModel, weight: string): readonly string[] =>
  STORED.get(model)?.get(weight) ?? [weight];

/**
 * Names the output with the logits `logits`, and removes the other ones with all that only they need. The two names
 * are exchanged, so that another value of that name stays apart.
 */
function withLogits(model: RawModel, where: string, { vocab_size, logits_output: declared }: Outputs): RawModel {
  const { outputs } = model;
  const named = outputs.find(({ name }) => name === (declared ?? "logits"));
  const scores = outputs.filter(({ shape }) => shape.length === 3 && shape[2] === vocab_size);
  const [found, second] =
    named !== undefined ? [named] : declared !== undefined ? [] : outputs.length === 1 ? outputs : scores;
  if (found === undefined || second !== undefined)
    fail(
      `${where} has ${declared === undefined ? "no output logits" : `no output "${declared}"`}, but ${outputs.map(({ name, shape }) => `${name} ${formatShape(shape)}`).join(", ") || "none at all"}.`,
      { hint: 'Name the output with the logits [B, N, V] in config.json, as "logits_output": "NAME".' },
    );
  const swapped = (name: string): string => (name === found.name ? "logits" : name === "logits" ? found.name : name);
  const nodes = model.nodes.map((node) => ({
    ...node,
    inputs: node.inputs.map((input) => input && swapped(input)),
    outputs: node.outputs.map(swapped),
  }));
  const initializers = new Map(
    [...model.initializers].map(([name, { value, data }]) => {
      const renamed = swapped(name);
      return [renamed, { value: { ...value, name: renamed }, data }] as const;
    }),
  );
  const needed = new Set(["logits"]);
  const live = nodes.reverse().filter(({ inputs, outputs }) => {
    if (!outputs.some((output) => needed.has(output))) return false;
    for (const input of inputs) if (input !== undefined) needed.add(input);
    return true;
  });
  // an input that no node reads is left out: the exporter merges two inputs whose example was one tensor
  const inputs = model.inputs.filter(({ name }) => needed.has(name));
  return { ...model, inputs, nodes: live.reverse(), initializers, outputs: [{ ...found, name: "logits" }] };
}

/** Removes the Identity nodes by which the older exporter refers to the first of several equal weights. */
function withoutWeightIdentities(model: RawModel): RawModel {
  const standsFor = new Map<string, string>();
  const outputs = new Set(model.outputs.map((o) => o.name));
  const nodes: RawNode[] = [];
  for (const node of model.nodes) {
    const inputs = node.inputs.map((input) => (input === undefined ? undefined : (standsFor.get(input) ?? input)));
    const [from] = inputs;
    const to = node.outputs[0] as string;
    if (node.op === "Identity" && from !== undefined && model.initializers.has(from) && !outputs.has(to))
      standsFor.set(to, from);
    else nodes.push({ ...node, inputs });
  }
  return { ...model, nodes };
}

/** Gives every node a unique path: its module's where the exporter recorded it, else its own name. */
function nameNodes(model: RawModel): RawModel {
  const names = new Names(model.name);
  return { ...model, nodes: model.nodes.map((node) => ({ ...node, name: names.fresh(pathOf(node)) })) };
}

/** Returns a node's path, in the older exporter's style: `/bert/encoder/layer.0/attention/self/query/MatMul`. */
function pathOf(node: RawNode): string {
  const scopes = [...(node.metadata?.[SCOPES] ?? "").matchAll(/'([^']*)'/g)].map((m) => m[1] as string);
  // the first is the root, the last the operator; each of the others begins with the one before it
  const modules = scopes.slice(1, -1);
  // every name begins with "/", as names of weights and inputs do not
  if (modules.length === 0) return `/${(node.name || node.op).replace(/^\//, "")}`;
  const parts = modules.map((scope, i) => {
    const outer = modules[i - 1];
    return outer !== undefined && scope.startsWith(`${outer}.`) ? scope.slice(outer.length + 1) : scope;
  });
  return `/${[...parts, node.op].join("/")}`;
}

/** Returns `bert.encoder.layer.0.attention.self.query` of a node's path; undefined for a node outside any module. */
export function moduleOfPath(path: string): string | undefined {
  if (!path.startsWith("/")) return undefined;
  const parts = path.split("/").slice(1, -1);
  return parts.length === 0 ? undefined : parts.join(".");
}

/**
 * Merges equal weights of one module. The newer exporter folds a transpose into each use of a module's weight, and
 * writes as many equal matrices (ALBERT's layers, DeBERTa's keys of positions). All but the first are removed, which
 * leaves one weight, and one adapter.
 */
function shareWeights(model: RawModel, dir: string): { model: RawModel; standsFor: ReadonlyMap<string, string> } {
  const firsts = new Map<string, string[]>();
  const standsFor = new Map<string, string>();
  for (const node of model.nodes) {
    const name = projectionOf(model, node)?.weight.value.name;
    const module = moduleOfPath(node.name);
    if (name === undefined || module === undefined || isParameter(name) || standsFor.has(name)) continue;
    const distinct = firsts.get(module) ?? [];
    const same = distinct.find((other) => equalWeights(model, other, name, dir));
    if (same === undefined) firsts.set(module, [...distinct, name]);
    else if (same !== name) standsFor.set(name, same);
  }
  const initializers = new Map([...model.initializers].filter(([name]) => !standsFor.has(name)));
  const nodes = model.nodes.map((node) => ({
    ...node,
    inputs: node.inputs.map((input) => standsFor.get(input ?? "") ?? input),
  }));
  return { model: { ...model, nodes, initializers }, standsFor };
}

function equalWeights(model: RawModel, a: string, b: string, dir: string): boolean {
  if (a === b) return true;
  const [one, other] = [a, b].map((name) => model.initializers.get(name) as Initializer) as [Initializer, Initializer];
  if (one.value.dtype !== other.value.dtype || one.value.shape.join() !== other.value.shape.join()) return false;
  return bytesOf(one, dir).equals(bytesOf(other, dir));
}

function bytesOf({ data }: Initializer, dir: string): Buffer {
  return isExternal(data)
    ? Buffer.from(readRange(join(dir, data.file), data.offset, data.length))
    : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

/**
 * Names projection weights by their modules: exporters transpose them and drop their names (`onnx::MatMul_368`,
 * `val_70`). The single attribute of a wrapper around the model (`self.m = model`) is removed from all names, so that
 * adapters have PEFT's names.
 */
function nameWeights(
  model: RawModel,
  owner: (module: string) => string,
): { model: RawModel; final: (name: string) => string } {
  const names = new Map<string, string>();
  const used = new Set([...model.initializers.keys(), ...valuesOf(model)]);
  const wanting = new Map<string, Set<string>>();
  for (const node of model.nodes) {
    const projection = projectionOf(model, node);
    const module = moduleOfPath(node.name);
    if (projection === undefined || module === undefined) continue;
    const { name } = projection.weight.value;
    const wanted = `${owner(module)}.weight`;
    if (!isParameter(name) && !used.has(wanted)) wanting.set(wanted, (wanting.get(wanted) ?? new Set()).add(name));
  }
  // a module of several matrices has no weight: an adapter of it would act on one of them
  for (const [wanted, [name, ...others]] of wanting)
    if (others.length === 0 && name !== undefined && !names.has(name)) names.set(name, wanted);
  const named = [...model.initializers.keys()].map((name) => names.get(name) ?? name).filter(isParameter);
  const heads = model.nodes.filter((n) => projectionOf(model, n)).map((n) => owner(moduleOfPath(n.name) ?? ""));
  const wrapper = commonRoot([...named, ...heads.map((module) => `${module}.weight`)]);
  const final = (name: string): string => {
    const renamed = names.get(name) ?? name;
    const short = wrapper !== undefined && renamed.startsWith(wrapper) ? renamed.slice(wrapper.length) : renamed;
    // a buffer `m.position_ids` is not the input position_ids
    return short !== renamed && used.has(short) ? renamed : short;
  };
  const initializers = new Map<string, Initializer>();
  for (const [name, { value, data }] of model.initializers)
    initializers.set(final(name), { value: { ...value, name: final(name) }, data });
  const nodes = model.nodes.map((node) => ({
    ...node,
    inputs: node.inputs.map((input) => (input !== undefined && model.initializers.has(input) ? final(input) : input)),
  }));
  return { model: { ...model, nodes, initializers }, final };
}

/** Returns the names of inputs and of computed values. */
const valuesOf = ({ inputs, nodes }: RawModel): Set<string> =>
  new Set([...inputs.map(({ name }) => name), ...nodes.flatMap(({ outputs }) => outputs)]);

/**
 * Returns the attribute paths of modules, which name the weights. The older exporter's paths name the callers: OPT
 * calls `model.decoder` itself, and the path of its layers lacks `model`. Biases and norms kept their names, which
 * reveal the missing parts of their own paths and of their neighbours'. An exporter writes equal ones once: this one
 * keeps the name of each in an Identity node, and the newer one's paths are the attributes themselves.
 */
function ownersOf(model: RawModel): (module: string) => string {
  if (model.nodes.some(({ metadata }) => metadata?.[SCOPES] !== undefined)) return (module) => module;
  const attributes = new Map<string, string>();
  for (const node of model.nodes) {
    const path = moduleOfPath(node.name)?.split(".");
    const parameter = node.inputs.find((input) => input !== undefined && isParameter(input));
    const name = parameter?.split(".").slice(0, -1);
    if (path === undefined || name === undefined || name.at(-1) !== path.at(-1)) continue;
    // the module itself, then the enclosing ones, while the missing part must lie further out
    for (let end = path.length, missing = name.length - end; end > 0; end--) {
      const called = path.slice(0, end).join(".");
      if (end < path.length && (path[end] !== name[end + missing] || called === name.slice(0, end).join("."))) break;
      if (!attributes.has(called)) attributes.set(called, name.slice(0, end + missing).join("."));
    }
  }
  return (module) => {
    const parts = module.split(".");
    for (let end = parts.length; end > 0; end--) {
      const owned = attributes.get(parts.slice(0, end).join("."));
      if (owned !== undefined) return [owned, ...parts.slice(end)].join(".");
    }
    return module;
  };
}

const isParameter = (name: string): boolean => /\.(weight|bias)$/.test(name);

/** `m.` where all names begin with it. */
function commonRoot(names: readonly string[]): string | undefined {
  const roots = new Set(names.map((name) => name.split(".")[0]));
  const [root] = roots;
  return roots.size === 1 && names.every((name) => name.split(".").length > 2) ? `${root}.` : undefined;
}
