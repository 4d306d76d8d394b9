import { closeSync, existsSync, openSync, readFileSync, readSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fail, messageOf } from "../core/errors.js";
import { loadFolder } from "../core/registry.js";
import { libraryDir } from "./runtimes/library.js";
import type { ProviderName } from "./runtimes/messages.js";
import type { Graph, Tensor, Value } from "./types.js";

export type ProviderRequest = "auto" | ProviderName;

export interface ProviderChoice {
  readonly provider: ProviderName;
  readonly reason: string;
}

/**
 * A small graph on which a provider must agree with the CPU before it is used. Its float32 outputs are compared one by
 * one; messages name those that differ.
 */
export interface SelfCheck {
  readonly graph: Graph;
  readonly feeds: Readonly<Record<string, Tensor>>;
  /** Tolerance relative to an output's largest value. */
  readonly tolerance: number;
}

/** Builds the checks of gradients; each file under self-checks/ exports the builder of one as `selfCheck`. */
export async function gradientChecks(): Promise<SelfCheck[]> {
  const builders = await loadFolder<() => SelfCheck>(new URL("./self-checks/", import.meta.url), "selfCheck");
  return [...builders.values()].map((build) => build());
}

/** Runs a self-check on a provider and returns its outputs by name. @throws Error where the provider cannot be used. */
export type Probe = (provider: ProviderName, check: SelfCheck) => Promise<ReadonlyMap<string, Float32Array>>;

const CUDA_INSTALL = "node node_modules/onnxruntime-node/script/install.js --onnxruntime-node-install=true";

const ROWS = 4;
const INNER = 8;
const COLS = 3;

/** Returns quarters of small integers: exact in float32, and in the TF32 that GPUs may use. */
function quarters(shape: readonly [number, number], step: number, period: number): Tensor {
  const data = Float32Array.from({ length: shape[0] * shape[1] }, (_, i) => ((i * step) % period) / 4 - 1);
  return { dtype: "float32", shape, data };
}

/** Checks that a provider works at all: c = a @ b, float32 [4,8] @ [8,3]. */
export function matMulCheck(): SelfCheck {
  const a: Value = { name: "a", dtype: "float32", shape: [ROWS, INNER] };
  const b: Value = { name: "b", dtype: "float32", shape: [INNER, COLS] };
  const c: Value = { name: "MatMul", dtype: "float32", shape: [ROWS, COLS] };
  return {
    graph: {
      name: "self-check",
      opset: 21,
      inputs: [a, b],
      outputs: [c],
      nodes: [{ name: "/MatMul", op: "MatMul", domain: "", inputs: [a, b], outputs: [c], attributes: {} }],
      initializers: new Map(),
    },
    feeds: { a: quarters([ROWS, INNER], 7, 11), b: quarters([INNER, COLS], 5, 13) },
    // the operands are exact, so only the order of a sum of eight may differ
    tolerance: 1e-5,
  };
}

/** Returns the path of ONNX Runtime's CUDA provider, beside the native binding; undefined on platforms without CUDA. */
export function cudaLibrary(): string | undefined {
  const name = { linux: "libonnxruntime_providers_cuda.so", win32: "onnxruntime_providers_cuda.dll" }[
    process.platform as string
  ];
  return name === undefined ? undefined : join(libraryDir(), name);
}

/** Matches names of CUDA libraries in a provider's file, with their versions. */
const CUDA_NAMES =
  /lib(?:cudart|cublas|cublasLt|cudnn|cufft|curand)\.so\.\d+|(?:cudart|cublas|cublasLt|cudnn|cufft)64_\d+\.dll/g;

/** Reads the names of a provider's linked CUDA libraries from its file. */
export function cudaNeeds(library: string): string[] {
  const found = new Set<string>();
  const chunk = Buffer.alloc(1 << 24);
  const file = openSync(library, "r");
  try {
    // chunks overlap by more than a name
    for (let at = 0, size = 1; size > 0; at += chunk.length - 64) {
      size = readSync(file, chunk, 0, chunk.length, at);
      for (const [name] of chunk.toString("latin1", 0, size).matchAll(CUDA_NAMES)) found.add(name);
      if (size < chunk.length) break;
    }
  } finally {
    closeSync(file);
  }
  return [...found].sort();
}

/** Returns the libraries that are neither on the library path nor in the linker's cache. */
function missing(names: readonly string[], library: string, env = process.env): string[] {
  const path = process.platform === "win32" ? env.PATH : env.LD_LIBRARY_PATH;
  const folders = [join(library, ".."), ...(path ?? "").split(delimiter).filter((dir) => dir !== "")];
  const cache = "/etc/ld.so.cache";
  const cached = existsSync(cache) ? readFileSync(cache, "latin1") : "";
  return names.filter((name) => !cached.includes(name) && !folders.some((dir) => existsSync(join(dir, name))));
}

/** Describes the libraries that a provider's file needs, and those that are missing; empty where it names none. */
function cudaLibraries(library: string): string {
  const needs = cudaNeeds(library);
  const lacks = missing(needs, library);
  if (needs.length === 0) return "";
  return ` It needs ${needs.join(", ")}; ${lacks.length === 0 ? "they are on the library path" : `not found: ${lacks.join(", ")}`}.`;
}

/**
 * Chooses the execution provider. `auto` takes CUDA if its library exists and the self-check agrees with the CPU, else
 * the CPU; WebGPU only on request.
 * @param library path of the CUDA provider's library, undefined where the platform has none.
 * @param checks further graphs that it must compute correctly, besides a MatMul.
 * @throws UserError where a requested provider cannot be used, with the missing parts.
 */
export async function chooseProvider(
  request: ProviderRequest,
  probe: Probe,
  library: string | undefined = cudaLibrary(),
  checks: readonly SelfCheck[] = [],
): Promise<ProviderChoice> {
  if (request === "cpu") return { provider: "cpu", reason: "requested" };
  if (request === "webgpu") {
    const fault = await faultOf("webgpu", probe, checks);
    if (fault === undefined) return { provider: "webgpu", reason: "requested; the self-check agrees with the CPU" };
    fail(`The webgpu provider cannot be used: ${fault}`, {
      hint: "WebGPU wants a GPU with a Vulkan driver (Direct3D 12 on Windows, Metal on macOS). Or use provider: cpu.",
    });
  }
  const hasLibrary = library !== undefined && existsSync(library);
  if (request === "cuda") {
    if (library === undefined)
      fail(`ONNX Runtime has no CUDA provider for ${process.platform}`, { hint: "Use provider: cpu or webgpu." });
    if (!hasLibrary)
      fail(`The cuda provider cannot be used: ${library} is missing`, { hint: `Get it with: ${CUDA_INSTALL}` });
    const fault = await faultOf("cuda", probe, checks);
    if (fault === undefined) return { provider: "cuda", reason: "requested; the self-check agrees with the CPU" };
    fail(`The cuda provider cannot be used: ${fault}`, {
      hint: `It wants an NVIDIA driver.${cudaLibraries(library)} To install the provider again: ${CUDA_INSTALL}`,
    });
  }
  if (!hasLibrary) return { provider: "cpu", reason: "auto: the CUDA provider's library is not installed" };
  const fault = await faultOf("cuda", probe, checks);
  if (fault === undefined) return { provider: "cuda", reason: "auto: the CUDA self-check agrees with the CPU" };
  return { provider: "cpu", reason: `auto: CUDA was not taken: ${fault}.${cudaLibraries(library)}` };
}

/** Runs the self-checks on a provider and on the CPU, and describes the first fault; undefined where there is none. */
async function faultOf(
  provider: ProviderName,
  probe: Probe,
  checks: readonly SelfCheck[],
): Promise<string | undefined> {
  for (const check of [matMulCheck(), ...checks]) {
    const expected = await probe("cpu", check);
    let got: ReadonlyMap<string, Float32Array>;
    try {
      got = await probe(provider, check);
    } catch (error) {
      return messageOf(error);
    }
    const faults = [...expected].flatMap(([output, values]) => {
      const share = difference(got.get(output), values);
      return share <= check.tolerance ? [] : [`its ${output} differs from the CPU's by ${percent(share)}`];
    });
    const more = faults.length > 3 ? `; and ${faults.length - 3} more` : "";
    if (faults.length > 0) return faults.slice(0, 3).join("; ") + more;
  }
  return undefined;
}

/** Returns the largest difference relative to the largest expected value; infinite for missing or non-finite values. */
function difference(got: Float32Array | undefined, expected: Float32Array): number {
  if (got?.length !== expected.length) return Number.POSITIVE_INFINITY;
  let [most, scale] = [0, 0];
  expected.forEach((value, i) => {
    const difference = Math.abs(value - (got[i] as number));
    most = Math.max(most, Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference);
    scale = Math.max(scale, Math.abs(value));
  });
  return most === 0 ? 0 : most / scale;
}

function percent(share: number): string {
  return Number.isFinite(share)
    ? `${Number((100 * share).toPrecision(2))} % of its largest value`
    : "more than any number";
}
