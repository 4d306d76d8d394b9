/**
 * Regenerates src/onnx/format/gen/onnx_pb.ts from src/onnx/format/gen/onnx.proto, the official schema (Apache-2.0),
 * which the Python package `onnx` contains, without the comments that it takes from there. Needed only when the schema
 * changes: `npm run proto`
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const bin = join(root, "node_modules", ".bin");
const folder = join(root, "src", "onnx", "format", "gen");
const scratch = mkdtempSync(join(tmpdir(), "generate-proto-"));
try {
  const template = join(scratch, "buf.gen.json");
  const plugin = { local: join(bin, "protoc-gen-es"), out: folder, opt: ["target=ts", "import_extension=js"] };
  writeFileSync(template, JSON.stringify({ version: "v2", inputs: [{ directory: folder }], plugins: [plugin] }));
  execFileSync(join(bin, "buf"), ["generate", "--template", template], { cwd: scratch, stdio: "inherit" });
  const made = join(folder, "onnx_pb.ts");
  const comments = /^ *\/\*\*\n(?: *\*.*\n)*? *\*\/\n/gm;
  writeFileSync(
    made,
    readFileSync(made, "utf8")
      .replace(comments, "")
      .replace(/\n{3,}/g, "\n\n"),
  );
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
