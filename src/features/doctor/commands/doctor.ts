import { join } from "node:path";
import type { CliCommand } from "../../../cli/shared.js";
import { loadConfig, type RunConfig } from "../../../config/config.js";
import { EXIT, messageOf, UserError } from "../../../core/errors.js";
import { packageRoot } from "../../../core/files.js";
import { hardware, versions } from "../../../runs/run-directory.js";
import { type Check, check, checkMachine, withoutHome } from "../machine-checks.js";

/** The objective of a config that does not name one. */
const STANDARD = "flow-grpo";

interface DoctorFlags {
  readonly config?: string;
  readonly objective?: string;
  readonly json?: boolean;
}

/** `refusion-train doctor`: checks the requirements of a run, and suggests fixes. Exit code 1 if one is missing. */
export const command: CliCommand = {
  register(command, context) {
    command
      .description("check what a run needs on this machine, and print a fix for each miss")
      .argument("[overrides...]", "key=value, over what the config says")
      .option("-c, --config <file>", "check for this config; the quick start's by default")
      .option(
        "--objective <name>",
        "with --config: what it is for, where it does not say (objective.kind); flow-grpo by default",
      )
      .option(
        "--json",
        "print everything as JSON, for a bug report (the home directory as ~, no environment variables)",
      )
      .action(async (overrides: string[], flags: DoctorFlags) => {
        const checks = await checksFor(flags, overrides);
        if (flags.json === true) {
          const report = { versions: versions(), hardware: hardware(), checks };
          context.print(withoutHome(JSON.stringify(report)));
        } else context.print(checks.map(formatCheck).join("\n"));
        const misses = checks.filter((check) => !check.ok).length;
        if (misses > 0) {
          context.log(`${misses} of ${checks.length} checks failed`);
          context.exitWith(EXIT.failed);
        }
      });
  },
};

async function checksFor({ config: path, ...flags }: DoctorFlags, overrides: readonly string[]): Promise<Check[]> {
  const standard = join(packageRoot(), "configs", "tiny", "letters-flow-grpo.yaml");
  try {
    const objective = flags.objective ?? (path === undefined ? STANDARD : await objectiveOf(path, overrides));
    const config = await loadConfig(path ?? standard, { command: objective, overrides });
    const checks = await checkMachine(config, objective);
    if (path !== undefined) checks.push(await check("run", () => runMemory(config, objective), "correct the config"));
    return checks;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    // the machine is checked with the standard config instead
    const miss = { name: "config", ok: false, found: messageOf(error), fix: error.hint ?? "correct the config" };
    return [miss, ...(await checkMachine(await loadConfig(standard, { command: STANDARD }), STANDARD))];
  }
}

/** Reads the objective of a config (`objective.kind`). */
async function objectiveOf(path: string, overrides: readonly string[]): Promise<string> {
  try {
    const { kind } = (await loadConfig(path, { overrides })).objective;
    return kind === "" ? STANDARD : kind;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    // the error is reported when the config is read for the checks
    return STANDARD;
  }
}

/** Estimates whether a run fits into memory, as its dry run does. @throws UserError if it does not. */
async function runMemory(config: RunConfig, objective: string): Promise<string> {
  const { estimate } = await import("../memory.js");
  const lines = await estimate(config, objective);
  return `the memory of ${objective} with this config (--objective names another):\n${lines.replace(/^/gm, "      ")}`;
}

const formatCheck = ({ name, ok, found, fix }: Check): string =>
  `${ok ? "ok  " : "MISS"}  ${name.padEnd(8)}  ${found}${ok || fix === undefined ? "" : `\n      fix: ${fix}`}`;
