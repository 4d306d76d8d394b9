#!/usr/bin/env node
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { Command, Option } from "commander";
import { fail, misuse, nearest } from "../core/errors.js";
import { calledFeature } from "../core/features.js";
import { SPLITS } from "../env/environment.js";
import {
  compareEvaluations,
  type Evaluation,
  formatComparisons,
  formatEvaluations,
  formatForms,
  formatLeftOut,
  formatOutcome,
  formatPassAt,
  readEvaluation,
} from "../runs/evaluation.js";
import { RunDirectory } from "../runs/run-directory.js";
import type { EvaluateOptions, EvaluateResult } from "../train/types.js";
import {
  type CliCommand,
  type CliContext,
  checkpointName,
  positiveInteger,
  runProgram,
  sayer,
  setUpProgram,
} from "./shared.js";

type EvalFlags = Omit<EvaluateOptions, "overrides" | "signal">;

/** refusion-eval: evaluates a run's checkpoint, a config's model or a fixed policy; `compare` compares runs. */
async function build(context: CliContext): Promise<Command> {
  const program = setUpProgram(new Command("refusion-eval"))
    .description("Evaluates a policy on a split: reward, success and field accuracy with 95 % intervals.")
    .argument("[overrides...]", "key=value, over what the config says")
    .option("-r, --run <dir>", "run directory whose checkpoint is evaluated")
    .option("-c, --config <file>", "config whose model is evaluated, without any training")
    .option("--checkpoint <which>", "best, last, or a step of --run", checkpointName, "last")
    .addOption(new Option("--split <name>", "split (the config's own by default)").choices([...SPLITS, "all"]))
    .option(
      "--policy <name>",
      "model, or one that the environment has itself: oracle, empty, submit-only, random for forms",
      "model",
    )
    .option("--episodes <n>", "episodes a split; all: each task once", (text) =>
      text === "all" ? text : positiveInteger(text),
    )
    .option("--attempts <n>", "attempts at each task, with other noise each: pass@1 to pass@n", positiveInteger)
    .option("--show", "show each episode that was no success: the answer, what was done and received, a picture")
    .option("-q, --quiet", "no progress")
    .option("--json", "print the evaluations as JSON")
    .option("--debug", "print the stack of an error")
    .addHelpText(
      "after",
      "\nExamples:\n  refusion-eval --run runs/letters-flow-grpo --split test\n  refusion-eval compare runs/letters-flow-grpo runs/letters-espo",
    )
    .action((overrides: string[], flags: EvalFlags) => evaluate(overrides, flags, context));
  program
    .command("compare")
    .description("Compares runs (or eval/<split>.json files) with the first one, paired by task.")
    .argument("<runs...>", "run directories or evaluation files, the baseline first")
    .addOption(new Option("--split <name>", "only this split").choices([...SPLITS]))
    .option("--json", "print the comparison as JSON")
    .option("--debug", "print the stack of an error")
    .action((runs: string[], _flags: unknown, command: Command) => {
      // the program has options of the same names, and commander assigns them to the program
      compare(runs, command.optsWithGlobals(), context);
    });
  const rejudge = await calledFeature<CliCommand>("rejudge");
  rejudge?.register(program.command("rejudge").option("--debug", "print the stack of an error"), context);
  return program;
}

async function evaluate(overrides: readonly string[], flags: EvalFlags, context: CliContext): Promise<void> {
  const word = overrides.find((text) => !text.includes("="));
  if (word !== undefined) {
    const named = nearest(word, ["compare", "rejudge"]);
    misuse(`"${word}" is neither a command nor key=value.`, {
      hint: named === undefined ? "--help lists what there is" : `did you mean ${named}?`,
    });
  }
  if ((flags.run === undefined) === (flags.config === undefined))
    misuse(flags.run === undefined ? "Nothing to evaluate." : "Both --run and --config are given.", {
      hint: "give --run DIR for a checkpoint of a run, or --config FILE for a model as it is",
    });
  // loaded on use: help and usage errors must not wait for the runtime
  const { evaluateCommand } = await import("../train/evaluate.js");
  const result = await evaluateCommand({ ...flags, overrides, signal: context.signal });
  if (flags.json === true) context.print(JSON.stringify(flags.show === true ? result : result.evaluations));
  else {
    context.print(
      formatEvaluations(result.evaluations.map((evaluation) => ({ label: evaluation.policy, evaluation }))),
    );
    for (const evaluation of result.evaluations.filter(({ pass_at }) => pass_at !== undefined))
      context.print(`\n${formatPassAt(evaluation)}`);
    for (const evaluation of result.evaluations)
      context.print(`\n${evaluation.split} by form, worst first\n${formatForms(evaluation)}`);
  }
  if (flags.json !== true) {
    await printMisses(result, context);
    context.print(`\n${formatOutcome([], result.evaluations)}`);
  }
  const say = sayer(context, flags.json);
  for (const evaluation of result.evaluations) if (evaluation.faults > 0) say(formatLeftOut(evaluation));
  for (const file of result.files) say(`written: ${file}`);
}

/** Prints each miss: its label, the plan's actions, received beside expected values, and its picture's path. */
async function printMisses({ misses = [], kind = "" }: EvaluateResult, context: CliContext): Promise<void> {
  if (misses.length === 0) return;
  const [{ environmentKinds }, { formatTables }] = await Promise.all([import("../env/open.js"), import("./tables.js")]);
  const view = (await environmentKinds(kind)).get(kind)?.view;
  for (const { task_id, reward, fault, detail, picture } of misses) {
    context.print(`\n${task_id}: ${reward === null ? `no reward, ${fault}` : `reward ${reward.toFixed(3)}`}`);
    context.print(formatTables(view?.(detail) ?? []));
    if (picture !== null) context.print(`  picture: ${picture}`);
  }
}

function compare(
  runs: readonly string[],
  flags: { readonly split?: string; readonly json?: boolean },
  context: CliContext,
): void {
  if (runs.length < 2) misuse("compare wants at least two runs.", { hint: "refusion-eval compare BASELINE RUN" });
  const loaded = runs.map((path) => ({ path, evaluations: evaluationsOf(path, flags.split) }));
  const [baseline, ...others] = loaded as [(typeof loaded)[number], ...typeof loaded];
  const comparisons = others.flatMap(({ path, evaluations }) => {
    const shared = evaluations.flatMap((after) => {
      const before = baseline.evaluations.find((e) => e.split === after.split);
      return before === undefined ? [] : [{ label: path, comparison: compareEvaluations(before, after) }];
    });
    if (shared.length === 0)
      fail(`${path} and ${baseline.path} have no evaluated split in common.`, {
        hint: `evaluate both: refusion-eval --run ${path} --split heldout`,
      });
    return shared;
  });
  if (flags.json === true) {
    context.print(
      JSON.stringify(
        comparisons.map(({ label, comparison }) => ({ baseline: baseline.path, run: label, ...comparison })),
      ),
    );
    return;
  }
  const rows = loaded.flatMap(({ path, evaluations }) =>
    evaluations.map((evaluation) => ({ label: path, evaluation })),
  );
  context.print(`${formatEvaluations(rows)}\n\n${formatComparisons(comparisons)}`);
}

/** Reads the last evaluation of each split of a run, or the one in a file. */
function evaluationsOf(path: string, split: string | undefined): Evaluation[] {
  if (existsSync(path) && statSync(path).isFile())
    return [readEvaluation(path)].filter((e) => split === undefined || e.split === split);
  const run = RunDirectory.open(path);
  const splits = run.evaluatedSplits("after").filter((name) => split === undefined || name === split);
  if (splits.length === 0)
    fail(`${join(path, "eval")} holds no evaluation${split === undefined ? "" : ` of the ${split} split`}.`, {
      hint: `refusion-eval --run ${path} --split ${split ?? "heldout"}`,
    });
  return splits.map((name) => readEvaluation(run.finalEvaluation(name)));
}

await runProgram(build, process.argv);
