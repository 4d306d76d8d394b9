// node scripts/gpu/capture.mjs: what a CUDA graph of one product may not hold, judged by the stub: JSON by operator.
// A replayed product with a 4-bit matrix reads its table from a stack frame that is gone: wrong, and without an error.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { load } from "../bench/support.mjs";
import { ROOT } from "../lib/setup.mjs";
import { openCounters, prepareStub } from "./stub.mjs";

const [N, K, ROWS] = [64, 128, 4];
const [DEVICE_ALLOCATOR, DEFAULT_MEMORY, ERRORS_ONLY] = [0, 0, 3];
const X = { name: "x", dtype: "float32", shape: [ROWS, K] };
const Y = { name: "y", dtype: "float32", shape: [ROWS, N] };

if (process.env.STUB_LIBRARY === undefined) {
  const env = { ...process.env, ...prepareStub(join(ROOT, "node_modules", ".cache", "gpu-plan"), 1e9) };
  process.exitCode = spawnSync(process.execPath, [fileURLToPath(import.meta.url)], { stdio: "inherit", env }).status;
} else {
  const { bnb4Attributes, NF4_BLOCK } = await load("onnx/nf4.js");
  const packed = [
    { name: "codes", dtype: "uint8", shape: [(N * K) / 2] },
    { name: "scales", dtype: "float32", shape: [(N * K) / NF4_BLOCK] },
  ];
  const attributes = { ...bnb4Attributes(N, K), training_mode: 1 };
  const found = {
    MatMulBnb4: await replayed({ op: "MatMulBnb4", domain: "com.microsoft", attributes }, packed),
    MatMul: await replayed({ op: "MatMul", domain: "", attributes: {} }, [{ ...X, name: "w", shape: [K, N] }]),
  };
  process.stdout.write(`${JSON.stringify(found)}\n`);
}

/** Captures a graph of one node, replays it, and returns the launches of graphs and the stub's violations. */
async function replayed(node, weights) {
  const { OrtApi } = await load("features/gpu/ort-api.js");
  const { encodeModel } = await load("onnx/format/proto.js");
  const { libraryPath } = await load("onnx/runtimes/library.js");
  const { DTYPE_CODE } = await load("onnx/types.js");
  // koffi is configured before its first library
  const api = await OrtApi.load(libraryPath());
  const { read } = await openCounters();
  const inputs = [X, ...weights];
  const graph = { name: node.op, opset: 21, inputs, outputs: [Y], initializers: new Map() };
  const bytes = encodeModel({ ...graph, nodes: [{ ...node, name: `/${node.op}`, inputs, outputs: [Y] }] });
  const env = api.make("CreateEnv", "ReleaseEnv", ERRORS_ONLY, "capture");
  const options = api.make("CreateSessionOptions", "ReleaseSessionOptions");
  const cuda = api.make("CreateCUDAProviderOptions", "ReleaseCUDAProviderOptions");
  api.check("UpdateCUDAProviderOptions", cuda, ["enable_cuda_graph"], ["1"], 1);
  api.check("SessionOptionsAppendExecutionProvider_CUDA_V2", options, cuda);
  const session = api.make("CreateSessionFromArray", "ReleaseSession", env, bytes, bytes.byteLength, options);
  const device = api.make("CreateMemoryInfo", "ReleaseMemoryInfo", "Cuda", DEVICE_ALLOCATOR, 0, DEFAULT_MEMORY);
  const allocator = api.make("CreateAllocator", "ReleaseAllocator", session, device);
  const binding = api.make("CreateIoBinding", "ReleaseIoBinding", session);
  const tensor = ({ dtype, shape }) => {
    const dims = BigInt64Array.from(shape, BigInt);
    return api.make("CreateTensorAsOrtValue", "ReleaseValue", allocator, dims, dims.length, DTYPE_CODE[dtype]);
  };
  for (const input of inputs) api.check("BindInput", binding, input.name, tensor(input));
  api.check("BindOutput", binding, Y.name, tensor(Y));
  read();
  // the first call runs without a graph, then captures and replays
  for (let run = 0; run < 3; run++) api.check("RunWithBinding", session, null, binding);
  const { kernels, violations } = read();
  return { replays: kernels.cudaGraphLaunch ?? 0, violations };
}
