import type { Lowering } from "../../../onnx/session.js";
import { forWebGpu } from "../webgpu.js";

export const lowering: Lowering = (graph) => forWebGpu(graph);
