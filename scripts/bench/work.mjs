/** The share of a machine's arithmetic that a phase uses: the rate of its matrix products over the fastest measured. */
import { load } from "./support.mjs";

const SIZE = 1024;

/** Measures the CPU milliseconds that the whole process spends on some work. */
export async function cpuMs(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Counts the operations of a graph's matrix products, as a function of its dynamic sizes. */
function operationsOf(graph) {
  const products = graph.nodes.flatMap(({ op, inputs: [a], outputs: [y], attributes }) => {
    if (op === "MatMul" || op === "MatMulBnb4") return [[...y.shape, a.shape.at(-1)]];
    return op === "Gemm" ? [[...y.shape, a.shape[attributes.transA === 1 ? 0 : 1]]] : [];
  });
  const size = (dim, sizes) =>
    String(dim)
      .split("*")
      .reduce((n, part) => n * (sizes[part] ?? Number(part)), 1);
  return (sizes) => products.reduce((sum, dims) => sum + 2 * dims.reduce((n, dim) => n * size(dim, sizes), 1), 0);
}

/**
 * Starts to count the matrix products that a runtime computes.
 * @returns a function that gives the operations in matrix products so far.
 */
export function countOperations(runtime) {
  const sessions = new Map();
  let operations = 0;
  let last;
  const { lower, load, run } = runtime;
  // a graph is lowered before it is loaded, one after another
  runtime.lower = (graph, ...rest) => {
    last = { inputs: graph.inputs, of: operationsOf(graph) };
    return lower.call(runtime, graph, ...rest);
  };
  runtime.load = (name, model, options) => {
    sessions.set(name, last);
    return load.call(runtime, name, model, options);
  };
  runtime.run = async (name, request) => {
    const { inputs, of } = sessions.get(name) ?? { inputs: [], of: () => 0 };
    const sizes = {};
    for (const input of inputs)
      input.shape.forEach((dim, i) => {
        if (typeof dim === "string" && request.feeds[input.name]) sizes[dim] = request.feeds[input.name].shape[i];
      });
    const out = await run.call(runtime, name, request);
    operations += of(sizes);
    return out;
  };
  return () => operations;
}

/** Opens the reference product of the peak rate: 1024 x 1024 by a constant matrix of that size, on one thread. */
export async function openPeak() {
  const { Runtime } = await load("onnx/session.js");
  const { GraphBuilder } = await load("onnx/graph.js");
  const { Emitter } = await load("onnx/emit.js");
  const runtime = await Runtime.open({ provider: "cpu", threads: 1 });
  const g = new GraphBuilder("peak");
  const matrix = Float32Array.from({ length: SIZE * SIZE }, (_, i) => Math.sin(i));
  const weight = g.initializer("w", "float32", [SIZE, SIZE], matrix);
  g.output("y", new Emitter(g).gemm(g.input("x", "float32", [SIZE, SIZE]), weight));
  await runtime.load("peak", { bytes: runtime.encode(g.build()) });
  await runtime.put("x", { dtype: "float32", shape: [SIZE, SIZE], data: matrix });
  return {
    /** Measures the operations per CPU millisecond. */
    rate: async () =>
      (2 * SIZE ** 3) / (await cpuMs(() => runtime.run("peak", { feeds: {}, bind: { x: "x" }, keep: { y: "y" } }))),
    close: () => runtime.close(),
  };
}
