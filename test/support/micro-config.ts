import { loadRegistries } from "../../src/config/registries.js";
import { type RunConfig, runSchema } from "../../src/config/schema.js";
import { goldenModel, readGolden } from "./golden.js";

/** Makes a config of the golden micro model, or of another kind with its weights, with a canvas small enough for proofs to enumerate. */
export async function microConfig(
  changes: Record<string, unknown> = {},
  model: Record<string, unknown> = {},
): Promise<RunConfig> {
  const golden = readGolden("micro");
  const { dir } = await goldenModel(golden, model);
  const raw = {
    name: "verify",
    model: dir,
    lora: { rank: golden.meta.rank, alpha: golden.meta.alpha },
    runtime: { provider: "cpu", threads: 1 },
    sampler: { rounds: 3, slot_size: 2, response_length: 8, prompt_length: 8, temperature: 0.8, ...changes },
  };
  return runSchema(await loadRegistries(), undefined, raw).parse(raw) as RunConfig;
}
