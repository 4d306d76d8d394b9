import { existsSync, rmSync } from "node:fs";
import { extname, resolve } from "node:path";
import { fail, misuse } from "../../core/errors.js";
import { loadFolder } from "../../core/registry.js";
import { PRECISIONS } from "../../weights/precision.js";
import { exportModel } from "./export.js";
import type { ExportOptions, ExportResult } from "./options.js";

/** A file format of another program. Each file under writers/ exports one as `writer`; its key is the files' ending. */
export interface ModelWriter {
  /** Values of `--quantize`. */
  readonly forms: readonly string[];
  /**
   * Writes a model directory as one file. @param form one of `forms`. @returns the file's size in bytes.
   * @throws UserError where the program has no such model.
   */
  write(dir: string, out: string, form: string): Promise<number>;
}

/** Finds the writer of a file by its ending; undefined for a model directory. @throws UserError for a form of another. */
export async function writerOf(out: string, form: string): Promise<ModelWriter | undefined> {
  const writers = await loadFolder<ModelWriter>(new URL("./writers/", import.meta.url), "writer");
  const writer = writers.get(extname(out).slice(1));
  const forms: readonly string[] = writer?.forms ?? PRECISIONS;
  if (!forms.includes(form)) misuse(`--quantize ${form} is not for ${out}.`, { hint: `give ${forms.join(", ")}` });
  return writer;
}

/** Exports a model as another program's file: a model directory in float32 is made beside it, and removed. */
export async function exportFile(options: ExportOptions, writer: ModelWriter, form: string): Promise<ExportResult> {
  if (existsSync(options.out))
    fail(`${options.out} exists already, and a model is never overwritten.`, { hint: "give another --out" });
  const out = `${resolve(options.out)}.model-${process.pid}`;
  try {
    const made = await exportModel({ ...options, out, precision: "none" });
    return { ...made, bytes: await writer.write(out, options.out, form) };
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}
