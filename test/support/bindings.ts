import { existsSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../src/core/files.js";
import type { BindingName } from "../../src/onnx/runtimes/messages.js";

/** The available bindings: npm's, and the C API where the feature `gpu` is present. */
export const BINDINGS: readonly BindingName[] = existsSync(join(packageRoot(), "src", "features", "gpu"))
  ? ["npm", "c-api"]
  : ["npm"];
