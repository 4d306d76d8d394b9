import { join } from "node:path";
import type { Command } from "commander";
import type { CliCommand, CliContext } from "../../cli/shared.js";
import { closing } from "../../core/closing.js";
import { fail } from "../../core/errors.js";

/** `refusion-eval rejudge RUN`: judges a run's recorded rollouts again with the present judge. */
export const rejudge: CliCommand = {
  register(program: Command, context: CliContext): void {
    program
      .description("Judges a run's recorded rollouts by today's judge: which verdicts and rewards moved, by task.")
      .argument("<run>", "run directory")
      .argument("[overrides...]", "key=value, over the run's config: reward=./my-reward.mjs")
      .option("--write", "keep what was found as RUN/rejudged.json")
      .option("--json", "print what was found as JSON")
      .action(async (dir: string, overrides: string[], _flags: unknown, command: Command) => {
        // the program has an option of the same name, which receives the value
        const flags: { write?: boolean; json?: boolean } = command.optsWithGlobals();
        // imported lazily: help should not wait for them
        const [{ loadConfig }, { writeAtomic }, { openEnvironment }, { readRollouts }, { RunDirectory }, own] =
          await Promise.all([
            import("../../config/config.js"),
            import("../../core/files.js"),
            import("../../env/open.js"),
            import("../../runs/rollout-record.js"),
            import("../../runs/run-directory.js"),
            import("./rejudge.js"),
          ]);
        const run = RunDirectory.open(dir);
        const steps = run.rolloutSteps();
        if (steps.length === 0)
          fail(`${run.rolloutsDir} holds no rollouts.`, { hint: "a run of supervised training records none" });
        const config = await loadConfig(run.config, { command: run.readEnvironment().command, overrides });
        await using environment = closing(await openEnvironment(config));
        const records = steps.flatMap((step) => readRollouts(run.rollouts(step)));
        const found = await own.rejudgeRollouts(environment, records);
        const judge = environment.judge?.(environment.tasks) ?? null;
        context.print(flags.json === true ? JSON.stringify({ judge, ...found }) : own.formatRejudged(found));
        if (flags.write !== true) return;
        const file = join(run.dir, "rejudged.json");
        await writeAtomic(file, `${JSON.stringify({ judge, ...found }, undefined, 2)}\n`);
        context.log(`written: ${file}`);
      });
  },
};
