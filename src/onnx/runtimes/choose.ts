import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { UserError } from "../../core/errors.js";
import { cudaLibrary, type ProviderRequest } from "../provider.js";
import type { BindingName } from "./messages.js";

export type BindingRequest = "auto" | BindingName;

/** Stands for `auto`, so that all tests can run over either binding. */
const DEFAULT = "REFUSION_BINDING";

/** The C API where CUDA may be used and koffi is there, else onnxruntime-node's own binding. */
export function chooseBinding(asked: BindingRequest, provider: ProviderRequest): BindingName {
  const request = asked === "auto" && process.env[DEFAULT] === "c-api" ? "c-api" : asked;
  if (request === "c-api" && provider === "webgpu") {
    throw new UserError("runtime.binding: c-api does not serve runtime.provider: webgpu", {
      hint: "Set runtime.binding: npm, or another provider.",
      exitCode: 2,
    });
  }
  if (request !== "auto") return request;
  if (provider === "cpu" || provider === "webgpu") return "npm";
  const library = cudaLibrary();
  return library !== undefined && existsSync(library) && hasKoffi() ? "c-api" : "npm";
}

function hasKoffi(): boolean {
  try {
    createRequire(import.meta.url).resolve("koffi");
    return true;
  } catch {
    return false;
  }
}
