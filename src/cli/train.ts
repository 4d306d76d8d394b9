#!/usr/bin/env node
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command, Help } from "commander";
import { loadConfig, type RunConfig } from "../config/config.js";
import { loadRegistries } from "../config/registries.js";
import { configKeys, type Registries, runSchema } from "../config/schema.js";
import { EXIT, misuse } from "../core/errors.js";
import { loadFolder } from "../core/registry.js";
import { compareEvaluations, formatComparisons, formatEvaluations } from "../runs/evaluation.js";
import { RunDirectory } from "../runs/run-directory.js";
import type { TrainOptions, TrainResult } from "../train/types.js";
import { type CliCommand, type CliContext, portNumber, runProgram, sayer, setUpProgram, shellWord } from "./shared.js";

/** refusion-train: one subcommand per objective, and one per file in commands/. */
async function build(context: CliContext): Promise<Command> {
  const program = setUpProgram(new Command("refusion-train")).description(
    "Trains diffusion language models to fill web forms, by reinforcement learning or supervision.",
  );
  const registries = await loadRegistries();
  program.commandsGroup("Training (one for each objective):");
  addTraining(
    program,
    ANY,
    "train by the objective that the config names (objective.kind), a module of yours too",
    registries,
    context,
  );
  for (const [name, { description }] of registries.objectives)
    addTraining(program, name, description, registries, context);
  program.commandsGroup("Other commands:");
  for (const [name, entry] of await loadFolder<CliCommand>(new URL("./commands/", import.meta.url), "command"))
    entry.register(program.command(name).option("--debug", "print the stack of an error"), context);
  return program.addHelpText(
    "after",
    "\nStart here:\n  refusion-train flow-grpo --config configs/tiny/quickstart.yaml",
  );
}

interface TrainFlags extends Pick<TrainOptions, "dryRun" | "runDir" | "resume" | "quiet" | "json"> {
  readonly config?: string;
  readonly rollouts?: string;
  readonly ui?: number | true;
}

/**
 * Estimates a run's needs in words, before a dry run begins; each file under estimates/ exports one as `estimate`.
 * @throws UserError where the machine does not have enough.
 */
type Estimate = (config: RunConfig, command: string) => Promise<string>;

/** The command that accepts any objective of a config. */
const ANY = "train";

function addTraining(
  program: Command,
  name: string,
  description: string,
  registries: Registries,
  context: CliContext,
): void {
  program
    .command(name)
    .description(description)
    .argument(
      "[overrides...]",
      "key=value, over what the config says: training.steps=40 'evaluation.splits=[heldout,test]'",
    )
    .option("-c, --config <file>", "YAML config of the run (with --resume: the run's own, if left out)")
    .option("--dry-run", "do everything up to the first step, then stop")
    .option("--run-dir <dir>", "where the run is kept; runs/<name> by default, and never overwritten")
    .option("--rollouts <run>", "learn from the recorded rollouts of this run: nothing is generated or played")
    .option("--resume", "continue the run in --run-dir, or the newest one of this config")
    .option("--ui [port]", "show the run live on a page of this machine; any free port unless one is given", portNumber)
    .option("-q, --quiet", "no progress")
    .option("--json", "print the result as JSON; progress is JSON lines on stderr")
    .option("--debug", "print the stack of an error")
    .addHelpText("after", () => keyHelp(name, registries))
    .action((overrides: string[], flags: TrainFlags) => runTraining(name, overrides, flags, context));
}

async function runTraining(
  name: string,
  overrides: readonly string[],
  flags: TrainFlags,
  context: CliContext,
): Promise<void> {
  const configPath = flags.config ?? resumedConfig(name, flags);
  const config = await loadConfig(configPath, { command: name === ANY ? undefined : name, overrides });
  const command = config.objective.kind;
  if (command === "") misuse(`${configPath} names no objective.`, { hint: "set objective.kind" });
  context.afterInterrupt = "finishing this step, then saving";
  const options: TrainOptions = {
    ...flags,
    command,
    configPath,
    overrides,
    rolloutsRun: flags.rollouts,
    ui: flags.ui === true ? 0 : flags.ui,
    // a dry run has nothing to save
    signal: flags.dryRun === true ? new AbortController().signal : context.signal,
  };
  const say = sayer(context, options.json);
  // loaded on use: help and config errors must not wait for the runtime
  const [{ train }, { dryRunKind }] = await Promise.all([import("../train/recipe.js"), import("../train/dry-run.js")]);
  if (options.dryRun) {
    for (const [name, estimate] of await loadFolder<Estimate>(new URL("./estimates/", import.meta.url), "estimate")) {
      const text = await estimate(config, command);
      if (!options.quiet) say(`${name}:\n${text}`);
    }
  }
  const result = await train(config, options);
  if (options.json) context.print(JSON.stringify(result));
  else if (result.dryRun !== undefined) context.print((await dryRunKind()).format(result.dryRun));
  else if (result.after.length > 0 || result.before.length > 0) context.print(formatResult(result));
  else context.print(result.model ?? result.runDir);
  const doubt = result.dryRun && (await dryRunKind()).noSignal(result.dryRun, config);
  printNext(name, result, { ...options, doubt }, { log: say, exitWith: context.exitWith });
}

/** Returns the config's path: `--resume --run-dir DIR` needs no `--config`, because the run holds its own. */
function resumedConfig(command: string, flags: TrainFlags): string {
  if (flags.resume === true && flags.runDir !== undefined) return RunDirectory.open(flags.runDir).config;
  misuse("No config: --config FILE is missing.", {
    hint: `refusion-train ${command} --config configs/tiny/quickstart.yaml`,
  });
}

function printNext(
  command: string,
  result: TrainResult,
  options: TrainOptions & { readonly doubt: string | undefined },
  context: Pick<CliContext, "log" | "exitWith">,
): void {
  const dir = shellWord(result.runDir);
  const rollouts = options.rolloutsRun === undefined ? "" : ` --rollouts ${shellWord(options.rolloutsRun)}`;
  if (result.interrupted) {
    context.log(
      `interrupted after step ${result.steps}; continue with:\n  refusion-train ${command} --resume --run-dir ${dir}${rollouts}`,
    );
    context.exitWith(EXIT.interrupted);
  } else if (options.dryRun) {
    const overrides = (options.overrides ?? []).map((word) => ` ${shellWord(word)}`).join("");
    const place = options.runDir === undefined ? "" : ` --run-dir ${dir}`;
    context.log(
      `dry run: ${options.doubt === undefined ? "everything is ready; start with" : `${options.doubt}; to start all the same`}:\n  refusion-train ${command} --config ${shellWord(options.configPath)}${place}${rollouts}${overrides}`,
    );
  } else if (!options.quiet) {
    const { stopped, best } = result;
    if (stopped !== null) context.log(`stopped early after step ${result.steps}: ${stopped}`);
    if (best !== null) {
      const reward = best.reward.toFixed(3);
      context.log(`best: step ${best.step}, validation reward ${reward}; refusion-eval --run ${dir} --checkpoint best`);
    }
    const report = join(result.runDir, "report.html");
    const evaluated =
      result.model === undefined
        ? `--run ${dir} --split test`
        : `--config ${shellWord(join(result.runDir, "config.yaml"))} --split test model=${shellWord(result.model)}`;
    context.log(`${existsSync(report) ? `report: ${report}\n` : ""}next: refusion-eval ${evaluated}`);
  }
}

/** Formats the evaluations before and after of every split, and their differences. */
function formatResult({ before, after }: TrainResult): string {
  const splits = [...new Set([...before, ...after].map((evaluation) => evaluation.split))];
  const rows = splits.flatMap((split) => [
    ...before.filter((e) => e.split === split).map((evaluation) => ({ label: "before", evaluation })),
    ...after.filter((e) => e.split === split).map((evaluation) => ({ label: "after", evaluation })),
  ]);
  const comparisons = splits.flatMap((split) => {
    const [a, b] = [before.find((e) => e.split === split), after.find((e) => e.split === split)];
    return a === undefined || b === undefined
      ? []
      : [{ label: "after - before", comparison: compareEvaluations(a, b) }];
  });
  return [formatEvaluations(rows), ...(comparisons.length > 0 ? ["", formatComparisons(comparisons)] : [])].join("\n");
}

/** Column of the descriptions of config keys. */
const KEY_COLUMN = 47;

/** Lists every config key of an objective with its default, in the syntax of overrides. */
function keyHelp(command: string, registries: Registries): string {
  const help = Object.assign(new Help(), { minWidthToWrap: 20 });
  const width = Math.max(20, (process.stdout.columns ?? 80) - KEY_COLUMN);
  const indent = `\n${" ".repeat(KEY_COLUMN)}`;
  const lines = configKeys(runSchema(registries, command === ANY ? undefined : command, {})).flatMap(
    ({ path, type, default: value, description }) => {
      if (type === "section") return [];
      const setting = value === undefined ? `${path.join(".")}=<${type}>` : `${path.join(".")}=${settingText(value)}`;
      const place = setting.length > 44 ? `  ${setting}${indent}` : `  ${setting.padEnd(44)} `;
      return [`${place}${help.boxWrap(description, width).replaceAll("\n", indent)}`];
    },
  );
  return `\nConfig keys and their defaults:\n${lines.join("\n")}\n\nExample:\n  refusion-train ${command} --config configs/tiny/quickstart.yaml training.steps=40`;
}

function settingText(value: unknown): string {
  return Array.isArray(value) ? `[${value.join(",")}]` : String(value);
}

await runProgram(build, process.argv);
