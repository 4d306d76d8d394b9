import { encodeModel } from "../../src/onnx/format/proto.js";
import type { Runtime } from "../../src/onnx/session.js";
import type { NamedTensors } from "../../src/onnx/tensors.js";
import type { Graph, Tensor } from "../../src/onnx/types.js";

/** Runs a graph once, and returns its outputs. @param weightsDir directory of its external weights. */
export async function runGraph(
  runtime: Runtime,
  graph: Parameters<typeof encodeModel>[0] | Graph,
  feeds: NamedTensors,
  weightsDir?: string,
): Promise<Record<string, Tensor>> {
  await runtime.load("once", { bytes: encodeModel(graph), ...(weightsDir === undefined ? {} : { weightsDir }) });
  try {
    return await runtime.run("once", { feeds });
  } finally {
    await runtime.unload("once");
  }
}
