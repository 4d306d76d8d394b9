import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { misuse } from "../../core/errors.js";
import { calledFeature } from "../../core/features.js";
import { cudaLibrary, type ProviderRequest } from "../provider.js";
import type { BindingName } from "./messages.js";

export type BindingRequest = "auto" | BindingName;

/** Environment variable that replaces `auto`, so that all tests can run with either binding. */
const DEFAULT = "REFUSION_BINDING";

/** Chooses the C API where CUDA may be used and koffi is installed, else onnxruntime-node's own binding. */
export async function chooseBinding(requested: BindingRequest, provider: ProviderRequest): Promise<BindingName> {
  const request = requested === "auto" && process.env[DEFAULT] === "c-api" ? "c-api" : requested;
  if (request === "c-api" && provider === "webgpu")
    misuse("runtime.binding: c-api does not serve runtime.provider: webgpu", {
      hint: "Set runtime.binding: npm, or another provider.",
    });
  if (request !== "auto") return request;
  if (provider === "cpu" || provider === "webgpu") return "npm";
  const library = cudaLibrary();
  if (library === undefined || !existsSync(library) || !hasKoffi()) return "npm";
  return (await calledFeature("openApiBinding")) === undefined ? "npm" : "c-api";
}

function hasKoffi(): boolean {
  try {
    createRequire(import.meta.url).resolve("koffi");
    return true;
  } catch {
    return false;
  }
}
