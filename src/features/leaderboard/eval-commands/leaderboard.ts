import { join } from "node:path";
import type { Command } from "commander";
import { type CliCommand, type CliContext, sayer } from "../../../cli/shared.js";
import { EXIT, misuse } from "../../../core/errors.js";
import { writeAtomic } from "../../../core/files.js";

interface LeaderboardFlags {
  readonly config?: string;
  readonly out?: string;
  readonly table?: boolean;
  readonly json?: boolean;
}

/** `refusion-eval leaderboard`: trains every objective from one policy, with equal rollouts and updates, over seeds. */
export const command: CliCommand = {
  register(program: Command, context: CliContext): void {
    program
      .description("Trains objectives on equal terms and sets them side by side; run it again to go on.")
      .option("-c, --config <file>", "YAML of the leaderboard, as configs/leaderboard/refusion.yaml")
      .option("-o, --out <dir>", "where runs and tables are kept; runs/<name> by default")
      .option("--table", "make no run: only the table of those that are there")
      .option("--json", "print the tables as JSON")
      .action(async (_flags: unknown, command: Command) => {
        // the program has options of the same names, which receive the values
        const flags: LeaderboardFlags = command.optsWithGlobals();
        if (flags.config === undefined)
          misuse("No leaderboard: --config FILE is missing.", {
            hint: "refusion-eval leaderboard --config configs/leaderboard/refusion.yaml",
          });
        // imported lazily: help should not wait for the runtime
        const [{ readLeaderboard }, { playLeaderboard }, { formatTables, tablesOf }] = await Promise.all([
          import("../plan.js"),
          import("../play.js"),
          import("../table.js"),
        ]);
        const board = readLeaderboard(flags.config);
        const out = flags.out ?? join("runs", board.name);
        const { signal } = context;
        const say = sayer(context, flags.json === true);
        const results = await playLeaderboard(board, { out, signal, say, readOnly: flags.table === true });
        const tables = tablesOf(board, results);
        if (flags.table !== true) {
          await writeAtomic(join(out, "leaderboard.json"), `${JSON.stringify(tables, undefined, 2)}\n`);
          await writeAtomic(join(out, "leaderboard.md"), `${formatTables(tables)}\n`);
        }
        context.print(flags.json === true ? JSON.stringify(tables) : formatTables(tables));
        if (!signal.aborted) return;
        say(`interrupted; run the same command again to go on, finished runs are kept in ${out}`);
        context.exitWith(EXIT.interrupted);
      });
  },
};
