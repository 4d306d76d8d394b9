import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { Runtime } from "../../src/onnx/session.js";

/** Makes an empty folder for a file of tests or a `describe`; it is removed after them. */
export function temporaryFolder(name: string): string {
  const dir = mkdtempSync(join(tmpdir(), `${name}-`));
  after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Opens the CPU's runtime for a file of tests; it is closed after them. */
export async function cpuRuntime(): Promise<Runtime> {
  const runtime = await Runtime.open({ provider: "cpu", threads: 1 });
  after(() => runtime.close());
  return runtime;
}
