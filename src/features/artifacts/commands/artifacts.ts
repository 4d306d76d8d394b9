import type { CliCommand } from "../../../cli/shared.js";
import { loadConfig } from "../../../config/config.js";
import { misuse } from "../../../core/errors.js";
import { objectiveKinds } from "../../../rl/objective-kinds.js";

/** `refusion-train artifacts`: writes the graphs of a run to files. */
export const command: CliCommand = {
  register(program, context) {
    program
      .description("write the graphs that a run builds, and its adapter, as files")
      .argument("[overrides...]", "key=value, over what the config says")
      .requiredOption("-c, --config <file>", "config of the run")
      .requiredOption("-o, --out <dir>", "where they are written; must not exist")
      .option("--objective <name>", "whose loss the training model holds", "flow-grpo")
      .action(async (overrides: string[], flags: { config: string; out: string; objective: string }) => {
        const config = await loadConfig(flags.config, { command: flags.objective, overrides });
        const objective = (await objectiveKinds()).get(flags.objective);
        if (objective === undefined || objective.learnsFrom !== "rollouts")
          misuse(`${flags.objective} is no objective that learns from rollouts.`);
        const { writeArtifacts } = await import("../artifacts.js");
        for (const file of await writeArtifacts(config, objective, flags.out)) context.print(file);
      });
  },
};
