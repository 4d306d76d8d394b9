import { existsSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../src/core/files.js";
import type { BindingName } from "../../src/onnx/runtimes/messages.js";

/** The bindings that are there: npm's, and the C API where its feature is. */
export const BINDINGS: readonly BindingName[] = existsSync(join(packageRoot(), "src", "features", "gpu"))
  ? ["npm", "c-api"]
  : ["npm"];
