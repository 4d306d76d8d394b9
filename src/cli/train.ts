#!/usr/bin/env node
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command, Help } from "commander";
import type { RunConfig } from "../config/config.js";
import { EXIT, misuse } from "../core/errors.js";
import { calledFeature } from "../core/features.js";
import { loadFolder, namesInFolder } from "../core/registry.js";
import type { TrainOptions, TrainResult } from "../train/types.js";
import {
  type CliCommand,
  type CliContext,
  portNumber,
  runProgram,
  sayer,
  setUpProgram,
  shellWord,
  wrapped,
} from "./shared.js";

/** refusion-train: one subcommand per objective, and one per file in commands/. */
async function build(context: CliContext): Promise<Command> {
  const program = setUpProgram(new Command("refusion-train"));
  const objectives = await namesInFolder(new URL("../rl/objectives/", import.meta.url));
  for (const name of [ANY, ...objectives]) addTraining(program, name, context);
  program.commandsGroup("Other commands:");
  for (const [name, entry] of await loadFolder<CliCommand>(new URL("./commands/", import.meta.url), "command"))
    entry.register(program.command(name).option("--debug", "print the stack of an error"), context);
  // the overview names the training commands; they are not hidden, so that a misspelt one has a suggestion
  const formatHelp = (command: Command, help: Help): string => {
    const all = help.visibleCommands.bind(help);
    help.visibleCommands = (of) => all(of).filter((each) => each.name() !== ANY && !objectives.includes(each.name()));
    return Help.prototype.formatHelp.call(help, command, help);
  };
  program.configureHelp({ ...program.configureHelp(), formatHelp });
  return program.addHelpText("before", overview([ANY, ...objectives]));
}

/** Writes what `refusion-train` begins with. @param objectives names of the training commands. */
function overview(objectives: readonly string[]): string {
  return `Trains small diffusion language models to fill in web forms.

Start here:
  refusion-train try                 a shipped model fills in one form before your eyes
  npm start                          in a clone: trains 40 steps, evaluates before and after
  refusion-train init --out run.yaml writes a commented config for a model and a site

What people do:
  fill in a page of their own        refusion-train try --url ADDRESS --text FILE
  make tasks of a table of theirs    refusion-train tasks --from FILE --url ADDRESS
  train on the forms of a site       refusion-train flow-grpo --config run.yaml
  measure what a run has learned     refusion-eval --run runs/NAME --split test
  use the trained model              refusion-train mcp --run runs/NAME

Training, one command for each objective (flow-grpo to begin with; sft learns from examples):
${wrapped(objectives.join("  "), "  ")}
`;
}

interface TrainFlags extends Pick<TrainOptions, "dryRun" | "runDir" | "resume" | "quiet" | "json"> {
  readonly help?: string | true;
  readonly config?: string;
  readonly rollouts?: string;
  readonly ui?: number | true;
}

/**
 * Estimates a run's memory in words, before a dry run begins.
 * @throws UserError where the machine does not have enough.
 */
type Estimate = (config: RunConfig, command: string) => Promise<string>;

/** The command that accepts any objective of a config. */
const ANY = "train";

function addTraining(program: Command, name: string, context: CliContext): void {
  program
    .command(name)
    .description("trains by the objective that the config names (objective.kind), also by a module of yours")
    .argument("[key=value...]")
    .option("-c, --config <file>", "YAML config of the run (with --resume: by default the run's own)")
    .option("--dry-run", "do everything up to the first step, then stop")
    .option("--run-dir <dir>", "where the run is kept, by default runs/NAME; never overwritten")
    .option(
      "--rollouts <run>",
      "learn from this run's recorded rollouts; nothing is generated or played (sft: from the values that its site took)",
    )
    .option("--resume", "continue the run in --run-dir, or the newest one of this config")
    .option("--ui [port]", "show the run live on a page of this machine; any free port by default", portNumber)
    .option("-q, --quiet", "no progress")
    .option("--json", "print the result as JSON; progress is JSON lines on stderr")
    .option("--debug", "print the stack of an error")
    .helpOption(false)
    .option("-h, --help [key]", "this help, or that of a config key or section; all: of every key")
    .action(async (overrides: string[], flags: TrainFlags, command: Command) => {
      if (flags.help === undefined) return runTraining(name, overrides, flags, context);
      const { trainingHelp } = await import("./help.js");
      context.print(await trainingHelp(command, name === ANY ? undefined : name, flags.help));
    });
}

async function runTraining(
  name: string,
  overrides: readonly string[],
  flags: TrainFlags,
  context: CliContext,
): Promise<void> {
  const configPath = flags.config ?? (await resumedConfig(name, flags));
  const { loadConfig } = await import("../config/config.js");
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
  const { train } = await import("../train/recipe.js");
  const { dryRunKind } = await import("../train/dry-run.js");
  const { formatResult } = await import("../runs/evaluation.js");
  if (options.dryRun) {
    const text = await (await calledFeature<Estimate>("estimate"))?.(config, command);
    if (text !== undefined && !options.quiet) say(`memory:\n${text}`);
  }
  const result = await train(config, options);
  if (options.json) context.print(JSON.stringify(result));
  else if (result.dryRun !== undefined) context.print((await dryRunKind()).format(result.dryRun));
  else if (result.after.length > 0 || result.before.length > 0)
    context.print(formatResult(result.before, result.after));
  else context.print(result.model ?? result.runDir);
  const doubt = result.dryRun && (await dryRunKind()).noSignal(result.dryRun, config);
  printNext(name, result, { ...options, doubt }, { log: say, exitWith: context.exitWith });
}

/** Returns the config's path: `--resume --run-dir DIR` needs no `--config`, because the run holds its own. */
async function resumedConfig(command: string, flags: TrainFlags): Promise<string> {
  const { RunDirectory } = await import("../runs/run-directory.js");
  if (flags.resume === true && flags.runDir !== undefined) return RunDirectory.open(flags.runDir).config;
  misuse("No config: --config FILE is missing.", {
    hint: `refusion-train ${command} --config configs/tiny/letters-flow-grpo.yaml`,
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

await runProgram(build, process.argv);
