import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { configDifferences, formatConfig, type LoadOptions, loadConfig, resolvePath } from "../../src/config/config.js";
import { loadRegistries } from "../../src/config/registries.js";
import { configKeys, type Registries, type RunConfig, runSchema, type SectionOf } from "../../src/config/schema.js";
import { UserError } from "../../src/core/errors.js";
import { packageRoot } from "../../src/core/files.js";
import { environment as forms } from "../../src/env/environments/forms.js";
import { sectionOf } from "../support/section.js";
import { temporaryFolder } from "../support/temporary.js";
import { userError } from "../support/user-error.js";

const dir = temporaryFolder("config");

/** A section of forms that no kind decides. */
function ownSchema(name: string): SectionOf {
  const section = forms.sections?.[name];
  assert.ok(section !== undefined && "schema" in section);
  return section;
}

const length = { rounds: z.int().min(1).default(8), slot_size: z.int().default(4), length: z.int().default(64) };
const unmask = z
  .strictObject(length)
  .refine((o) => o.length % o.slot_size === 0, { path: ["length"], error: "must be a multiple of slot_size" });
const objective = z.strictObject({
  kl_coeff: z.number().min(0).default(0.04).describe("beta"),
  steps_per_update: z.union([z.literal("all"), z.int().min(1)]).default("all"),
});
const embedded = z.strictObject({ tier: z.enum(["starter", "full"]).default("starter") });
const sites = { embedded, url: z.strictObject({ base_url: z.url() }) };
const trackers = {
  files: z.boolean().default(true),
  server: z.strictObject({ uri: z.url().nullable().default(null) }).prefault({}),
};
const entriesOf = <T>(schemas: Readonly<Record<string, T>>) =>
  new Map(Object.entries(schemas).map(([name, schema]) => [name, { schema }]));
const registries: Registries = {
  objectives: new Map([["flow-grpo", { name: "flow-grpo", description: "d", schema: objective }]]),
  samplers: entriesOf<z.ZodObject>({ unmask, jump: z.object({ grid: z.int().default(10) }) }),
  environments: entriesOf({ forms: z.strictObject({}) }),
  sections: new Map<string, SectionOf>([
    ["site", { entries: entriesOf<z.ZodObject>(sites), default: "embedded", description: "the forms" }],
    ...["browser", "reward"].map((name): [string, SectionOf] => [name, ownSchema(name)]),
  ]),
  trackers: entriesOf<z.ZodType>(trackers),
};

let files = 0;
function load(yaml: string, options: LoadOptions = {}): Promise<RunConfig> {
  const path = join(dir, `case-${files++}.yaml`);
  writeFileSync(path, yaml);
  return loadConfig(path, { command: "flow-grpo", registries, ...options });
}

async function failure(yaml: string, options: LoadOptions = {}): Promise<string> {
  try {
    await load(yaml, options);
  } catch (error) {
    assert.ok(error instanceof UserError, String(error));
    assert.equal(error.exitCode, 2);
    return error.message;
  }
  throw new Error("it was accepted");
}

const refuses = async (yaml: string, message: RegExp, options: LoadOptions = {}): Promise<void> =>
  assert.match(await failure(yaml, options), message);

test("defaults fill everything but the model, and the name comes from the file", async () => {
  const config = await load("model: m\n");
  assert.match(config.name, /^case-\d+$/);
  assert.equal(config.training.steps, 20);
  assert.equal(config.evaluation.temperature, null);
  assert.deepEqual(config.environment, { kind: "forms" });
  assert.deepEqual(sectionOf(config, "site"), { kind: "embedded", tier: "starter" });
  assert.equal(sectionOf(config, "reward"), "default");
  assert.deepEqual(config.sampler, { kind: "unmask", rounds: 8, slot_size: 4, length: 64 });
  assert.deepEqual(config.objective, { kind: "flow-grpo", kl_coeff: 0.04, steps_per_update: "all" });
  assert.equal(Object.keys(config.sampler)[0], "kind");
});

test("schema default < YAML < command line", async () => {
  const yaml = "model: m\ntraining: {steps: 5, group_size: 2}\nobjective:\n  kl_coeff: 0.1\n";
  const overrides = ["training.steps=7", "evaluation.splits=[val, test]", "sampler.rounds=3", "name=x"];
  const config = await load(yaml, { overrides });
  assert.deepEqual([config.training.steps, config.training.group_size, config.training.prompts_per_step], [7, 2, 4]);
  assert.deepEqual(config.evaluation.splits, ["val", "test"]);
  assert.equal(config.objective.kl_coeff, 0.1);
  assert.equal(config.sampler.rounds, 3);
  assert.equal(config.name, "x");
});

test("an empty section means its defaults; the kind may be left out", async () => {
  const config = await load("model: m\ntraining:\nsite:\n  tier: full\nobjective:\n");
  assert.equal(config.training.steps, 20);
  assert.deepEqual(sectionOf(config, "site"), { kind: "embedded", tier: "full" });
});

test("the config or the command names the objective, and both agree", async () => {
  const named = "model: m\nobjective: {kind: flow-grpo, kl_coeff: 0.5}\n";
  const expected = { kind: "flow-grpo", kl_coeff: 0.5, steps_per_update: "all" };
  assert.deepEqual((await load(named, { command: undefined })).objective, expected);
  assert.deepEqual((await load(named)).objective, expected);
  await refuses(named, /is a config for "flow-grpo" \(objective\.kind\), not for espo/, { command: "espo" });
  const own = load("model: m\nobjective: {kind: ./own.mjs}\n");
  await assert.rejects(own, { hint: /^refusion-train train --config/ });
  await refuses(
    "model: m\nobjective: {kind: flow-grop}\n",
    /objective\.kind \(line 2\): expected one of flow-grpo, got "flow-grop"; did you mean flow-grpo\?/,
    { command: undefined },
  );
});

test("another kind brings its own keys and makes a plain object schema strict", async () => {
  assert.deepEqual((await load("model: m\nsampler: {kind: jump}\n")).sampler, { kind: "jump", grid: 10 });
  await refuses("model: m\nsampler: {kind: jump, rounds: 4}\n", /sampler\.rounds \(line 2\): unknown key/);
  await refuses(
    "model: m\nsite: {kind: embeded}\n",
    /site\.kind \(line 2\): expected one of embedded, url, got "embeded"; did you mean embedded\?/,
  );
  await refuses("model: m\nsite: {kind: 3}\n", /site\.kind.*got 3/);
  await refuses("model: m\nsite: {kind: url}\n", /site\.base_url \(line 2\): is required and missing/);
});

test("a kind from the command line takes what it knows of the file's section, and nothing else", async () => {
  const yaml = "model: m\nsampler: {kind: unmask, rounds: 4, length: 32}\n";
  const other = await load(yaml, { overrides: ["sampler.kind=jump"] });
  assert.deepEqual(other.sampler, { kind: "jump", grid: 10 });
  // what the command line says itself must be a key of the new kind
  await refuses(yaml, /sampler\.rounds/, { overrides: ["sampler.kind=jump", "sampler.rounds=5"] });
  // the file's own kind and keys must fit each other
  await refuses("model: m\nsampler: {kind: jump, rounds: 4}\n", /sampler\.rounds/);
  assert.equal((await load(yaml, { overrides: ["sampler.kind=unmask"] })).sampler.rounds, 4);
});

test("an evaluation may have a sampler of its own, which takes what it leaves out from the policy's", async () => {
  const yaml = "model: m\nsampler: {rounds: 4, length: 32}\nevaluation:\n  sampler: {kind: unmask, rounds: 16}\n";
  const config = await load(yaml);
  assert.deepEqual(config.evaluation.sampler, { kind: "unmask", rounds: 16, slot_size: 4, length: 32 });
  assert.equal(config.sampler.rounds, 4);
  assert.deepEqual(await load(formatConfig(config)), config);
  assert.equal((await load("model: m\n")).evaluation.sampler, null);
  const jump = await load(yaml, { overrides: ["evaluation.sampler.kind=jump"] });
  assert.deepEqual(jump.evaluation.sampler, { kind: "jump", grid: 10 });
  assert.equal((await load(yaml, { overrides: ["evaluation.sampler=null"] })).evaluation.sampler, null);
  await refuses("model: m\nevaluation: {sampler: {kind: jumpp}}\n", /evaluation\.sampler\.kind/);
  await refuses("model: m\nevaluation: {sampler: jump}\n", /evaluation\.sampler/);
});

test("every error at once, with key, line, value and the nearest name", async () => {
  const lines = ["model: 3", "trainig: {}", "training:", "  stpes: 3", "  group_size: 0", "  schedule: cosin"];
  lines.push("  dynamic_sampling: maybe", "learning_rate: 1", "lora:", "  targets:", "    - q_proj", "    - 7");
  lines.push("objective: {kl_coef: 1, steps_per_update: none}", "sampler: {length: 63}", "browser: 5");
  const message = await failure(lines.join("\n"), { overrides: ["evaluation.episodes=many"] });
  for (const part of [
    /has 13 problems:/,
    /model \(line 1\): expected text, got 3/,
    /trainig \(line 2\): unknown key; did you mean training\?/,
    /training\.stpes \(line 4\): unknown key; did you mean training\.steps\?/,
    /training\.group_size \(line 5\): expected at least 2, got 0/,
    /training\.schedule \(line 6\): .*did you mean cosine\?/,
    /training\.dynamic_sampling \(line 7\): expected true or false, got "maybe"/,
    /learning_rate \(line 8\): unknown key here; did you mean training\.learning_rate\?/,
    /lora\.targets\[1\] \(line 12\): expected text, got 7/,
    /objective\.kl_coef \(line 13\): unknown key; here it is objective\.kl_coeff/,
    /objective\.steps_per_update \(line 13\): expected one of all, or expected a number, got "none"/,
    /sampler\.length \(line 14\): must be a multiple of slot_size, got 63/,
    /browser \(line 15\): expected a section of keys, got 5/,
    /evaluation\.episodes \(command line: evaluation\.episodes=many\): expected a number, got "many"/,
  ])
    assert.match(message, part);
  const order = [...message.matchAll(/\(line (\d+)\)/g)].map((match) => Number(match[1]));
  const ascending = order.toSorted((a, b) => a - b);
  assert.deepEqual(order, ascending);
});

test("numbers must be finite and whole where they count", async () => {
  await refuses(
    "model: m\ntraining: {learning_rate: .nan, steps: .inf, group_size: 2.5}\n",
    /steps.*got Infinity[\s\S]*group_size.*got 2\.5[\s\S]*learning_rate.*got NaN/,
  );
  await refuses("model: m\nseed: -1\n", /seed \(line 2\): expected at least 0, got -1/);
  await refuses("model: m\nseed: 9007199254740993\n", /seed/);
});

test("keys of different sections must fit each other", async () => {
  const stop = "model: m\ntraining:\n  early_stop: {patience: 3}\n";
  await refuses(stop, /training\.early_stop\.patience \(line 3\): needs evaluations.*evaluation\.every above 0, got 3/);
  const { training } = await load(stop, { overrides: ["evaluation.every=5"] });
  assert.deepEqual(training.early_stop, { patience: 3 });
  await refuses(
    "model: m\ntraining: {prompts_per_step: 2, min_signal_groups: 3}\n",
    /training\.min_signal_groups \(line 2\): cannot be more than training\.prompts_per_step.*got 3/,
  );
});

test("what would teach or measure nothing is refused", async () => {
  const overrides = ["training.group_size=1", "evaluation.splits=[val, val]"];
  const text = await failure("model: m\n", { overrides });
  assert.match(text, /training\.group_size .*expected at least 2, got 1/);
  assert.match(text, /evaluation\.splits .*names a split twice/);
});

test("what a batch holds and how long is waited has a limit", async () => {
  for (const override of [
    ...["training.group_size", "training.rollout_batch", "evaluation.batch", "browser.contexts", "lora.rank"],
    ...["browser.action_timeout_s", "browser.rollout_timeout_s"],
  ]) {
    const text = await failure("model: m\n", { overrides: [`${override}=1000000000`] });
    assert.match(text, /expected at most (100000|86400), got 1000000000/, override);
  }
});

test("hostile YAML is refused with its line", async () => {
  await refuses("model: m\nmodel: n\n", /line 2: .*unique/);
  await refuses("model: [m\n", /line \d/);
  await refuses("model: m\n---\nmodel: n\n", /line \d/);
  await refuses("- a\n- b\n", /expected keys and values/);
  await refuses("just text\n", /expected keys and values/);
  await refuses("model: !!js/function 'x'\n", /line 1: .*tag/i);
  await refuses("model: *nothing\n", /alias/i);
  const levels = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(", ")}]`);
  await refuses(["l0: &l0 [x, x]", ...levels].join("\n"), /alias/i);
  await refuses("model: m\nlora: &a\n  targets: *a\n", /aliases: .*circular/);
  await refuses(`model: m\nname: ${"x".repeat(1 << 20)}\n`, /bytes; at most 131072 are read/);
  await refuses("model: m\nname: ../../etc\n", /name \(line 2\): may hold letters/);
  // composing these overflowed the stack, and a regular expression that is compiled there ends the process
  for (const opening of ["[", "{a: ", "- ", "? "])
    await refuses(`model: m\nx:\n ${opening.repeat(20_000)}`, /line 3: more than 100 lists or sections/);
  await refuses("", /model: is required and missing/);
});

test("a file of many thousand wrong keys is refused by the first of them", async () => {
  const keys = Array.from({ length: 8000 }, (_, i) => `k${i}: 1`);
  const text = await failure(["model: m", ...keys].join("\n"));
  assert.match(text, /k0 \(line 2\): unknown key/);
  assert.match(text, /\n {2}and 7900 more$/);
  assert.ok(text.length < 100_000);
});

test("prototype names are unknown keys and pollute nothing", async () => {
  await refuses("model: m\n__proto__: {polluted: 1}\n", /__proto__/);
  await refuses("model: m\nconstructor: 1\ntoString: 2\n", /constructor[\s\S]*toString/);
  await refuses("model: m\n", /is no key/, { overrides: ["__proto__.polluted=1"] });
  await refuses("model: m\n", /constructor/, { overrides: ["constructor.prototype.polluted=1"] });
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
});

test("a missing file is a usage error", async () => {
  await assert.rejects(loadConfig(join(dir, "none.yaml"), { registries }), userError(/none\.yaml/, { exitCode: 2 }));
});

test("the resolved config loads to itself, and differences name their keys", async () => {
  const config = await load("model: m\nname: again\nsite: {kind: url, base_url: 'http://127.0.0.1:1'}\n");
  assert.deepEqual(await load(formatConfig(config)), config);
  assert.deepEqual(configDifferences(config, config), []);
  const changed = { ...config, seed: 3, training: { ...config.training, steps: 40 } };
  assert.deepEqual(configDifferences(config, changed).sort(), ["seed: 0 -> 3", "training.steps: 20 -> 40"]);
});

test("tracking has one key for each tracker, and each its default", async () => {
  assert.deepEqual((await load("model: m\n")).tracking, { files: true, server: { uri: null } });
  const overrides = ["tracking.server.uri=http://127.0.0.1:5000"];
  const set = await load("model: m\ntracking: {files: false}\n", { overrides });
  assert.deepEqual(set.tracking, { files: false, server: { uri: "http://127.0.0.1:5000" } });
  await refuses("model: m\ntracking: {flies: true}\n", /tracking\.flies.*did you mean tracking\.files/);
});

test("without an installed plug-in its section accepts anything", async () => {
  const empty = new Map<never, never>();
  const none = { objectives: empty, samplers: empty, environments: empty, sections: empty, trackers: empty };
  const yaml = "model: m\nenvironment: {kind: mine, x: 1}\nobjective: {y: 2}\n";
  const config = await load(yaml, { registries: none });
  assert.deepEqual(config.environment, { kind: "mine", x: 1 });
  assert.deepEqual(config.objective, { kind: "flow-grpo", y: 2 });
});

test("paths are looked for in the working directory, then in the package", () => {
  assert.equal(resolvePath("configs", "model"), join(packageRoot(), "configs"));
  assert.throws(() => resolvePath("models/none-such", "model"), userError(/model: models\/none-such does not exist/));
});

test("every key of the installed schema is described, and has a default save the model", async () => {
  const installed = await loadRegistries();
  for (const command of [undefined, ...installed.objectives.keys()]) {
    const keys = configKeys(runSchema(installed, command, {}));
    for (const key of keys) {
      const name = `${command}: ${key.path.join(".")}`;
      // a plug-in's nested keys may share their section's description
      const section = keys.find((k) => k.path.length > 1 && k.path.join(".") === key.path.slice(0, -1).join("."));
      if (key.path.at(-1) !== "kind") assert.notEqual(key.description + (section?.description ?? ""), "", name);
      if (key.type !== "section" && !["model", "name"].includes(key.path.join(".")))
        assert.notEqual(key.default, undefined, name);
    }
  }
});

test("no number of an installed objective may be 1e12, save a seed", async () => {
  const installed = await loadRegistries();
  for (const command of installed.objectives.keys()) {
    const all = configKeys(runSchema(installed, command, {}));
    const numbers = all.filter(({ path, type }) => /^(?:int|number)/.test(type) && path.at(-1) !== "seed");
    const overrides = numbers.map(({ path }) => `${path.join(".")}=1000000000000`);
    const text = await failure("model: m\n", { command, registries: installed, overrides });
    for (const { path } of numbers) assert.ok(text.includes(`${path.join(".")} (command line`), `${path}\n${text}`);
  }
});

test("every shipped config names a command in its header, and loads where that is an objective", async () => {
  const folder = join(packageRoot(), "configs");
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".yaml"));
  assert.ok(paths.length >= 3);
  const installed = await loadRegistries();
  for (const path of paths) {
    const header = readFileSync(join(folder, path), "utf8").split(/^[^#]/m)[0] ?? "";
    const found = new RegExp(`refusion-(?:train (\\S+)|eval) (?:--config )?configs/${path}`).exec(header);
    assert.ok(found !== null, `${path}: its header holds no command`);
    const command = found[1] === "sweep" ? undefined : found[1];
    if (command !== undefined && !installed.objectives.has(command)) continue;
    // a module that the config names is read with it
    const own = /kind: \S+\.mjs/.test(readFileSync(join(folder, path), "utf8"));
    await loadConfig(join(folder, path), { command, ...(own ? {} : { registries: installed }) });
  }
});
