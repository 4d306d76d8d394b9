import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig, type RunConfig } from "../../../src/config/config.js";
import { packageRoot } from "../../../src/core/files.js";

/** The families of shipped models; every proof is of the first. */
export const FAMILIES = ["tiny-refusion", "tiny-masked-lm", "tiny-fsdfm"] as const;

/** Each shipped model and sampler of the shipped configs and of the commands in their headers, with one config for it. */
export async function shipped(): Promise<Map<string, RunConfig>> {
  const root = packageRoot();
  const folder = join(root, "configs", "tiny");
  const found = new Map<string, RunConfig>();
  for (const file of readdirSync(folder)) {
    const text = readFileSync(join(folder, file), "utf8");
    const commands = [...text.matchAll(/^# {3}refusion-train .* (model=models\/.*)$/gm)].map(([, keys = ""]) =>
      keys.split(" ").filter((key) => /^(?:model|sampler)[=.]/.test(key)),
    );
    const own = /^model: (models\/\S+)$/m.exec(text)?.[1];
    for (const overrides of [...(own === undefined || !existsSync(join(root, own)) ? [] : [[]]), ...commands]) {
      const config = await loadConfig(join(folder, file), { overrides });
      const name = `${config.model}, ${config.sampler.kind}`;
      if (!found.has(name)) found.set(name, config);
    }
  }
  return found;
}
