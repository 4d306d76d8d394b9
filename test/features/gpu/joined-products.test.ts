import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import { withJoinedProducts } from "../../../src/features/gpu/joined-products.js";
import { decodeModel, encodeModel } from "../../../src/onnx/format/proto.js";
import { GraphBuilder } from "../../../src/onnx/graph.js";
import { bnb4Attributes } from "../../../src/onnx/nf4.js";
import type { Runtime } from "../../../src/onnx/session.js";
import { f32 } from "../../../src/onnx/tensors.js";
import type { Graph, Value } from "../../../src/onnx/types.js";
import { cpuRuntime, temporaryFolder } from "../../support/temporary.js";

const [K, RANK, ROWS] = [64, 2, 3];
const OUTPUTS = [16, 8, 24];
const rng = Rng.named(0, "joined");
const numbers = (n: number): Float32Array => Float32Array.from({ length: n }, () => rng.uniform() - 0.5);
const dir = temporaryFolder("joined");
const apart = await cpuRuntime();

/** Products of x with some weights of a file, and of an adapter of each. */
function build(packed: boolean, which: readonly number[]): Graph {
  const g = new GraphBuilder("products");
  const x = g.input("x", "float32", [ROWS, K]);
  const low = g.op("Gemm", [x, g.constant("float32", [RANK, K], Array(RANK * K).fill(0.1))], { transB: 1 });
  let offset = 0;
  const weight = (name: string, dtype: Value["dtype"], shape: number[], bytes: number): Value => {
    const data = { file: "weights", offset, length: bytes };
    // other bytes lie between the weights
    offset += bytes + 12;
    return g.initializer(name, dtype, shape, data);
  };
  OUTPUTS.forEach((n, i) => {
    const codes = packed
      ? weight(`codes${i}`, "uint8", [(n * K) / 2], (n * K) / 2)
      : weight(`w${i}`, "float32", [n, K], 4 * n * K);
    const scales = packed ? [weight(`scales${i}`, "float32", [n], 4 * n)] : [];
    if (!which.includes(i)) return;
    const [op, attributes] = packed ? ["MatMulBnb4", bnb4Attributes(n, K)] : ["Gemm", { transB: 1 }];
    const y = g.op(op as string, [x, codes, ...scales], attributes as Record<string, number>);
    const b = g.input(`base_model.${i}.lora_B.weight`, "float32", [n, RANK]);
    g.output(`y${i}`, g.op("Gemm", [low, b, y], { transB: 1, alpha: 2 }));
  });
  return g.build();
}

for (const packed of [false, true])
  it(`products of one input with weights ${packed ? "in 4 bits" : "in float32"} are one, with the same results`, async () => {
    const runtime = await cpuRuntime({ binding: "c-api" });
    const values = numbers(20_000);
    writeFileSync(join(dir, "weights"), new Uint8Array(values.buffer));
    const b = OUTPUTS.map((n, i) => [`base_model.${i}.lora_B.weight`, f32([n, RANK], numbers(n * RANK))] as const);
    const run = async (on: Runtime, session: string, which: readonly number[]) => {
      await on.load(session, { bytes: encodeModel(build(packed, which)), weightsDir: dir });
      for (const [name, tensor] of b) await on.put(name, tensor);
      const bind = Object.fromEntries(which.map((i) => b[i]?.[0] as string).map((name) => [name, name]));
      return on.run(session, { feeds: { x: f32([ROWS, K], values.slice(0, ROWS * K)) }, bind });
    };
    const { nodes } = withJoinedProducts(decodeModel(encodeModel(build(packed, [0, 1, 2])), "products"));
    const products = nodes.filter(({ op }) => op === "Gemm" || op === "MatMulBnb4");
    assert.equal(products.length, 3, "x A^T, all weights, all adapters");
    const expected = await run(apart, `apart ${packed}`, [0, 1, 2]);
    const joined = await run(runtime, "joined", [0, 1, 2]);
    // uses a part of what is joined
    const { y1 } = await run(runtime, "alone", [1]);
    for (const [name, { data }] of Object.entries({ ...joined, alone: y1 as (typeof joined)[string] }))
      data.forEach((v, n) => {
        const error = Math.abs(Number(v) - Number(expected[name === "alone" ? "y1" : name]?.data[n]));
        assert.ok(error < 1e-5, `${name} ${n}: ${error}`);
      });
  });
