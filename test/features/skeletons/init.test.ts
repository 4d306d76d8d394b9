import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { configOf, loadConfig } from "../../../src/config/config.js";
import { loadRegistries } from "../../../src/config/registries.js";
import { configKeys, type Registries, runSchema } from "../../../src/config/schema.js";
import { configTemplate } from "../../../src/features/skeletons/template.js";
import { callProgram } from "../../support/call-program.js";
import { causalModel } from "../../support/causal-model.js";
import { temporaryFolder } from "../../support/temporary.js";

const dir = temporaryFolder("init");

function sitesOf({ sections }: Registries): string[] {
  const site = sections.get("site");
  assert.ok(site !== undefined && "entries" in site);
  return [...site.entries.keys()];
}

test("the template of every objective and site is valid as written and holds every key with its description", async () => {
  const registries = await loadRegistries();
  const required: Readonly<Record<string, string[]>> = {
    formfactory: ["site.path=checkout"],
    url: ["site.base_url=http://127.0.0.1:1", "site.tasks=tasks.jsonl"],
  };
  for (const objective of registries.objectives.keys()) {
    for (const kind of sitesOf(registries)) {
      const path = join(dir, `${objective}-${kind}.yaml`);
      const values = { model: "models/tiny-refusion", site: { kind } };
      const overrides = required[kind] ?? [];
      const config = await configOf(values, path, { command: objective, overrides, registries });
      const text = configTemplate(config, objective, path, registries);
      writeFileSync(path, text);
      assert.deepEqual(await loadConfig(path, { command: objective, registries }), config, path);
      for (const { path: key, type, description } of configKeys(runSchema(registries, objective, values))) {
        // a section that is off is one line
        const section = key.slice(0, -1).reduce<unknown>((at, name) => (at as Record<string, unknown>)?.[name], config);
        if (section === null || section === undefined) continue;
        const indent = "  ".repeat(key.length - 1);
        assert.ok(text.includes(`\n${indent}${key.at(-1)}:`), `${path} lacks ${key.join(".")}`);
        if (type !== "section") assert.ok(text.includes(`# ${description}`), `${path}: ${key.join(".")}`);
      }
    }
  }
});

test("the splits of a tasks file are those that the config evaluates", async () => {
  const out = join(dir, "splits.yaml");
  const row = (id: string, split: string) =>
    JSON.stringify({ id, form: "f", url: "/f", fields: { Name: "Ann" }, split });
  writeFileSync(join(dir, "splits.jsonl"), [row("a", "train"), row("b", "val"), row("c", "test")].join("\n"));
  const args = ["--site", "url", "--out", out, "site.tasks=splits.jsonl", "site.base_url=http://127.0.0.1:1"];
  const { code, err } = await callProgram("train", dir, ["init", ...args]);
  assert.equal(code, 0, err);
  assert.deepEqual((await loadConfig(out, { command: "flow-grpo" })).evaluation.splits, ["val", "test"]);
});

test("init writes the file, says what comes next, and overwrites nothing", async () => {
  const out = join(dir, "mine.yaml");
  const run = (...args: string[]) => callProgram("train", dir, ["init", ...args]);
  const first = await run("espo", "--out", out, "training.steps=7");
  assert.deepEqual([first.code, first.out.trim()], [0, out], first.err);
  assert.match(first.err, /next: (?:refusion-train|node \S+train\.js) espo --config \S+ --dry-run/);
  const config = await loadConfig(out, { command: "espo" });
  assert.deepEqual([config.name, config.training.steps, config.sampler.kind], ["mine", 7, "unmask"]);
  const before = readFileSync(out, "utf8");
  const again = await run("--out", out);
  assert.equal(again.code, 1);
  assert.match(again.err, /exists already[\s\S]*next: give another --out/);
  assert.equal(readFileSync(out, "utf8"), before);
  const other = join(dir, "other.yaml");
  for (const [args, message] of [
    [["esop", "--out", other], /did you mean espo/],
    [["--out", other, "--model", "nowhere"], /nowhere does not exist/],
    [["--out", other, "--model", "org/Name-1B"], /next: .* export --checkpoint hf:org\/Name-1B --out models\/name-1b/],
    [["--out", other, "--model", "org/SmolLM2-135M"], /next: .*fetch-smollm2/],
    [["--out", other, "--site", "embeded"], /did you mean embedded/],
    [["--out", other, "training.stpes=1"], /did you mean training\.steps/],
    [
      ["--out", other, "--site", "url"],
      /would have 2 problems:[\s\S]*site\.base_url: is required[\s\S]*next: nothing was written; add .* as key=value/,
    ],
  ] as const) {
    const ending = await run(...args);
    assert.ok(ending.code === 1 || ending.code === 2, ending.err);
    assert.match(ending.err, message);
    assert.throws(() => readFileSync(other), /ENOENT/);
  }
});

test("a plain causal language model begins with sft, and writes its blanks from left to right", async () => {
  const out = join(dir, "causal.yaml");
  const { code, err } = await callProgram("train", dir, ["init", "--model", causalModel(dir), "--out", out]);
  assert.equal(code, 0, err);
  assert.match(err, / sft --config \S+ --dry-run/);
  const { sampler, objective } = await loadConfig(out);
  const { order, slot_fill, kind } = { ...(sampler as Record<string, unknown>), ...objective };
  assert.deepEqual([order, slot_fill, kind], ["blanks", "next-token", "sft"]);
});
