import { join } from "node:path";
import { configDifferences, loadConfig, type RunConfig } from "../../config/config.js";
import { parseOverrides } from "../../config/overrides.js";
import { fail, misuse } from "../../core/errors.js";
import { RunDirectory } from "../../runs/run-directory.js";

/** One training run of a sweep. */
export interface PlannedRun {
  /** The swept values, as `objective.kind=espo,training.learning_rate=0.003`. */
  readonly setting: string;
  readonly seed: number;
  readonly dir: string;
  readonly config: RunConfig;
}

/**
 * Lists the runs of a sweep: the product of all listed values, seed by seed, so that a sweep that is ended early has
 * equally many runs of every setting. The first seed is the config's.
 * @param words `key=[a,b]` is swept, `key=a` holds for all runs; a list as one value is `key=[[a,b]]`.
 * @throws UserError for the problems of every config, before any run starts.
 */
export async function plannedRuns(
  file: string,
  words: readonly string[],
  { seeds, out }: { readonly seeds: number; readonly out?: string | undefined },
): Promise<{ readonly dir: string; readonly runs: readonly PlannedRun[] }> {
  const given = parseOverrides(words);
  if (given.some(({ path, value }) => path[0] === "seed" && Array.isArray(value)))
    misuse("A list of seeds is no setting.", { hint: "give the first one and their number: seed=100 --seeds 3" });
  const axes = given.flatMap(({ path, value }) => (Array.isArray(value) ? [{ key: path.join("."), value }] : []));
  const fixed = given.flatMap(({ value, text }) => (Array.isArray(value) ? [] : [text]));
  const empty = axes.find(({ value }) => value.length === 0);
  if (empty !== undefined) misuse(`${empty.key} has no value.`, { hint: `${empty.key}=[a,b]` });
  const settings = axes.reduce<string[][]>(
    (before, { key, value }) =>
      before.flatMap((words) => value.map((one) => [...words, `${key}=${JSON.stringify(one)}`])),
    [[]],
  );
  const configs: { readonly config: RunConfig; readonly setting: string }[] = [];
  for (const words of settings) {
    const config = await loadConfig(file, { overrides: [...fixed, ...words] });
    if (config.objective.kind === "") misuse(`${file} names no objective.`, { hint: "set objective.kind" });
    if (config.evaluation.splits.length === 0)
      misuse("A sweep compares evaluations, and evaluation.splits is empty.", { hint: "evaluation.splits=[[test]]" });
    configs.push({ config, setting: words.join(",").replaceAll('"', "") || "all" });
  }
  const dir = out ?? join("runs", `sweep-${configs[0]?.config.name}`);
  const runs = Array.from({ length: seeds }, (_, i) =>
    configs.map(({ config, setting }): PlannedRun => {
      const seed = config.seed + i;
      // only what a file's name may hold everywhere
      const name = `${setting},seed=${seed}`.replaceAll(/[^\w.=,-]+/g, "-");
      return {
        setting,
        seed,
        dir: join(dir, name),
        config: { ...config, seed, name: `${config.name}-${setting}`.replaceAll(/[^\w.-]+/g, "-") },
      };
    }),
  ).flat();
  const twice = runs.find((run, i) => runs.findIndex((other) => other.dir === run.dir) !== i);
  if (twice !== undefined) misuse(`Two runs of the sweep would have one folder: ${twice.dir}.`);
  return { dir, runs };
}

/** Opens the directory of a run that has begun; undefined where none has. @throws UserError if its config is another. */
export async function begunRun({ dir, config }: PlannedRun): Promise<RunDirectory | undefined> {
  let run: RunDirectory;
  try {
    run = RunDirectory.open(dir);
  } catch {
    return undefined;
  }
  if (!run.begun) return undefined;
  const differences = configDifferences(await loadConfig(run.config), { ...config });
  if (differences.length === 0) return run;
  fail(`${dir} was made with other settings:\n${differences.map((one) => `  ${one}`).join("\n")}`, {
    hint: "give another --out, or the settings that it was made with",
  });
}
