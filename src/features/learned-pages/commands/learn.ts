import type { CliCommand } from "../../../cli/shared.js";
import { closing } from "../../../core/closing.js";
import { misuse } from "../../../core/errors.js";
import type { Contract } from "../contract.js";

interface LearnFlags {
  readonly config: string;
  readonly form?: string;
}

/** `refusion-train learn`: learns the forms of a config's site and prints their contracts. */
export const command: CliCommand = {
  register(command, context) {
    command
      .description("learn the forms of a site, and print their contracts")
      .argument("[overrides...]", "key=value, over what the config says")
      .requiredOption("-c, --config <file>", "the config whose site is learned")
      .option("--form <name>", "this form only")
      .action(async (overrides: string[], flags: LearnFlags) => {
        // loaded on use: help must not wait for the environment
        const [{ loadConfig }, { FormsEnvironment }, { writeContract }, { openEnvironment }] = await Promise.all([
          import("../../../config/config.js"),
          import("../../../env/environments/forms.js"),
          import("../contract.js"),
          import("../../../env/open.js"),
        ]);
        const config = await loadConfig(flags.config, { overrides });
        const environment = await openEnvironment(config, context.log);
        await using _ = closing(environment);
        if (!(environment instanceof FormsEnvironment) || environment.contracts === undefined)
          misuse("The forms of this site are not learned.", {
            hint: "site.kind=url learns them, unless site.learn is null",
          });
        const forms = new Map(environment.tasks.map((task) => [task.form, task]));
        const chosen = [...forms.values()].filter(({ form }) => flags.form === undefined || form === flags.form);
        if (chosen.length === 0) misuse(`There is no form ${flags.form}.`);
        environment.contracts.mends = true;
        for (const task of chosen) {
          const form = await environment.form(task);
          if (form === undefined) continue;
          context.print(`# ${environment.contracts.fileOf(task.form)}\n${writeContract(form.contract as Contract)}`);
        }
      });
  },
};
