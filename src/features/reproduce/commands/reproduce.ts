import { cpus } from "node:os";
import type { CliCommand } from "../../../cli/shared.js";
import { EXIT } from "../../../core/errors.js";

/** `refusion-train reproduce ROW`: measures a printed figure again. Exit code 1 if one is outside of its interval. */
export const command: CliCommand = {
  register(command, context) {
    command
      .description("measure a row of the docs' tables again, and compare it with the printed interval")
      .argument("[row]", "its name; without one, the rows are listed")
      .option("--json", "print the figures as JSON")
      .action(async (id: string | undefined, flags: { readonly json?: boolean }) => {
        const { formatOutcomes, hasModels, reproduce, rowNamed, rowsOfData } = await import("../reproduce.js");
        const { formatTable } = await import("../../../runs/evaluation.js");
        const rows = rowsOfData();
        if (id === undefined) {
          const here = rows.filter(hasModels);
          const table = here.map((row) => [row.id, String(row.minutes), row.title]);
          context.print(
            flags.json === true ? JSON.stringify(rows) : formatTable([["row", "minutes", "table"], ...table]),
          );
          if (here.length < rows.length)
            context.log(`${rows.length - here.length} more rows need models that only a clone of the project has.`);
          return;
        }
        const row = rowNamed(rows, id);
        for (const line of row.commands) context.log(line);
        const outcomes = await reproduce(row);
        const here = cpus()[0]?.model ?? "unknown";
        context.print(
          flags.json === true ? JSON.stringify({ id, cpu: row.cpu, here, outcomes }) : formatOutcomes(outcomes),
        );
        context.log(`printed figures: ${row.cpu}; here: ${here}`);
        if (!outcomes.every(({ inside }) => inside)) context.exitWith(EXIT.failed);
      });
  },
};
