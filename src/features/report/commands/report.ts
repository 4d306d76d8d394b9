import { type CliCommand, positiveInteger } from "../../../cli/shared.js";
import { closing } from "../../../core/closing.js";
import { misuse } from "../../../core/errors.js";
import type { RunDirectory as Run } from "../../../runs/run-directory.js";

interface ReportFlags {
  readonly rollouts?: number;
  /** True if the option has no number. */
  readonly screenshots?: number | true;
  readonly out?: string;
}

/** `refusion-train report RUN...`: writes report.html of a run again, or one page of several, and prints its path. */
export const command: CliCommand = {
  register(command, context) {
    command
      .description("write a run's report.html: curves, before and after, the worst rollouts; of several runs one page")
      .argument("<runs...>", "run directories; others are compared with the first")
      .option("-o, --out <file>", "where the page of several runs is written", "comparison.html")
      .option("--rollouts <count>", "rollouts that it shows (64)", positiveInteger)
      .option(
        "--screenshots [count]",
        "play the plans of the worst rollouts again and show the filled forms (12)",
        positiveInteger,
      )
      .action(async (dirs: readonly string[], { rollouts, screenshots, out = "" }: ReportFlags) => {
        // loaded on use: help must not wait for the report, nor a report without screenshots for the browser
        const { RunDirectory } = await import("../../../runs/run-directory.js");
        const { writeReport } = await import("../report.js");
        const [run, ...others] = dirs.map((dir) => RunDirectory.open(dir)) as [Run, ...Run[]];
        if (others.length > 0) {
          if (rollouts !== undefined || screenshots !== undefined)
            misuse("A page of several runs shows no rollouts.", { hint: "leave out --rollouts and --screenshots" });
          const { labelsOf, writeComparison } = await import("../comparison.js");
          const labels = labelsOf(dirs);
          const runs = [run, ...others].map((of, i) => ({ label: labels[i] as string, run: of }));
          context.print(await writeComparison(runs, out));
          return;
        }
        const options = rollouts === undefined ? {} : { rollouts };
        if (screenshots === undefined) {
          context.print(await writeReport(run, options));
          return;
        }
        const { loadConfig } = await import("../../../config/config.js");
        const { openEnvironment } = await import("../../../env/open.js");
        const { takeScreenshots } = await import("../screenshots.js");
        const config = await loadConfig(run.config, { command: run.readEnvironment().command });
        await using environment = closing(await openEnvironment(config));
        const picture = async (records: Parameters<typeof takeScreenshots>[2]): Promise<void> => {
          const wanted = records.slice(0, screenshots === true ? config.report.screenshots : screenshots);
          const count = await takeScreenshots(run, environment, wanted);
          context.log(`${count} of ${wanted.length} screenshots taken`);
        };
        context.print(await writeReport(run, { ...options, picture }));
      });
  },
};
