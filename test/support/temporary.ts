import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { Runtime, type RuntimeOptions } from "../../src/onnx/session.js";

const folders: string[] = [];
process.once("exit", () => {
  for (const dir of folders) rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
});

/** Makes an empty folder; it is removed when the file of tests ends. */
export function temporaryFolder(name: string): string {
  const dir = mkdtempSync(join(tmpdir(), `${name}-`));
  folders.push(dir);
  return dir;
}

/** Opens the CPU's runtime for a file of tests or a test; it is closed after them. */
export async function cpuRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const runtime = await Runtime.open({ provider: "cpu", threads: 1, ...options });
  after(() => runtime.close());
  return runtime;
}
