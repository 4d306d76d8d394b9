import type { Lowering } from "../../../onnx/session.js";
import { forCuda } from "../cuda.js";
import { halfTrunk } from "../half-trunk.js";

/** CUDA computes layers in 16 bits where asked. */
export const lowering: Lowering = (graph, precision) => {
  const lowered = forCuda(graph);
  return precision === "float32" ? lowered : halfTrunk(lowered, precision);
};
