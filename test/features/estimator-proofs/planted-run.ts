import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { RunConfig } from "../../../src/config/schema.js";
import { packageRoot } from "../../../src/core/files.js";
import { Rng } from "../../../src/core/rng.js";
import { goldenModel, readGolden } from "../../support/golden.js";
import { DEFAULT_PROOFS, FAULTS, type PlantedFault } from "./planted-faults.js";

/** What became of a fault: the proof that found it. */
export interface Outcome {
  readonly name: string;
  /** Undefined: no proof missed its limit. */
  readonly caughtBy?: string;
}

const COMPILED = fileURLToPath(new URL("../../../", import.meta.url));
const SOURCES = join(COMPILED, "src");

/** Tells why a fault cannot be planted, if its edit does not fit the sources. */
export function misfitOf({ file, from }: PlantedFault): string | undefined {
  const count = readFileSync(join(SOURCES, file), "utf8").split(from).length - 1;
  return count === 1 ? undefined : `"${from}" stands ${count} times in ${file}`;
}

/** Verifies a micro model with a copy of the compiled sources, in modules of its own; undefined: nothing planted. */
export async function verifyPlanted(
  fault: Pick<PlantedFault, "name" | "sampler" | "objective" | "proofs"> & Partial<PlantedFault>,
): Promise<Outcome> {
  const { name, from, to, file, objective, sampler, proofs = DEFAULT_PROOFS } = fault;
  // inside the package, where its dependencies are found
  const dir = mkdtempSync(join(packageRoot(), "planted-"));
  const isFlow = sampler === "jump";
  const golden = readGolden(isFlow ? "fsdfm" : "micro");
  const { rank, alpha } = golden.meta;
  const changes = isFlow ? { architecture: "fsdfm", attention: "bidirectional" } : {};
  const { dir: model } = await goldenModel(golden, changes);
  try {
    for (const part of ["src", "test/features/estimator-proofs/formulas"])
      cpSync(join(COMPILED, part), join(dir, part), {
        recursive: true,
        filter: (path) => !/\.(map|d\.ts)$/.test(path),
      });
    if (file !== undefined && from !== undefined) {
      const path = join(dir, "src", file);
      writeFileSync(
        path,
        readFileSync(path, "utf8").replace(from, () => to ?? from),
      );
    }
    type Modules = typeof import("../../../src/config/registries.js") &
      typeof import("../../../src/config/schema.js") &
      typeof import("../../../src/features/verify/context.js") &
      typeof import("../../../src/features/verify/proof.js") &
      typeof import("../../../src/features/verify/verify.js") &
      typeof import("../../../src/rl/kinds.js") &
      typeof import("./formulas/all.js");
    const sources = [
      "config/registries",
      "config/schema",
      "verify/context",
      "verify/proof",
      "verify/verify",
      "rl/kinds",
    ];
    const files = [...sources.map((name) => `src/${name}.js`), "test/features/estimator-proofs/formulas/all.js"];
    const loaded = await Promise.all(files.map((name) => import(pathToFileURL(join(dir, name)).href)));
    const modules: Modules = Object.assign({}, ...loaded);
    const { loadRegistries, runSchema, openContext, randomPrompts, holds, loadProofs, formulaProofs, objectiveKinds } =
      modules;
    const raw = {
      name: "verify",
      model,
      lora: { rank, alpha, ...(isFlow ? { targets: ["qw", "kw", "vw", "attn_out"] } : {}) },
      runtime: { provider: "cpu", threads: 1 },
      sampler: {
        ...(isFlow ? { kind: "jump", steps: 3 } : { rounds: 3, slot_size: 2 }),
        ...(sampler === "next-token" ? { slot_fill: sampler, order: "blanks" } : {}),
        response_length: 8,
        prompt_length: 8,
        temperature: 0.8,
      },
    };
    const config = runSchema(await loadRegistries(), undefined, raw).parse(raw) as RunConfig;
    const trials = [...(await objectiveKinds()).values()]
      .filter((o) => o.learnsFrom === "rollouts" && (objective === undefined || o.name === objective))
      .map((o) => ({ objective: o, options: o.schema.parse({}) }));
    const all = new Map([...(await loadProofs()), ...formulaProofs]);
    const context = await openContext(config, trials, async (policy) =>
      randomPrompts(policy.model, 16, 8, Rng.named(1, "prompts")),
    );
    try {
      for (const proof of proofs) {
        for (const measurement of (await all.get(proof)?.run(context)) ?? [])
          if (!holds(measurement)) return { name, caughtBy: `${proof}: ${measurement.name}` };
      }
      return { name };
    } catch (error) {
      return { name, caughtBy: `an error: ${(error as Error).message}` };
    } finally {
      await context.close();
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
    rmSync(model, { recursive: true, force: true });
  }
}

// as a program: every share-th fault from the first-th on, a line of JSON each
const [first, share] = process.argv.slice(2).map(Number);
if (process.argv[1] === fileURLToPath(import.meta.url) && first !== undefined && share !== undefined) {
  for (const fault of FAULTS.filter((_, i) => i % share === first))
    process.stdout.write(`${JSON.stringify(await verifyPlanted(fault))}\n`);
}
