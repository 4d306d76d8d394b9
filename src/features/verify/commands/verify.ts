import type { CliCommand } from "../../../cli/shared.js";
import { EXIT } from "../../../core/errors.js";
import { isModulePath } from "../../../core/own-module.js";

interface VerifyFlags {
  readonly config: string;
  readonly model?: string;
  readonly objective?: string;
  readonly only?: string;
  readonly json?: boolean;
}

/** `refusion-train verify`: proves on a config's model that sampling, scoring and gradients agree. Exit 1 on a miss. */
export const command: CliCommand = {
  register(command, context) {
    command
      .description("prove that sampling, scoring and gradients agree on a model")
      .argument("[overrides...]", "key=value, over what the config says")
      .requiredOption("-c, --config <file>", "YAML config of a run")
      .option("-m, --model <dir>", "model directory, in place of the config's")
      .option(
        "--objective <name>",
        "only this objective, a name or a module's path (and its options in the config); all by default",
      )
      .option("--only <names>", "only these proofs, with commas between them")
      .option("--json", "print the measurements as JSON")
      .action(async (overrides: string[], flags: VerifyFlags) => {
        // loaded on use: help must not wait for the runtime
        const { loadConfig } = await import("../../../config/config.js");
        const { objectiveKinds } = await import("../../../rl/objective-kinds.js");
        const { formatProofs, verify } = await import("../verify.js");
        const { objective = "", model } = flags;
        const config = await loadConfig(flags.config, {
          // a module has no command of its own
          command: (await objectiveKinds()).has(objective) ? objective : undefined,
          overrides: [
            ...overrides,
            ...(model === undefined ? [] : [`model=${model}`]),
            ...(isModulePath(objective) ? [`objective.kind=${objective}`] : []),
          ],
        });
        const lines = await verify({
          config,
          objective: flags.objective,
          only: flags.only?.split(",").map((name) => name.trim()) ?? [],
          signal: context.signal,
          onProof: (name, claim) => context.log(`${name}: ${claim}`),
          onNote: (text) => context.log(text),
        });
        const misses = lines.filter((line) => !line.pass).length;
        if (flags.json === true)
          context.print(JSON.stringify({ model: config.model, pass: misses === 0, measurements: lines }));
        else context.print(formatProofs(lines));
        const open = lines.filter((line) => line.pass && line.proved === false).length;
        if (open > 0) context.log(`${open} of ${lines.length} measurements are within their limit and prove nothing`);
        if (misses > 0) {
          context.log(`${misses} of ${lines.length} measurements miss their limit: do not trust a run of this config`);
          context.exitWith(EXIT.failed);
        }
      });
  },
};
