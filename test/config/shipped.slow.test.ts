import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadConfig } from "../../src/config/config.js";
import { packageRoot } from "../../src/core/files.js";
import { findBrowser } from "../../src/env/browser/find-browser.js";
import { objectiveOf } from "../../src/rl/objective-kinds.js";
import { train } from "../../src/train/recipe.js";

const folder = join(packageRoot(), "configs");
const hasBrowser = findBrowser({ headless: true }) !== undefined;

/** Whole slots of any shipped size. */
const SHORT = 16;

/** The trainings that a config's header names, each with its objective and its `key=value`s. */
function trainingsOf(path: string): { path: string; command: string; values: string[] }[] {
  const header = readFileSync(join(folder, path), "utf8").split(/^[^#]/m)[0] ?? "";
  const named = header.matchAll(new RegExp(`refusion-train (\\S+) --config configs/${path}(.*)`, "g"));
  return [...named]
    .map(([, command = "", values = ""]) => ({ path, command, values: values.match(/[\w.]+=[^\s']+/g) ?? [] }))
    .filter(({ command }) => command !== "new-model");
}

describe("every shipped config loads, and one of each kind goes through one update", () => {
  /** Kinds of sampler, environment and plan that were trained on; train/unread.test.ts trains every objective. */
  const trained = new Set<string>();
  const trainings = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".yaml"))
    .sort()
    .flatMap(trainingsOf);

  for (const { path, command, values } of trainings) {
    it(`${command} --config ${path}`, async (t) => {
      // one group of two, or two records, are enough
      const overrides = ["training.prompts_per_step=1", "training.group_size=2", "training.rollout_batch=2"];
      const records = ["objective.batch_size=2"];
      const supervised = (await objectiveOf(command)).learnsFrom === "supervision";
      const load = (more: readonly string[]) =>
        loadConfig(join(folder, path), { command, overrides: [...values, ...more] });
      const whole = await load(supervised ? records : overrides);
      // any length of free text goes the same way
      const short = whole.plan === "free" && !supervised ? [`sampler.response_length=${SHORT}`] : [];
      const config = await load([...(supervised ? records : overrides), ...short]);
      if (!existsSync(config.model) && !existsSync(join(packageRoot(), config.model)))
        return t.skip(`${config.model} is made or fetched by the commands in its header`);
      const { site } = config as { readonly site?: { readonly kind: string; path?: string; tasks?: string } };
      const ofServer = site?.kind === "url" && !existsSync(site.tasks ?? "");
      if (ofServer || config.environment.kind === "openenv") return t.skip("it needs the server that its header names");
      if (site?.kind === "formfactory" && !existsSync(site.path ?? "")) return t.skip("no checkout of FormFactory");
      const { kind, path: benchmark } = config.environment as { readonly kind: string; readonly path?: string };
      if (kind === "miniwob" && !existsSync(join(benchmark ?? "", "core"))) return t.skip("MiniWoB++ is not unpacked");
      if (kind === "forms" && !supervised && !hasBrowser) return t.skip("no browser is installed");
      const of = [supervised, config.sampler.kind, kind, config.plan].join();
      if (trained.has(of)) return;
      trained.add(of);
      const { dryRun } = await train(config, {
        command,
        configPath: join("configs", path),
        dryRun: true,
        runDir: undefined,
        rolloutsRun: undefined,
        resume: false,
        quiet: true,
        json: false,
        signal: new AbortController().signal,
      });
      assert.ok(dryRun !== undefined && dryRun.step.update > 0, JSON.stringify(dryRun));
      if (!supervised) assert.deepEqual([dryRun.rollouts, dryRun.faults], [2, 0]);
    });
  }
});
