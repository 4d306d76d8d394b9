import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { stringify } from "yaml";
import { z } from "zod";
import { type LoadOptions, loadConfig } from "../../src/config/config.js";
import { FIELD_NAMES } from "../../src/config/field-names.js";
import { kindSections } from "../../src/config/kind-sections.js";
import { loadRegistries } from "../../src/config/registries.js";
import { configKeys, type Registries, runSchema, unwrap } from "../../src/config/schema.js";
import { UserError } from "../../src/core/errors.js";
import { temporaryFolder } from "../support/temporary.js";

const dir = temporaryFolder("unknown-keys");

type Tree = Record<string, unknown>;
type Path = readonly (string | number)[];

/** A path's value in nested sections and lists. */
const nested = (path: Path, value: unknown): unknown =>
  path.reduceRight<unknown>((inner, key) => (typeof key === "number" ? [inner] : { [key]: inner }), value);

const merged = (a: unknown, b: unknown): unknown => {
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return b;
  if (Array.isArray(a) && Array.isArray(b)) return [merged(a[0], b[0])];
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  const at = (tree: object, key: string): unknown => (tree as Tree)[key];
  return Object.fromEntries([...keys].map((key) => [key, key in b ? merged(at(a, key), at(b, key)) : at(a, key)]));
};

/** The path of every object in a schema, lists and unions included. */
function sections(schema: z.ZodType, path: Path = []): Path[] {
  const { inner } = unwrap(schema);
  if (inner instanceof z.ZodObject)
    return [path, ...Object.entries(inner.shape as Tree).flatMap(([k, s]) => sections(s as z.ZodType, [...path, k]))];
  if (inner instanceof z.ZodArray) return sections(inner.element as z.ZodType, [...path, 0]);
  if (inner instanceof z.ZodUnion) return inner.options.flatMap((option) => sections(option as z.ZodType, path));
  if (inner instanceof z.ZodPipe) return sections(inner.in as z.ZodType, path);
  if (inner instanceof z.ZodRecord) return sections(inner.valueType as z.ZodType, [...path, "any"]);
  return [];
}

async function problems(tree: unknown, command: string | undefined, options: LoadOptions = {}): Promise<string> {
  const file = join(dir, "config.yaml");
  writeFileSync(file, stringify(tree));
  try {
    await loadConfig(file, { command, ...options });
  } catch (error) {
    assert.ok(error instanceof UserError && error.hint, String(error));
    return error.message;
  }
  return "";
}

const shown = (path: Path): string =>
  path.map((key, i) => (typeof key === "number" ? `[${key}]` : `${i === 0 ? "" : "."}${key}`)).join("");

test("a key that no schema has is refused in every section, with and without the kind", async () => {
  const installed = await loadRegistries();
  const trees: { tree: Tree; command: string; registries: Registries }[] = [];
  for (const command of installed.objectives.keys()) trees.push({ tree: {}, command, registries: installed });
  for (const kind of installed.environments.keys()) {
    const tree = { environment: { kind } };
    const registries = await loadRegistries(tree);
    trees.push({ tree, command: "sft", registries });
    for (const { path, entries } of kindSections(registries))
      if (path[0] !== "objective" && path[0] !== "environment")
        for (const one of entries.keys())
          trees.push({ tree: merged(tree, nested([...path, "kind"], one)) as Tree, command: "sft", registries });
  }
  let typos = 0;
  for (const { tree, command, registries } of trees) {
    const paths = sections(runSchema(registries, command, structuredClone(tree))).map((path) => [...path, "lroa"]);
    const wrong = paths.reduce<unknown>((all, path) => merged(all, nested(path, 1)), merged({ model: "m" }, tree));
    const text = await problems(wrong, command, { registries });
    for (const path of paths) assert.ok(text.includes(`\n  ${shown(path)} (line `), `${shown(path)}\n${text}`);
    typos += paths.length;
  }
  assert.ok(typos > 500, `${typos}`);
});

test("without an objective's name its section holds the keys of any objective, and no other", async () => {
  const misspelt = await problems({ model: "m", objective: { kl_coef: 1 } }, undefined);
  assert.match(misspelt, /objective\.kl_coef .*unknown key/);
  assert.equal(await problems({ model: "m", objective: { kl_coeff: 1, batch_size: 3 } }, undefined), "");
});

test("a typing error is not lost where the command line changes the section's kind", async () => {
  const tree = { model: "m", sampler: { roundz: 8, rounds: 4, kind: "unmask" } };
  const text = await problems(tree, "sft", { overrides: ["sampler.kind=jump"] });
  assert.match(text, /sampler\.roundz \(line 3\): unknown key/);
});

test("a key of another kind is named with the kind that has it, and a module without a schema is refused", async () => {
  const module = join(dir, "site.mjs");
  writeFileSync(module, "export const site = { start() {} };");
  for (const [override, says] of [
    ["objective.mc_samples=3", /objective\.mc_samples .*it belongs to objective\.kind .*espo/],
    [`site.kind=${module}`, /site\.mjs:1: this site is not complete:\n {2}schema: expected an object, is missing/],
  ] as const)
    assert.match(await problems({ model: "m" }, "flow-grpo", { overrides: [override] }), says);
});

test("another trainer's name for a key gives the key here, wherever it is written", async () => {
  for (const [tree, written, key] of [
    [{ training: { num_generations: 8 } }, "training.num_generations (line 3)", "training.group_size"],
    [{ num_generations: 8 }, "num_generations (line 2)", "training.group_size"],
    [{ objective: { beta: 0.1 } }, "objective.beta (line 3)", "objective.kl_coeff"],
    [{ lora: { r: 8 } }, "lora.r (line 3)", "lora.rank"],
    [{ a: { rollout: { n: 8 } } }, "a.rollout.n (line 4)", "training.group_size"],
    [{ data: { max_prompt_length: 8 } }, "data.max_prompt_length (line 3)", "sampler.prompt_length"],
  ] as const) {
    const text = await problems({ model: "m", ...tree }, "flow-grpo");
    assert.ok(text.includes(`${written}: unknown key; here it is ${key}`), text);
  }
});

test("every other trainer's name leads to a key that exists", async () => {
  const installed = await loadRegistries();
  const keys = [...installed.objectives.keys()].flatMap((command) => configKeys(runSchema(installed, command, {})));
  const known = new Set(keys.map(({ path }) => path.join(".")));
  for (const [name, key] of FIELD_NAMES) assert.ok(known.has(key), `${name}: ${key}`);
});
