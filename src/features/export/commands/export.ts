import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Command, Option } from "commander";
import { type CliCommand, type CliContext, checkpointName, shellWord } from "../../../cli/shared.js";
import { messageOf, misuse } from "../../../core/errors.js";
import { PRECISIONS, type Precision } from "../../../weights/precision.js";
import type { ExportProgress } from "../options.js";

interface ExportFlags {
  readonly checkpoint?: string;
  readonly model?: string;
  readonly merge?: string;
  readonly adapter?: string;
  readonly step?: "best" | "last" | number;
  readonly out: string;
  readonly quantize: Precision | "q8_0";
  readonly doubleQuant?: boolean;
  readonly maskToken?: string;
  readonly eosToken?: string;
  readonly padToken?: string;
  readonly keepTokens?: string;
  readonly quiet?: boolean;
}

const ROUNDED =
  "the sum of weights and adapter was rounded, which loses some of what was learnt (in 4 bits as much as a third); --quantize none keeps all of it";
const DECODED = "the quantised weights were decoded, and are kept in 32 bits together with what the adapter adds";

/** `refusion-train export`: makes a model directory from a checkpoint, or merges a trained adapter into its model. */
export const command: CliCommand = {
  register(program: Command, context: CliContext): void {
    program
      .description("make a model directory from a checkpoint, merge a trained adapter, or write it by itself")
      .option(
        "--checkpoint <source>",
        "a directory with config.json, tokenizer files and safetensors, whole or in shards; a GGUF file; or hf:org/name[@revision][:file.gguf]",
      )
      .addOption(
        new Option(
          "--model <dir>",
          "a model directory instead; with --merge of a run: the run's own, if left out",
        ).conflicts("checkpoint"),
      )
      .option("--merge <dir>", "add this run's or adapter's changes to the weights")
      .addOption(
        new Option(
          "--adapter <dir>",
          "write this run's adapter by itself, in PEFT's layout, instead of a model; --model names its base",
        ).conflicts(["checkpoint", "merge", "keepTokens", "maskToken"]),
      )
      .option(
        "--step <step>",
        "which checkpoint of a run is taken: best (the default; last where none was kept), last or a step",
        checkpointName,
      )
      .requiredOption(
        "-o, --out <dir>",
        "where the model directory is written, or a file NAME.gguf for llama.cpp; must not exist",
      )
      .addOption(
        new Option(
          "--quantize <form>",
          "how weights are kept: float32, 16 bits, projections in 4 bits, or a GGUF file's in 8",
        )
          .choices([...PRECISIONS, "q8_0"])
          .default("none"),
      )
      .option("--double-quant", "with nf4: the scales in 8 bits as well, 4.13 bits a weight instead of 4.5")
      .option("--mask-token <token>", "the mask, where the checkpoint does not say it")
      .option("--eos-token <token>", "the end of a text, where the checkpoint does not say it")
      .option("--pad-token <token>", "padding, where the checkpoint does not say it")
      .option("--keep-tokens <file>", "keep only the tokens that this text needs, and bytes for all other text")
      .option("-q, --quiet", "no progress")
      .addHelpText(
        "after",
        "\nExamples:\n  refusion-train export --checkpoint ReFusion --out models/refusion-8b --quantize nf4\n  refusion-train export --checkpoint hf:GSAI-ML/LLaDA-8B-Instruct --out models/llada --quantize nf4\n  refusion-train export --merge runs/flow-grpo --out models/trained\n  refusion-train export --merge runs/flow-grpo --out trained.gguf --quantize q8_0\n  refusion-train export --adapter runs/flow-grpo --out adapters/trained --quantize bf16",
      )
      .action((flags: ExportFlags) => run(flags, context));
  },
};

async function run(flags: ExportFlags, context: CliContext): Promise<void> {
  const { out, quantize, step } = flags;
  if (flags.doubleQuant === true && quantize !== "nf4")
    misuse("--double-quant needs --quantize nf4.", { hint: "there are no scales to quantise otherwise" });
  if (step !== undefined && flags.merge === undefined && flags.adapter === undefined)
    misuse("--step chooses a checkpoint of the run that --merge names.", {
      hint: "add --merge RUN, or leave --step out",
    });
  const { mergeSource } = await import("../merge-source.js");
  const { foundPath, resolvePath } = await import("../../../config/config.js");
  // a path is printed as it was given where it is one of the working directory
  const found = (path: string): string => (existsSync(path) ? path : (foundPath(path) ?? path));
  const model = flags.model && found(flags.model);
  if (flags.adapter !== undefined) {
    if (quantize === "nf4" || quantize === "q8_0")
      misuse("--adapter writes an adapter, which is not kept in 4 or 8 bits.", {
        hint: "give --quantize bf16 or fp16",
      });
    const { adapter } = await mergeSource(found(flags.adapter), { step });
    if (adapter === undefined)
      misuse(`${flags.adapter} trained every weight.`, { hint: "use --merge: there is no adapter" });
    const { exportAdapter } = await import("../adapter.js");
    const bytes = await exportAdapter(adapter, out, quantize, model);
    context.print(`${out}: ${(bytes / 2 ** 20).toFixed(1)} MiB, from ${adapter}`);
    return context.log(nextStep(flags.adapter, `init_adapter=${shellWord(out)}`, flags.model));
  }
  const { exportTo } = await import("../export.js");
  const named = flags.checkpoint ?? (model && (existsSync(model) ? model : resolvePath(model, "--model")));
  const merged = flags.merge === undefined ? undefined : await mergeSource(found(flags.merge), { step, model: named });
  const checkpoint = named ?? merged?.model;
  if (checkpoint === undefined)
    misuse("No model: --checkpoint SOURCE is missing.", {
      hint: "give the checkpoint, or with --merge the --model it belongs to",
    });
  const line = progressLine(flags.quiet === true);
  const options = {
    checkpoint,
    out,
    doubleQuant: flags.doubleQuant ?? false,
    signal: context.signal,
    progress: line.update,
    tokens: { mask: flags.maskToken, eos: flags.eosToken, pad: flags.padToken },
    keepTokens: flags.keepTokens === undefined ? undefined : readText(flags.keepTokens),
    adapter: merged?.adapter,
    weights: merged?.weights,
  };
  const { parameters, bytes, from4Bits, vocabulary } = await exportTo(options, quantize).finally(line.end);
  context.print(`${out}: ${parameters} parameters, ${(bytes / 2 ** 20).toFixed(1)} MiB of weights`);
  if (flags.keepTokens !== undefined)
    context.log(`vocabulary: ${vocabulary.kept} of ${vocabulary.whole} tokens, those of ${flags.keepTokens} and bytes`);
  if (merged !== undefined) {
    context.log(`merged: ${merged.from} into ${checkpoint}`);
    if (merged.note !== undefined) context.log(`note: ${merged.note}`);
    if (merged.adapter !== undefined && quantize !== "none") context.log(`note: ${ROUNDED}`);
    else if (from4Bits) context.log(`note: ${DECODED}`);
  }
  if (out.endsWith(".gguf")) return;
  context.log(nextStep(flags.merge, `model=${shellWord(out)} init_adapter=null`, out));
}

/** Writes the command that tries what was exported: on the run's own forms, or with a config of its own. */
function nextStep(run: string | undefined, setting: string, model: string | undefined): string {
  const config = join(run ?? "", "config.yaml");
  if (run !== undefined && existsSync(config)) return `next: refusion-eval --config ${shellWord(config)} ${setting}`;
  return model === undefined
    ? `it is used as ${setting}`
    : `next: refusion-train init --model ${shellWord(model)} --out run.yaml ${setting.replace(/^model=.*/, "")}`.trim();
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    misuse(`--keep-tokens: cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
}

/** Shows progress: on a terminal in one line that is rewritten, elsewhere in a new line for every 10 %. */
function progressLine(quiet: boolean): { update: (progress: ExportProgress) => void; end: () => void } {
  const live = process.stderr.isTTY === true && process.env.TERM !== "dumb";
  let shown = -1;
  return {
    update({ stage, name, done, total }) {
      const percent = Math.floor((100 * done) / total);
      if (quiet || percent === shown || (!live && Math.floor(percent / 10) === Math.floor(shown / 10))) return;
      shown = percent;
      const text = `${stage} ${String(percent).padStart(3)} %  ${name}`;
      process.stderr.write(live ? `\r\u001b[2K${text}` : `${text}\n`);
    },
    end() {
      if (live && shown >= 0) process.stderr.write("\n");
    },
  };
}
