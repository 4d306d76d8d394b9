import assert from "node:assert/strict";
import { join } from "node:path";
import { it } from "node:test";
import fc from "fast-check";
import { withRanges } from "../../../src/attention/bias.js";
import { backward } from "../../../src/autodiff/backward.js";
import { ALL_LAYERS } from "../../../src/autodiff/recompute.js";
import { halfTrunk } from "../../../src/features/gpu/half-trunk.js";
import { lowering as cuda } from "../../../src/features/gpu/lowerings/cuda.js";
import { lowering as webGpu } from "../../../src/features/gpu/lowerings/webgpu.js";
import { bindModel } from "../../../src/nn/bind.js";
import { normaliseImported } from "../../../src/nn/imported.js";
import { readModelFile } from "../../../src/onnx/format/proto.js";
import type { RawModel } from "../../../src/onnx/format/raw-model.js";
import { lowering as cpu } from "../../../src/onnx/lowerings/cpu.js";
import { f32, i64 } from "../../../src/onnx/tensors.js";
import type { Graph, Value } from "../../../src/onnx/types.js";
import { relativeError } from "../../support/golden.js";
import { importedModel } from "../../support/imported-model.js";
import { runGraph } from "../../support/run-graph.js";
import { cpuRuntime } from "../../support/temporary.js";

const [B, N, R] = [1, 6, 3];

/** The training graph of a file's model, with the names of its own inputs. */
function training(file: RawModel, path: string): Graph {
  const model = normaliseImported(file, path, { vocab_size: 64 });
  const lora = { rank: 2, alpha: 4, targets: ["c_attn", "c_proj", "query"] };
  const { g, e, outputs, parameters } = bindModel(model, "training_model", { dims: { B, N }, lora, rows: R });
  const targets = g.input("targets", "int64", [R]);
  const picked = e.gatherElements(e.logSoftmax(outputs.logits as Value), e.reshape(targets, [R, 1]), 1);
  const loss = e.neg(e.average(picked));
  const initial = new Map(parameters.map((p) => [p.name, g.input(`acc/${p.name}`, "float32", p.shape)]));
  const gradients = backward(g, loss, parameters, initial, { layers: ALL_LAYERS });
  g.output("logits", outputs.logits as Value);
  g.output("loss", loss);
  parameters.forEach((p, i) => {
    g.output(`grad/${p.name}`, gradients[i] as Value);
  });
  return g.build();
}

/** Every form in which a graph may be loaded. */
const forms = (graph: Graph): Graph[] => [
  graph,
  cpu(graph, "float32"),
  webGpu(graph, "float32"),
  cuda(graph, "float32"),
  cuda(withRanges(graph), "float16"),
  halfTrunk(withRanges(graph), "bfloat16"),
];

const valuesOf = ({ inputs, nodes, initializers }: Graph): string[] => [
  ...[...inputs, ...nodes.flatMap(({ outputs }) => outputs)].map(({ name }) => name),
  ...initializers.keys(),
];

function assertUnique(graph: Graph): void {
  for (const names of [graph.nodes.map(({ name }) => name), valuesOf(graph)]) {
    const twice = names.filter((name, i) => names.indexOf(name) !== i);
    assert.deepEqual(twice, [], `${graph.name}: names used twice`);
  }
}

/** Gives nodes and values of a file other names; inputs, and weights by which modules are known, keep theirs. */
function renamed(file: RawModel, names: readonly string[]): RawModel {
  const kept = new Set([
    ...file.inputs.map(({ name }) => name),
    ...[...file.initializers.keys()].filter((n) => /\.(weight|bias)$/.test(n)),
  ]);
  const pool = [...new Set(names)].filter((name) => !kept.has(name) && !/\.(weight|bias)$/.test(name));
  let next = 0;
  const given = new Map<string, string>();
  const of = (name: string): string => {
    if (kept.has(name) || name === "") return name;
    const known = given.get(name) ?? pool[next++] ?? name;
    given.set(name, known);
    return known;
  };
  const nodes = file.nodes.map((node, i) => ({
    ...node,
    // modules are known by the names of their products and of the readers of parameters
    name:
      node.op === "MatMul" || node.inputs.some((input) => kept.has(input ?? ""))
        ? node.name
        : (pool[(7 * i) % pool.length] ?? node.name),
    outputs: node.outputs.map(of),
  }));
  return {
    ...file,
    nodes: nodes.map((node) => ({ ...node, inputs: node.inputs.map((input) => input && of(input)) })),
    outputs: file.outputs.map((output) => ({ ...output, name: of(output.name) })),
    initializers: new Map(
      [...file.initializers].map(([name, one]) => [of(name), { ...one, value: { ...one.value, name: of(name) } }]),
    ),
  };
}

const runtime = await cpuRuntime();

for (const name of ["nano-torchscript", "bert-torchscript", "recipe-docs"] as const)
  it(`a file whose nodes and values have the names that any pass makes up is the same model: ${name}`, async () => {
    const dir = importedModel(name);
    const path = join(dir, "model.onnx");
    const file = await readModelFile(path);
    const plain = training(file, path);
    const made = forms(plain).flatMap((graph) => [...graph.nodes.map((node) => node.name), ...valuesOf(graph)]);
    const logits = async (graph: Graph): Promise<Float32Array> => {
      const feeds = Object.fromEntries(
        graph.inputs.map(({ name, dtype, shape }) => {
          const size = (shape as number[]).reduce((a, b) => a * b, 1);
          const ints = BigInt64Array.from({ length: size }, (_, i) => BigInt(i));
          const floats = new Float32Array(size).fill(0.1);
          return [name, dtype === "int64" ? i64(shape as number[], ints) : f32(shape as number[], floats)];
        }),
      );
      const out = await runGraph(runtime, graph, feeds, dir);
      return out.logits?.data as Float32Array;
    };
    const expected = await logits(plain);
    const property = fc.asyncProperty(fc.shuffledSubarray([...new Set(made)], { minLength: 100 }), async (names) => {
      const graph = training(renamed(file, names), path);
      forms(graph).forEach(assertUnique);
      assert.ok(relativeError(await logits(graph), expected) < 1e-6);
    });
    await fc.assert(property, { seed: 1, numRuns: 6, endOnFailure: true, includeErrorInReport: true });
  });
