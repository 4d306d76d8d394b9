import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Names a folder with another copy of ONNX Runtime's libraries, as a host with CUDA 13 needs (docs/gpu.md). */
export const LIBRARY_DIR = "REFUSION_ONNXRUNTIME_DIR";

/**
 * Turns ONNX Runtime's telemetry off, which on Linux keeps a device id and events under the user's cache folder and sends
 * them. Called before each load of the library, in a thread with the process's own environment; a value of the user's stays.
 */
export function disableTelemetry(): void {
  process.env.ORT_DISABLE_TELEMETRY ??= "1";
}

/** Says where onnxruntime-node's native libraries lie; execution providers are looked up beside them. */
export function libraryDir(): string {
  const chosen = process.env[LIBRARY_DIR];
  if (chosen !== undefined && chosen !== "") return chosen;
  const entry = createRequire(import.meta.url).resolve("onnxruntime-node");
  return join(dirname(entry), "..", "bin", "napi-v6", process.platform, process.arch);
}

/** libonnxruntime of this platform. */
export function libraryPath(dir: string = libraryDir()): string {
  const named = /^(libonnxruntime\.so\.1|libonnxruntime\..*dylib|onnxruntime\.dll)$/;
  const found = existsSync(dir) ? readdirSync(dir).find((file) => named.test(file)) : undefined;
  return join(dir, found ?? "libonnxruntime");
}

/**
 * Optimisations that a session on CUDA does without: a folded weight would be held once more by each session, and a
 * merged decoding of one would stay from the forward to the backward pass.
 */
export const NOT_ON_CUDA = "ConstantFolding;CommonSubexpressionElimination";
