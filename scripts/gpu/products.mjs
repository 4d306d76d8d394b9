import { load } from "../bench/support.mjs";

/** Number of timed runs; one more before them is not timed. */
const RUNS = 10;
/** Elements of the copied tensor: 64 MB. */
const COPIED = 2 ** 24;

/**
 * Times one product of the model's layers in each form of the weights, y [m, n] = x [m, k] W^T and the gradient
 * dx = dy W, with all operands on the device; and copies to the device and back.
 * @returns TFLOP/s of each form, or the error where it does not run; bytes per second of the copies.
 */
export async function measureProducts(provider, [m, n, k]) {
  const { Runtime } = await load("onnx/session.js");
  const { GraphBuilder } = await load("onnx/graph.js");
  const { Emitter } = await load("onnx/emit.js");
  const { emitNf4Matrix, bnb4Attributes, NF4_BLOCK } = await load("onnx/nf4.js");
  const { floatToBfloat16, floatToFloat16 } = await load("onnx/half.js");
  const { Rng } = await load("core/rng.js");
  const runtime = await Runtime.open({ provider });
  const rng = Rng.named(0, "products");
  const pattern = Float32Array.from({ length: 4096 }, () => rng.normal());
  const floats = (size) => Float32Array.from({ length: size }, (_, i) => pattern[i % 4096]);
  const convert = { float32: (x) => x, bfloat16: floatToBfloat16, float16: floatToFloat16 };
  const tensor = (dtype, shape) => {
    const size = shape.reduce((a, d) => a * d, 1);
    return { dtype, shape, data: convert[dtype](floats(size)) };
  };
  const packed = (g) => [
    g.initializer(
      "codes",
      "uint8",
      [(n * k) / 2],
      Uint8Array.from({ length: (n * k) / 2 }, (_, i) => (i * 37) % 256),
    ),
    g.initializer("scales", "float32", [(n * k) / NF4_BLOCK], floats((n * k) / NF4_BLOCK)),
  ];
  const time = async (what, inputs, emit) => {
    try {
      const g = new GraphBuilder(what);
      const e = new Emitter(g);
      const values = Object.entries(inputs).map(([name, { dtype, shape }]) => g.input(name, dtype, shape));
      g.output("y", emit(g, e, ...values));
      for (const [name, value] of Object.entries(inputs)) await runtime.put(name, value);
      await runtime.load(what, { bytes: runtime.encode(g.build()) });
      const bind = Object.fromEntries(Object.keys(inputs).map((name) => [name, name]));
      const run = () => runtime.run(what, { feeds: {}, bind, keep: { y: "y" }, fetch: [] });
      await run();
      const began = performance.now();
      for (let i = 0; i < RUNS; i++) await run();
      const seconds = (performance.now() - began) / 1000 / RUNS;
      return { what, seconds, tflops: (2 * m * n * k) / seconds / 1e12 };
    } catch (error) {
      return { what, error: error.message };
    } finally {
      if (runtime.has(what)) await runtime.unload(what);
      await runtime.drop([...Object.keys(inputs), "y"]);
    }
  };
  const product = (dtype) =>
    time(`${dtype}`, { x: tensor(dtype, [m, k]), w: tensor(dtype, [n, k]) }, (_, e, x, w) =>
      e.gemm(x, w, { transB: true }),
    );
  const nf4 = (dtype) =>
    time(`NF4, ${dtype}`, { x: tensor(dtype, [m, k]) }, (g, e, x) => {
      const [codes, scales] = packed(g);
      return g.op("MatMulBnb4", [x, codes, e.cast(scales, dtype)], bnb4Attributes(n, k));
    });
  try {
    const products = [await product("float32")];
    if (provider === "cuda") products.push(await product("bfloat16"), await product("float16"));
    products.push(await nf4("float32"));
    if (provider === "cuda") products.push(await nf4("bfloat16"));
    products.push(
      await time("NF4, gradient, float32", { dy: tensor("float32", [m, n]) }, (g, e, dy) => {
        const [codes, scales] = packed(g);
        return e.gemm(dy, emitNf4Matrix(e, codes, e.reshape(scales, [(n * k) / NF4_BLOCK, 1]), n, k));
      }),
    );
    return { shape: [m, n, k], products, copies: await copies(runtime, { GraphBuilder, Emitter }) };
  } finally {
    await runtime.close();
  }
}

/** Measures bytes per second to the device, by feeding an input, and back, by reading a tensor. */
async function copies(runtime, { GraphBuilder, Emitter }) {
  const g = new GraphBuilder("copies");
  const e = new Emitter(g);
  g.output("y", e.add(g.input("x", "float32", [COPIED]), 1));
  await runtime.load("copies", { bytes: runtime.encode(g.build()) });
  const x = { dtype: "float32", shape: [COPIED], data: new Float32Array(COPIED) };
  const rate = async (work) => {
    await work();
    const began = performance.now();
    for (let i = 0; i < RUNS; i++) await work();
    return (4 * COPIED * RUNS) / ((performance.now() - began) / 1000);
  };
  const there = await rate(() => runtime.run("copies", { feeds: { x }, keep: { y: "y" }, fetch: [] }));
  return { there, back: await rate(() => runtime.get("y")) };
}
