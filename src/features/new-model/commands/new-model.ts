import { existsSync } from "node:fs";
import { type CliCommand, shellWord } from "../../../cli/shared.js";
import { readTree, shippedOr } from "../../../config/config.js";
import { fail } from "../../../core/errors.js";
import { checked } from "../../../core/problems.js";

/** `refusion-train new-model`: makes a new tokenizer and random weights, to be trained with `sft`. */
export const command: CliCommand = {
  register(program, context) {
    program
      .description("make a model directory with a tokenizer of its own and random weights")
      .requiredOption("-c, --config <file>", "YAML with the sizes of the model")
      .requiredOption("-o, --out <dir>", "where the model directory is written; must not exist")
      .action(async (flags: { config: string; out: string }) => {
        if (existsSync(flags.out))
          fail(`${flags.out} exists already, and a model is never overwritten.`, { hint: "give another --out" });
        const { newModel, newModelSchema } = await import("../new-model.js");
        const path = shippedOr(flags.config);
        const config = checked(newModelSchema, readTree(path), `${path} is not usable`, {
          hint: "give a YAML file as configs/tiny/model.yaml; docs/model.md lists the keys of each architecture",
          exitCode: 2,
        });
        const { parameters, vocabulary } = await newModel(config, flags.out);
        context.print(`${flags.out}: ${parameters} parameters, ${vocabulary} tokens`);
        context.log(
          `next: refusion-train init sft --model ${shellWord(flags.out)} --out sft.yaml objective.trainable=full objective.output=${shellWord(`${flags.out}-trained`)}`,
        );
      });
  },
};
