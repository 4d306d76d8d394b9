import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { messageOf, UserError } from "../core/errors.js";
import { encodeModel } from "./proto.js";
import type { ProviderName } from "./session-worker.js";
import type { Tensor, Value } from "./types.js";

export type ProviderRequest = "auto" | ProviderName;

export interface ProviderChoice {
  readonly provider: ProviderName;
  readonly reason: string;
}

/** Runs the self-check graph on a provider and returns its output; throws where the provider cannot be used. */
export type Probe = (provider: ProviderName) => Promise<Float32Array>;

const CUDA_INSTALL = "node node_modules/onnxruntime-node/script/install.js --onnxruntime-node-install=true";

const ROWS = 4;
const INNER = 8;
const COLS = 3;

/** Feeds of the self-check. Quarters of small integers: exact in float32, and in the TF32 that GPUs may use. */
export const SELF_CHECK: { readonly feeds: Readonly<Record<"a" | "b", Tensor>>; readonly output: "c" } = {
  feeds: {
    a: {
      dtype: "float32",
      shape: [ROWS, INNER],
      data: Float32Array.from({ length: ROWS * INNER }, (_, i) => ((i * 7) % 11) / 4 - 1),
    },
    b: {
      dtype: "float32",
      shape: [INNER, COLS],
      data: Float32Array.from({ length: INNER * COLS }, (_, i) => ((i * 5) % 13) / 4 - 1),
    },
  },
  output: "c",
};

/** The self-check graph: c = a @ b, float32 [4,8] @ [8,3]. */
export function selfCheckModel(): Uint8Array {
  const a: Value = { name: "a", dtype: "float32", shape: [ROWS, INNER] };
  const b: Value = { name: "b", dtype: "float32", shape: [INNER, COLS] };
  const c: Value = { name: SELF_CHECK.output, dtype: "float32", shape: [ROWS, COLS] };
  return encodeModel({
    name: "self-check",
    opset: 21,
    inputs: [a, b],
    outputs: [c],
    nodes: [{ name: "/MatMul", op: "MatMul", domain: "", inputs: [a, b], outputs: [c], attributes: {} }],
    initializers: new Map(),
  });
}

/** Where ONNX Runtime looks for its CUDA provider: beside the native binding. Undefined on platforms without CUDA. */
export function cudaLibrary(): string | undefined {
  const name = { linux: "libonnxruntime_providers_cuda.so", win32: "onnxruntime_providers_cuda.dll" }[
    process.platform as string
  ];
  if (name === undefined) return undefined;
  const entry = createRequire(import.meta.url).resolve("onnxruntime-node");
  return join(dirname(entry), "..", "bin", "napi-v6", process.platform, process.arch, name);
}

/**
 * Chooses the execution provider. `auto` takes CUDA if its library is there and the self-check agrees with the CPU,
 * else the CPU; WebGPU only on request.
 * @param library path of the CUDA provider's library, undefined where the platform has none.
 * @throws UserError where a requested provider cannot be used, saying what is missing.
 */
export async function chooseProvider(
  request: ProviderRequest,
  probe: Probe,
  library: string | undefined = cudaLibrary(),
): Promise<ProviderChoice> {
  if (request === "cpu") return { provider: "cpu", reason: "requested" };
  if (request === "webgpu") {
    const fault = await faultOf("webgpu", probe);
    if (fault === undefined) return { provider: "webgpu", reason: "requested; the self-check agrees with the CPU" };
    throw new UserError(`The webgpu provider cannot be used: ${fault}`, {
      hint: "WebGPU wants a GPU with a Vulkan driver (Direct3D 12 on Windows, Metal on macOS). Or use provider: cpu.",
    });
  }
  const hasLibrary = library !== undefined && existsSync(library);
  if (request === "cuda") {
    if (library === undefined) {
      throw new UserError(`ONNX Runtime has no CUDA provider for ${process.platform}`, {
        hint: "Use provider: cpu or webgpu.",
      });
    }
    if (!hasLibrary) {
      throw new UserError(`The cuda provider cannot be used: ${library} is missing`, {
        hint: `Get it with: ${CUDA_INSTALL}`,
      });
    }
    const fault = await faultOf("cuda", probe);
    if (fault === undefined) return { provider: "cuda", reason: "requested; the self-check agrees with the CPU" };
    throw new UserError(`The cuda provider cannot be used: ${fault}`, {
      hint: `It wants an NVIDIA driver, CUDA 12 and cuDNN 9 on the library path. To install the provider again: ${CUDA_INSTALL}`,
    });
  }
  if (!hasLibrary) return { provider: "cpu", reason: "auto: the CUDA provider's library is not installed" };
  const fault = await faultOf("cuda", probe);
  if (fault === undefined) return { provider: "cuda", reason: "auto: the CUDA self-check agrees with the CPU" };
  return { provider: "cpu", reason: `auto: CUDA was not taken: ${fault}` };
}

/** What is wrong with a provider, by running a small MatMul on it and on the CPU; undefined where nothing is. */
async function faultOf(provider: ProviderName, probe: Probe): Promise<string | undefined> {
  const expected = await probe("cpu");
  let got: Float32Array;
  try {
    got = await probe(provider);
  } catch (error) {
    return messageOf(error);
  }
  // the operands are exact, so only the order of a sum of eight may differ
  const agrees =
    got.length === expected.length && got.every((value, i) => Math.abs(value - (expected[i] as number)) <= 1e-4);
  return agrees
    ? undefined
    : `its MatMul differs from the CPU's (expected ${expected.join(" ")}, got ${got.join(" ")})`;
}
