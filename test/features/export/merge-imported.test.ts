import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import { bindModel, loraSites } from "../../../src/nn/bind.js";
import { freshAdapter, type LoraOptions } from "../../../src/nn/lora.js";
import { loadModel, type Model } from "../../../src/nn/model.js";
import { ADAPTER, ADAPTER_CONFIG, peftConfig, writePeftTensors } from "../../../src/nn/peft.js";
import { readModelFile, writeModelFile } from "../../../src/onnx/format/proto.js";
import type { RawNode } from "../../../src/onnx/format/raw-model.js";
import type { Tensor, Value } from "../../../src/onnx/types.js";
import { readGolden, relativeError } from "../../support/golden.js";
import { EXPORTS, importedModel } from "../../support/imported-model.js";
import { runGraph } from "../../support/run-graph.js";
import { cpuRuntime, temporaryFolder } from "../../support/temporary.js";
import { userError } from "../../support/user-error.js";
import { exported } from "./exported.js";

const [B, N] = [2, 10];
const ids = (of: (i: number) => number): Tensor => {
  return { dtype: "int64", shape: [B, N], data: BigInt64Array.from({ length: B * N }, (_, i) => BigInt(of(i))) };
};
const FEEDS = {
  input_ids: ids((i) => (i * 7) % 60),
  position_ids: ids((i) => i % N),
  attention_bias: { dtype: "float32", shape: [B, 1, N, N], data: new Float32Array(B * N * N) } as Tensor,
};

const runtime = await cpuRuntime();

describe("adapters of imported graphs", () => {
  async function logits(
    model: Model,
    lora?: LoraOptions,
    adapter?: ReadonlyMap<string, Tensor>,
  ): Promise<Float32Array> {
    const bound = bindModel(model.graph, "bound", { dims: { B, N }, ...(lora === undefined ? {} : { lora }) });
    bound.g.output("out", bound.outputs.logits as Value);
    const feeds = { ...FEEDS, ...Object.fromEntries(adapter ?? []) };
    return (await runGraph(runtime, bound.g.build(), feeds, model.dir)).out?.data as Float32Array;
  }

  /** The golden's adapter as a directory of PEFT's. */
  function adapterOf(name: string): { dir: string; lora: LoraOptions; tensors: Map<string, Tensor> } {
    const golden = readGolden(join("imported", name.split("-")[0] as string));
    const { rank, alpha, targets } = golden.meta as unknown as LoraOptions;
    const lora = { rank, alpha, targets };
    const tensors = new Map([...golden.tensors].filter(([key]) => key.startsWith("base_model.")));
    const dir = temporaryFolder("adapter");
    writePeftTensors(join(dir, ADAPTER), tensors);
    writeFileSync(join(dir, ADAPTER_CONFIG), JSON.stringify(peftConfig(lora, "x", "bidirectional")));
    return { dir, lora, tensors };
  }

  for (const name of EXPORTS) {
    it(`are merged as they act beside the graph: ${name}`, async () => {
      const dir = importedModel(name);
      const { dir: adapter, lora, tensors } = adapterOf(name);
      const [model, merged] = [await loadModel(dir), await exported(dir, { adapter })];
      const expected = await logits(model, lora, tensors);
      assert.ok(relativeError(expected, await logits(model)) > 1e-3, "the adapter does something");
      assert.ok(relativeError(await logits(merged), expected) < 1e-5);
      // the same graph again, for another adapter
      assert.deepEqual([...merged.graph.initializers.keys()], [...model.graph.initializers.keys()]);
    });
  }

  it("are refused where a weight is used as more than a projection, and with what export does not do", async () => {
    const dir = importedModel("qwen3-torchscript");
    const refused = (options: object, pattern: RegExp): Promise<void> =>
      assert.rejects(exported(dir, options), userError(pattern));
    const { dir: adapter, lora } = adapterOf("qwen3-torchscript");
    await refused({}, /all that export does with one is to merge an adapter/);
    await refused({ adapter, precision: "bf16" }, /graph of another program/);
    // its head becomes the table of embeddings, transposed, as graphs of tied models have it
    const path = join(dir, "model.onnx");
    const file = await readModelFile(path);
    const table = file.nodes.find(({ op }) => op === "Gather")?.inputs[0];
    const nodes = file.nodes.flatMap((node): RawNode[] => {
      if (!node.outputs.includes("logits")) return [node];
      const turned = { ...node, name: "turn", op: "Transpose", inputs: [table], outputs: ["turned"] };
      return [
        { ...turned, attributes: { perm: [1, 0] } },
        { ...node, inputs: [node.inputs[0], "turned"] },
      ];
    });
    await writeModelFile(path, { ...file, nodes });
    const sites = loraSites((await loadModel(dir)).graph, { ...lora, targets: ["embed_tokens"] });
    writePeftTensors(join(adapter, ADAPTER), freshAdapter(sites, lora, Rng.named(1, "adapter")));
    await refused({ adapter }, /is also the model's table of embeddings/);
  });
});
