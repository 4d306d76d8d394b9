import { Emitter } from "../../../onnx/emit.js";
import { GraphBuilder } from "../../../onnx/graph.js";
import { emitNf4Matrix, NF4_BLOCK } from "../../../onnx/nf4.js";
import type { SelfCheck } from "../../../onnx/provider.js";

const [M, N, K] = [3, 64, 128];

/**
 * Builds a check of dx = dy W for a matrix in NF4: dy [3, 64], W [64, 128]. On the CPU through the decoded matrix; on
 * CUDA through MatMulBnb4 with transB = 0 (cuda.ts), which some kernels compute wrongly without an error.
 */
export function selfCheck(): SelfCheck {
  const g = new GraphBuilder("packed-gradient-check");
  const e = new Emitter(g);
  const dy = g.input("dy", "float32", [M, N]);
  const [bytes, blocks] = [(N * K) / 2, (N * K) / NF4_BLOCK];
  const codes = g.initializer(
    "codes",
    "uint8",
    [bytes],
    Uint8Array.from({ length: bytes }, (_, i) => (i * 37 + (i >> 5)) % 256),
  );
  const scales = g.initializer(
    "scales",
    "float32",
    [blocks],
    Float32Array.from({ length: blocks }, (_, i) => 0.5 + (i % 7) / 8),
  );
  const matrix = g.scope("decode", () => emitNf4Matrix(e, codes, e.reshape(scales, [blocks, 1]), N, K));
  g.output("gradient of a product in NF4", e.gemm(dy, matrix));
  const data = Float32Array.from({ length: M * N }, (_, i) => ((i * 7) % 11) / 4 - 1);
  return { graph: g.build(), feeds: { dy: { dtype: "float32", shape: [M, N], data } }, tolerance: 0.02 };
}
