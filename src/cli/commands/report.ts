import { writeReport } from "../../train/report/report.js";
import { RunDirectory } from "../../train/run-directory.js";
import type { CliCommand } from "../shared.js";

/** `refusion-train report RUN`: (re)writes report.html from what the run directory holds; prints its path. */
export const command: CliCommand = {
  register(command, context) {
    command
      .description("Write a run's report.html: curves, before and after, the worst rollouts.")
      .argument("<run>", "run directory")
      .action(async (dir: string) => {
        context.print(await writeReport(RunDirectory.open(dir)));
      });
  },
};
