// node scripts/corpus.mjs --config FILE [--draws 2000] [key=value ...] > corpus.txt
// Prints the texts that a policy reads and writes in training: prompts and perfect answers of the config's training
// tasks and of --draws synthetic tasks. `export --keep-tokens` reads this corpus. Needs a build (npm run build).
import { loadConfig } from "../dist/src/config/config.js";
import { Rng } from "../dist/src/core/rng.js";
import { openEnvironment, tasksOf } from "../dist/src/env/open.js";
import { flagsOf } from "./lib/flags.mjs";

const { values, positionals } = flagsOf(import.meta.url, {
  options: { config: { type: "string" }, draws: { type: "string", default: "0" } },
  allowPositionals: true,
});
if (values.config === undefined) {
  process.stderr.write("--config FILE is missing\n");
  process.exit(2);
}
const config = await loadConfig(values.config, { overrides: positionals });
const environment = await openEnvironment(config);
try {
  const rng = Rng.named(config.seed, "corpus");
  const demonstrations = environment.demonstrations?.(tasksOf(environment, "train")) ?? [];
  const synthetic = Array.from({ length: Number(values.draws) }, () => environment.syntheticDemonstration?.(rng));
  for (const demonstration of [...demonstrations, ...synthetic])
    if (demonstration !== undefined)
      process.stdout.write(`${demonstration.observation.text ?? ""}\n${demonstration.action.text ?? ""}\n`);
} finally {
  await environment.close();
}
