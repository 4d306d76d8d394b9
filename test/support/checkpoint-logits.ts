import { join } from "node:path";
import { packageRoot } from "../../src/core/files.js";
import { bindModel } from "../../src/nn/bind.js";
import type { LoraOptions } from "../../src/nn/lora.js";
import type { Model } from "../../src/nn/model.js";
import type { Runtime } from "../../src/onnx/session.js";
import type { Tensor, Value } from "../../src/onnx/types.js";
import { readSafetensors } from "../../src/weights/safetensors.js";
import { runGraph } from "./run-graph.js";

/** Computes the logits [B, N, V] of a model of that vocabulary on the inputs of test/golden/checkpoint. */
export async function checkpointLogits(
  runtime: Runtime,
  model: Model,
  adapter?: { readonly lora: LoraOptions; readonly tensors: ReadonlyMap<string, Tensor> },
): Promise<Float32Array> {
  const golden = readSafetensors(join(packageRoot(), "test", "golden", "checkpoint", "expected.safetensors"));
  const [B, N] = (golden.get("input_ids") as Tensor).shape as [number, number];
  const { g, outputs } = bindModel(model.graph, "logits", {
    dims: { B, N },
    ...(adapter === undefined ? {} : { lora: adapter.lora }),
  });
  g.output("out", outputs.logits as Value);
  const feeds: Record<string, Tensor> = Object.fromEntries(adapter?.tensors ?? []);
  for (const name of ["input_ids", "position_ids", "attention_bias"]) feeds[name] = golden.get(name) as Tensor;
  return (await runGraph(runtime, g.build(), feeds, model.dir)).out?.data as Float32Array;
}
