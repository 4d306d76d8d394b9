import { type CliCommand, positiveInteger } from "../../../cli/shared.js";
import { closing } from "../../../core/closing.js";

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
        // loaded on use: help must not wait for the report, nor a report without screenshots for the browser
        const [{ RunDirectory }, { writeReport }] = await Promise.all([
          import("../../../runs/run-directory.js"),
          import("../report.js"),
        ]);
        const run = RunDirectory.open(dir);
        const options = rollouts === undefined ? {} : { rollouts };
        if (screenshots === undefined) {
          context.print(await writeReport(run, options));
          return;
        }
        const [{ loadConfig }, { openEnvironment }, { takeScreenshots }] = await Promise.all([
          import("../../../config/config.js"),
          import("../../../env/open.js"),
          import("../screenshots.js"),
        ]);
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
