import { existsSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import { parse } from "yaml";
import { z } from "zod";
import { messageOf, UserError } from "../../core/errors.js";
import type { CliCommand, CliContext } from "../shared.js";

/** `refusion-train new-model`: a fresh tokenizer and random weights, to be trained by `sft`. */
export const command: CliCommand = {
  register(program: Command, context: CliContext): void {
    program
      .description("make a model directory with a tokenizer of its own and random weights")
      .requiredOption("-c, --config <file>", "YAML with the sizes of the model")
      .requiredOption("-o, --out <dir>", "where the model directory is written; must not exist")
      .action(async (flags: { config: string; out: string }) => {
        if (existsSync(flags.out))
          throw new UserError(`${flags.out} exists already, and a model is never overwritten.`, {
            hint: "give another --out",
          });
        const { newModel, newModelSchema } = await import("../../train/new-model.js");
        let raw: unknown;
        try {
          raw = parse(readFileSync(flags.config, "utf8"));
        } catch (error) {
          throw new UserError(`Cannot read ${flags.config}: ${messageOf(error)}`, { exitCode: 2 });
        }
        const config = newModelSchema.safeParse(raw);
        if (!config.success)
          throw new UserError(`${flags.config} is not usable:\n${z.prettifyError(config.error)}`, { exitCode: 2 });
        const { parameters, vocabulary } = await newModel(config.data, flags.out);
        context.print(`${flags.out}: ${parameters} parameters, ${vocabulary} tokens`);
        context.log(
          `next: refusion-train init sft --model ${flags.out} --out sft.yaml objective.trainable=full objective.output=${flags.out}-trained`,
        );
      });
  },
};
