import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Names a folder with another copy of ONNX Runtime's libraries, as a host with CUDA 13 needs (docs/gpu.md). */
export const LIBRARY_DIR = "REFUSION_ONNXRUNTIME_DIR";

/**
 * Turns off ONNX Runtime's telemetry, which on Linux stores a device id and events in the user's cache and sends them.
 * Called before each load of the library, in a thread with the process's own environment; a user's value stays.
 */
export function disableTelemetry(): void {
  process.env.ORT_DISABLE_TELEMETRY ??= "1";
}

/** Returns the folder of onnxruntime-node's native libraries; execution providers are looked up beside them. */
export function libraryDir(): string {
  const chosen = process.env[LIBRARY_DIR];
  if (chosen !== undefined && chosen !== "") return chosen;
  const entry = createRequire(import.meta.url).resolve("onnxruntime-node");
  return join(dirname(entry), "..", "bin", "napi-v6", process.platform, process.arch);
}

/** Returns the path of libonnxruntime on this platform. */
export function libraryPath(dir: string = libraryDir()): string {
  const named = /^(libonnxruntime\.so\.1|libonnxruntime\..*dylib|onnxruntime\.dll)$/;
  const found = existsSync(dir) ? readdirSync(dir).find((file) => named.test(file)) : undefined;
  return join(dir, found ?? "libonnxruntime");
}

/**
 * Optimisations disabled on CUDA: each session would hold another copy of a folded weight, and a merged decoding of a
 * weight would persist from the forward to the backward pass; slices merged into a split exist all at once, and unequal
 * ones copy a table to the device.
 */
export const NOT_ON_CUDA = "ConstantFolding;CommonSubexpressionElimination;GatherSliceToSplitFusion";
