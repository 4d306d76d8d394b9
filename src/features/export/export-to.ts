import { existsSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { fail, misuse } from "../../core/errors.js";
import { PRECISIONS, type Precision } from "../../weights/precision.js";
import { exportModel } from "./export.js";
import { GGUF_FORMS, writeGguf } from "./gguf/write.js";
import type { ExportOptions, ExportResult } from "./options.js";

/**
 * Exports to a model directory, or to one file where `out` ends in .gguf: a directory in float32 is made beside it, and
 * removed.
 * @param form how weights are kept (`--quantize`). @throws UserError where it is not one of the kind's, or cannot be.
 */
export async function exportTo(options: Omit<ExportOptions, "precision">, form: string): Promise<ExportResult> {
  const { out } = options;
  const isFile = out.endsWith(".gguf");
  const forms: readonly string[] = isFile ? GGUF_FORMS : PRECISIONS;
  if (!forms.includes(form)) misuse(`--quantize ${form} is not for ${out}.`, { hint: `give ${forms.join(", ")}` });
  if (!isFile) return exportModel({ ...options, precision: form as Precision });
  if (existsSync(out)) fail(`${out} exists already, and a model is never overwritten.`, { hint: "give another --out" });
  const dir = `${resolve(out)}.model-${process.pid}`;
  try {
    const made = await exportModel({ ...options, out: dir, precision: "none" });
    return { ...made, bytes: await writeGguf(dir, out, form) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
