/**
 * Graphs that PyTorch's ONNX exporters wrote (the TorchScript one and dynamo=True), made to look like ours: nodes are
 * named by module paths, weights by their modules, and weights that stand behind an Identity are used directly.
 * Only names change and Identity nodes go: what the graph computes is the file's own.
 */
import { UserError } from "../core/errors.js";
import { PRODUCER } from "../onnx/proto-common.js";
import type { RawModel, RawNode } from "../onnx/raw-model.js";
import type { Initializer } from "../onnx/types.js";
import { isModelInput } from "./inputs.js";
import { projectionOf } from "./projection.js";

const OPSETS = { first: 17, last: 21 };
const SCOPES = "pkg.torch.onnx.name_scopes";

/** Whether a graph was written by another program. */
export function isImported(model: RawModel): boolean {
  return model.producer !== PRODUCER;
}

/**
 * @param where names the file in errors.
 * @throws UserError for an operator set outside 17 to 21, and for inputs that nothing here can feed.
 */
export function normaliseImported(model: RawModel, where: string): RawModel {
  if (model.opset < OPSETS.first || model.opset > OPSETS.last) {
    throw new UserError(`${where} uses operator set ${model.opset}; ${OPSETS.first} to ${OPSETS.last} are read here.`, {
      hint: "Export it again with opset_version=18.",
    });
  }
  const strange = model.inputs.find(({ name }) => !isModelInput(name));
  if (strange !== undefined) {
    throw new UserError(`${where} has the input "${strange.name}", which nothing here can feed.`, {
      hint: "Export a wrapper that takes input_ids and position_ids, attention_bias or attention_mask, and returns logits (docs/model.md, Bring your own graph).",
    });
  }
  return nameWeights(nameNodes(withoutWeightIdentities(model)));
}

/** Equal weights are written once by the older exporter; the others are Identity nodes of it. */
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

/** Every node gets a path of its own: its module's where the exporter noted it, else the name that it has. */
function nameNodes(model: RawModel): RawModel {
  const taken = new Set<string>();
  const nodes = model.nodes.map((node) => {
    const base = pathOf(node);
    let name = base;
    for (let i = 1; taken.has(name); i++) name = `${base}_${i}`;
    taken.add(name);
    return { ...node, name };
  });
  return { ...model, nodes };
}

/** `/bert/encoder/layer.0/attention/self/query/MatMul`, as the older exporter writes names itself. */
function pathOf(node: RawNode): string {
  const scopes = [...(node.metadata?.[SCOPES] ?? "").matchAll(/'([^']*)'/g)].map((m) => m[1] as string);
  // the first is the root, the last the operator; each of the others begins with the one before it
  const modules = scopes.slice(1, -1);
  if (modules.length === 0) return node.name === "" ? `/${node.op}` : node.name;
  const parts = modules.map((scope, i) => {
    const outer = modules[i - 1];
    return outer !== undefined && scope.startsWith(`${outer}.`) ? scope.slice(outer.length + 1) : scope;
  });
  return `/${[...parts, node.op].join("/")}`;
}

/** `bert.encoder.layer.0.attention.self.query` of a node's path; undefined for a node outside any module. */
function moduleOfPath(path: string): string | undefined {
  if (!path.startsWith("/")) return undefined;
  const parts = path.split("/").slice(1, -1);
  return parts.length === 0 ? undefined : parts.join(".");
}

/**
 * Projections' weights were transposed while exporting and lost their names (`onnx::MatMul_368`, `val_70`): they get
 * their module's. The one attribute that a wrapper holds the model by (`self.m = model`) is taken off all names, so
 * that adapters carry the names that PEFT gives them.
 */
function nameWeights(model: RawModel): RawModel {
  const names = new Map<string, string>();
  const taken = new Set(model.initializers.keys());
  for (const node of model.nodes) {
    const projection = projectionOf(model, node);
    const module = moduleOfPath(node.name);
    if (projection === undefined || module === undefined) continue;
    const { name } = projection.weight.value;
    const wanted = `${module}.weight`;
    if (isParameter(name) || names.has(name) || taken.has(wanted)) continue;
    names.set(name, wanted);
    taken.add(wanted);
  }
  const named = [...model.initializers.keys()].map((name) => names.get(name) ?? name).filter(isParameter);
  const heads = model.nodes.filter((n) => projectionOf(model, n)).map((n) => moduleOfPath(n.name) ?? "");
  const wrapper = commonRoot([...named, ...heads.map((module) => `${module}.weight`)]);
  const final = (name: string): string => {
    const renamed = names.get(name) ?? name;
    return wrapper !== undefined && renamed.startsWith(wrapper) ? renamed.slice(wrapper.length) : renamed;
  };
  const initializers = new Map<string, Initializer>();
  for (const [name, { value, data }] of model.initializers)
    initializers.set(final(name), { value: { ...value, name: final(name) }, data });
  const nodes = model.nodes.map((node) => ({
    ...node,
    inputs: node.inputs.map((input) => (input !== undefined && model.initializers.has(input) ? final(input) : input)),
  }));
  return { ...model, nodes, initializers };
}

function isParameter(name: string): boolean {
  return /\.(weight|bias)$/.test(name);
}

/** `m.` where all names begin with it. */
function commonRoot(names: readonly string[]): string | undefined {
  const roots = new Set(names.map((name) => name.split(".")[0]));
  const [root] = roots;
  return roots.size === 1 && names.every((name) => name.split(".").length > 2) ? `${root}.` : undefined;
}
