import { join } from "node:path";
import { type CliCommand, positiveInteger, sayer } from "../../../cli/shared.js";
import { EXIT } from "../../../core/errors.js";
import { writeAtomic } from "../../../core/files.js";

interface SweepFlags {
  readonly seeds: number;
  readonly out?: string;
  readonly json?: boolean;
}

/** `refusion-train sweep FILE key=[a,b] --seeds 3`: trains every combination, and sets the results side by side. */
export const command: CliCommand = {
  register(command, context) {
    command
      .description("train every combination of values, over seeds, and compare them; run it again to go on")
      .argument("<config>", "YAML config of the runs; it names the objective (objective.kind)")
      .argument("[key=value...]", "key=[a,b,c] is swept, key=a holds for all runs")
      .option("--seeds <count>", "seeds of each combination, from the config's on", positiveInteger, 1)
      .option("-o, --out <dir>", "where the runs and their report are kept; runs/sweep-NAME by default")
      .option("--json", "print the table as JSON")
      .action(async (file: string, words: readonly string[], flags: SweepFlags) => {
        // loaded on use: help must not wait for the runtime
        const { plannedRuns } = await import("../plan.js");
        const { playSweep } = await import("../play.js");
        const { bestOf, cellsOf, formatRows, limitsOf, tableOf } = await import("../table.js");
        const { writeComparison } = await import("../../report/comparison.js");
        const { dir, runs } = await plannedRuns(file, words, flags);
        context.afterInterrupt = "finishing this step, then saving";
        const say = sayer(context, flags.json);
        const played = await playSweep(runs, { file, signal: context.signal, say });
        if (played.length > 0) {
          const rows = tableOf(played);
          await writeAtomic(join(dir, "sweep.json"), `${JSON.stringify(rows, undefined, 2)}\n`);
          const named = played.map(({ setting, seed, run }) => ({
            label: `${setting}, seed ${seed}`,
            group: setting,
            run,
          }));
          const settings = { answer: bestOf(rows), lines: cellsOf(rows), limits: limitsOf(rows) };
          const report = await writeComparison(named, join(dir, "report.html"), settings);
          context.print(flags.json === true ? JSON.stringify(rows) : formatRows(rows));
          say(`report: ${report}`);
        }
        if (played.length === runs.length) return;
        say(`${played.length} of ${runs.length} runs are finished; the same command goes on`);
        context.exitWith(EXIT.interrupted);
      });
  },
};
