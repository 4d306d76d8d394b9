import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { UserError } from "../../../src/core/errors.js";
import { selfCheck as gradientCheck } from "../../../src/features/gpu/self-checks/gradients.js";
import { chooseProvider, type Probe, type SelfCheck } from "../../../src/onnx/provider.js";
import type { Node, Tensor, Value } from "../../../src/onnx/types.js";
import { relativeError } from "../../support/golden.js";
import { runGraph } from "../../support/run-graph.js";
import { cpuRuntime } from "../../support/temporary.js";

const runtime = await cpuRuntime();

/** Rounds float32 to TF32, which has 10 bits of mantissa. */
function tf32(tensor: Tensor): Tensor {
  if (!(tensor.data instanceof Float32Array)) return tensor;
  const bits = new Uint32Array(tensor.data.slice().buffer);
  for (let i = 0; i < bits.length; i++) bits[i] = ((bits[i] as number) + 0x1000) & 0xffffe000;
  return { ...tensor, data: new Float32Array(bits.buffer) };
}

describe("the gradient self-check", () => {
  const run = async ({ graph, feeds }: Pick<SelfCheck, "graph" | "feeds">): Promise<Map<string, Float32Array>> => {
    const outputs = Object.entries(await runGraph(runtime, graph, feeds));
    return new Map(outputs.map(([name, { data }]) => [name, data as Float32Array]));
  };

  const expected = new Map<string, Promise<Map<string, Float32Array>>>();
  /** Makes a provider that computes as the CPU does except for changed nodes. */
  const broken =
    (change: (node: Node) => readonly Node[]): Probe =>
    (provider, { graph, feeds }) => {
      if (provider !== "cpu") return run({ graph: { ...graph, nodes: graph.nodes.flatMap(change) }, feeds });
      const known = expected.get(graph.name) ?? run({ graph, feeds });
      expected.set(graph.name, known);
      return known;
    };

  const refusal = async (probe: Probe): Promise<string> => {
    try {
      const { provider } = await chooseProvider("webgpu", probe, undefined, [gradientCheck()]);
      return `${provider} was taken`;
    } catch (error) {
      assert.ok(error instanceof UserError, String(error));
      return error.message;
    }
  };

  it("passes where a provider computes as the CPU does", async () => {
    assert.equal(await refusal(broken((node) => [node])), "webgpu was taken");
  });

  it("refuses a provider that writes the mean into RMSNorm's second output", async () => {
    const mean = (node: Node): readonly Node[] => {
      const [y, inverse] = node.outputs as [Value, Value | undefined];
      if (node.op !== "SimplifiedLayerNormalization" || inverse === undefined) return [node];
      const outputs = [{ ...y, name: `${y.name}/unused` }, inverse];
      const over: Node = { ...node, name: `${node.name}/mean`, op: "LayerNormalization", outputs };
      return [{ ...node, outputs: [y] }, over];
    };
    assert.match(
      await refusal(broken(mean)),
      /^The webgpu provider cannot be used: its gradient of RMSNorm by x differs from the CPU's by \d+ % of its largest value; its gradient of RMSNorm by weight differs .* value$/,
    );
  });

  it("notices every op of a backward pass that is wrong", async () => {
    const backwards = (node: Node): boolean => node.name.startsWith("/grad/") && node.outputs[0]?.dtype === "float32";
    const { nodes } = gradientCheck().graph;
    const ops = new Set(nodes.filter(backwards).map((n) => n.op));
    for (const needed of ["Gemm", "MatMul", "ScatterND", "ScatterElements", "GatherElements", "ReduceSum", "Transpose"])
      assert.ok(ops.has(needed), `${needed} is not in the check`);
    for (const op of ops) {
      const spoil = (node: Node): readonly Node[] => {
        if (node.op !== op || !backwards(node)) return [node];
        const [out, ...rest] = node.outputs as [Value, ...Value[]];
        const right = { ...out, name: `${out.name}/right` };
        const name = `${node.name}/wrong`;
        const wrong: Node = { name, op: "Cos", domain: "", inputs: [right], outputs: [out], attributes: {} };
        return [{ ...node, outputs: [right, ...rest] }, wrong];
      };
      assert.match(await refusal(broken(spoil)), /its gradient of .* differs/, op);
    }
  });

  it("leaves room for TF32", async () => {
    const check = gradientCheck();
    const rounded = Object.fromEntries(Object.entries(check.feeds).map(([name, tensor]) => [name, tf32(tensor)]));
    const [expected, got] = [await run(check), await run({ graph: check.graph, feeds: rounded })];
    for (const [name, values] of expected) {
      const error = relativeError(got.get(name) as Float32Array, values);
      assert.ok(error < check.tolerance / 4, `${name}: ${error}`);
      const actual = values.some((x) => Math.abs(x) > 0.05);
      assert.ok(actual, `${name} is next to nothing`);
    }
  });
});
