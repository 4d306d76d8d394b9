import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { CliCommand } from "../../../cli/shared.js";
import { misuse } from "../../../core/errors.js";
import { packageRoot } from "../../../core/files.js";
import { assertNew, writeNew } from "../new-file.js";

/** The config line that uses a module, by kind: the names of the files in examples/. */
const LINES: Readonly<Record<string, (path: string) => string>> = {
  environment: (path) => `environment: {kind: ${path}}`,
  objective: (path) => `objective: {kind: ${path}}`,
  reward: (path) => `reward: ${path}`,
  sampler: (path) => `sampler: {kind: ${path}}`,
  site: (path) => `site: {kind: ${path}}`,
  tracker: (path) => `tracking: {${path}: true}`,
};

/** `refusion-train new KIND FILE`: copies an example of the package as a start for the user's own module. */
export const command: CliCommand = {
  register(program, context) {
    program
      .description("write a module of your own to start from: a reward, a site, an objective ...")
      .addArgument(program.createArgument("<kind>", "what it is to be").choices(Object.keys(LINES)))
      .argument("<file>", "where it is written, as my-reward.mjs; never overwritten")
      .action((kind: string, file: string) => {
        if (!/\.m?js$/.test(file)) misuse(`${file} is no name of a module.`, { hint: "let it end in .mjs" });
        assertNew(file, "file");
        const path = `./${relative(process.cwd(), file).replaceAll("\\", "/")}`;
        const example = readFileSync(join(packageRoot(), "examples", `${kind}.mjs`), "utf8");
        writeNew(file, example.replaceAll(`./examples/${kind}.mjs`, path));
        context.print(LINES[kind]?.(path) ?? "");
        context.log(`written: ${file}; the line above, in a config, uses it (docs/extending.md)`);
      });
  },
};
