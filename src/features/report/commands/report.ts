import { type CliCommand, positiveInteger } from "../../../cli/shared.js";
import { loadConfig } from "../../../config/config.js";
import { closing } from "../../../core/closing.js";
import { RunDirectory } from "../../../runs/run-directory.js";
import { writeReport } from "../report.js";

interface ReportFlags {
  readonly rollouts?: number;
  /** True if the option has no number. */
  readonly screenshots?: number | true;
}

/** `refusion-train report RUN`: writes report.html from the run directory again, and prints its path. */
export const command: CliCommand = {
  register(command, context) {
    command
      .description("write a run's report.html: curves, before and after, the worst rollouts")
      .argument("<run>", "run directory")
      .option("--rollouts <count>", "rollouts that it shows (64)", positiveInteger)
      .option(
        "--screenshots [count]",
        "play the plans of the worst rollouts again and show the filled forms (12)",
        positiveInteger,
      )
      .action(async (dir: string, { rollouts, screenshots }: ReportFlags) => {
        const run = RunDirectory.open(dir);
        const options = rollouts === undefined ? {} : { rollouts };
        if (screenshots === undefined) {
          context.print(await writeReport(run, options));
          return;
        }
        // imported lazily: a report without screenshots needs no browser
        const [{ openEnvironment }, { takeScreenshots }] = await Promise.all([
          import("../../../env/open.js"),
          import("../screenshots.js"),
        ]);
        const config = await loadConfig(run.config, { command: run.readEnvironment().command });
        await using environment = closing(await openEnvironment(config));
        const picture = async (records: Parameters<typeof takeScreenshots>[2]): Promise<void> => {
          const wanted = records.slice(0, screenshots === true ? config.report.screenshots : screenshots);
          const taken = await takeScreenshots(run, environment, wanted);
          context.log(`${taken} of ${wanted.length} screenshots taken`);
        };
        context.print(await writeReport(run, { ...options, picture }));
      });
  },
};
