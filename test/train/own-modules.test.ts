import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { reportError } from "../../src/cli/shared.js";
import { loadConfig } from "../../src/config/config.js";
import { packageRoot } from "../../src/core/files.js";
import { openSite } from "../../src/env/environments/forms.js";
import { type Episode, NOT_PLAYED } from "../../src/env/forms/episode.js";
import { rewardFor } from "../../src/env/forms/own-reward.js";
import type { Task } from "../../src/env/site.js";
import { train } from "../../src/train/recipe.js";
import { CliProcess } from "../support/cli-process.js";
import { ownFolder } from "../support/own-modules.js";
import { smallModel } from "../support/small-model.js";
import { trainOptions } from "../support/train-options.js";
import { only } from "../support/typed.js";

const TRAINING = `
training: { steps: 1, prompts_per_step: 1, group_size: 2, micro_batch: 2 }
evaluation: { splits: [] }
report: { screenshots: 0 }
runtime: { provider: cpu, threads: 1 }
`;
const model = await smallModel();
const PAPER = "environment: { kind: paper, sizes: { train: 4, val: 1, test: 0, heldout: 0 } }";
const REST: Readonly<Record<string, string>> = {
  environment: `model: ${model}\nobjective: { kind: flow-grpo }\nsampler: { kind: unmask, prompt_length: 64, response_length: 64 }`,
  objective: `model: ${model}\n${PAPER}`,
  sampler: `model: ${model}\n${PAPER}\nobjective: { kind: flow-grpo }`,
};

let modules = 0;

/** Writes an example of the package with changed texts as a user's module. */
function module(kind: string, ...changes: readonly (readonly [string, string])[]): string {
  let text = readFileSync(join(packageRoot(), "examples", `${kind}.mjs`), "utf8");
  for (const [from, to] of changes) {
    assert.ok(text.includes(from), from);
    text = text.replace(from, to);
  }
  return written(kind, text);
}

function written(kind: string, text: string, ending = "mjs"): string {
  const path = `./${kind}-${modules++}.${ending}`;
  writeFileSync(path, text);
  return path;
}

/** Trains one step with a module in a dry run, which keeps no files. */
async function dryRun(kind: string, path: string): Promise<void> {
  writeFileSync("own.yaml", `${REST[kind]}${TRAINING}${kind}: { kind: ${path} }\n`);
  const config = await loadConfig("own.yaml");
  await train(config, trainOptions(config.objective.kind, "own.yaml", "run-own", { dryRun: true }));
}

/** Returns the text that the command line prints for an error. */
async function said(work: () => Promise<unknown>): Promise<string> {
  const lines: string[] = [];
  await work().then(
    () => assert.fail("it went well"),
    (error: unknown) => reportError(error, (line) => void lines.push(line), false),
  );
  return lines.join("\n");
}

/** Finds the place (file:line) of a text in a module. */
function place(path: string, text: string): string {
  const lines = readFileSync(path, "utf8").split("\n");
  const line = lines.findIndex((one) => one.includes(text));
  assert.ok(line >= 0, text);
  return `${path}:${line + 1}`;
}

const UNMASK = "...unmaskSampler,";
const CREDIT = '=> episodeCredit(group, { advantage: "center", adv_clip_max })';

/** Faulty replacements in a module of each kind, with the line that the message must name and the text of the message. */
const WRONG: Readonly<Record<string, readonly (readonly [from: string, to: string, at: string, says: RegExp])[]>> = {
  environment: [
    ["async open", "async opem", "export const", /open: expected a function, is missing \(opem\?\)/],
    ["return {\n      name", "return undefined;\n      ({\n      name", "async open", /gave .*\n {2}is missing/],
    ["      notes: [],\n", "", "async open", /open gave .*\n {2}notes: is missing/],
    ["async play(", "play: 1, async plays(", "async open", /play: expected a function, received number/],
    ['"val", "test"', '"valid", "test"', "async open", /tasks\.4\.split: /],
    ["await act(show(word))", "await act(word)", "await act", /shown what it may not.*\n.*received string/],
    ["await act(show(word))", "await act({ text: 5 })", "await act", /text: expected string, received number/],
    ["const turnRewards = [];", 'throw "bad";', "async play", /play threw 'bad', which is no error/],
    ["return { reward,", "return { reward: NaN,", "async play", /reward: .*received NaN/],
    ["echoed: reward", "echoed: Promise.resolve(1)", "async play", /metrics\.echoed: /],
    ["detail: {}", "detail: { n: 1n }", "async play", /detail: expected what JSON can hold/],
  ],
  objective: [
    ["  loss({", "  lost({", "export const", /loss: expected a function, is missing \(lost\?\)/],
    ['"rollouts"', '"rollout"', "learnsFrom", /learnsFrom is what it may not/],
    ["({ reference: false })", "undefined", "needs", /needs gave what it may not/],
    [CREDIT, "=> [[1]]", "credit:", /credit gave .*\n {2}.*2 items/],
    [CREDIT, "=> group.map(() => [NaN])", "credit:", /0\.0: expected a finite number/],
    ["=> episodeCredit", "=> Promise.resolve(1) ?? episodeCredit", "credit:", /a Promise, which nobody waits/],
    ["const loss = ", "const loss = value.foo.bar ?? ", "value.foo", /look at/],
    ["return { loss,", "return { loss: undefined,", "loss({ e", /loss gave .*\n {2}loss: is missing/],
    ["e.neg(e.total(", "e.neg(e.mul(1, ", "loss({ e", /loss: expected a scalar/],
    ["e.mul(advantage, logProb)", "e.mul(advantage, {})", "e.mul(advantage, {})", /operand 2 is no value of a graph/],
    ["=> context.stepTerms", "=> void context.stepTerms", "layout:", /layout gave what it may not/],
  ],
  sampler: [
    [UNMASK, `${UNMASK} rollout: undefined,`, "export const", /rollout: expected a function, is missing/],
    [UNMASK, `${UNMASK} policy: {},`, "policy: {}", /policy is what it may not:\n {2}begin: is missing/],
    [UNMASK, `${UNMASK}\n  rollout: async () => [],`, "rollout:", /rollout gave .*\n.*2 items/],
    [UNMASK, `${UNMASK}\n  rollout: async () => { throw new Error("none"); },`, "rollout:", /none\n.*look at/],
    [
      "...unmaskSampler.options(config, model),",
      "...unmaskSampler.options(config, model), rounds: NaN,",
      "options: (config, model) => ({",
      /rounds: expected a finite/,
    ],
  ],
};

describe("a module of one's own that is wrong", () => {
  ownFolder({});

  for (const [kind, [from, to, at, says]] of Object.entries(WRONG).flatMap(([kind, rows]) =>
    rows.map((row) => [kind, row] as const),
  ))
    it(`is said to be, at its line: ${kind}, ${to.replaceAll("\n", " ") || "without a member"}`, async () => {
      const ends = to.startsWith("return undefined") ? [["    };\n  },\n});", "    });\n  },\n});"] as const] : [];
      const path = module(kind, [from, to], ...ends);
      const text = await said(() => dryRun(kind, path));
      assert.match(text, says);
      assert.ok(text.includes(`${place(path, at)}: `) || text.includes(`look at ${place(path, at)},`), text);
      assert.doesNotMatch(text, /a bug in|Export the model again/);
    });

  it("ends an episode before the policy has answered: nothing is left running", async () => {
    const path = module("environment", [
      "await act(show(word));\n          turnRewards.push(Number(text.includes(",
      "{ text: String(act(show(word))) };\n          turnRewards.push(Number(text.includes(",
    ]);
    const text = await said(() => dryRun("environment", path));
    assert.match(text, /echo ended an episode of echo\/train\/\d before the policy had answered\.\n {2}next: .*await/);
  });

  it("gives what only shows later: the modules are named, and no bug is claimed", async () => {
    const path = module("sampler", [UNMASK, `${UNMASK}\n  rollout: async (_, starts) => starts.map(() => ({})),`]);
    const text = await said(() => dryRun("sampler", path));
    assert.match(text, /see whether .*of yours/);
    assert.ok(text.includes(path) && !text.includes("a bug in"), text);
  });

  it("does not load: the line is said, also of what it imports", async () => {
    const load = (path: string) => said(() => rewardFor(path));
    const broken = written("reward", "export const reward = {\n  score: () => { return 1 ;\n};\n");
    assert.match(await load(broken), new RegExp(`${broken.slice(2)}:3 does not load: Unexpected token`));
    const importing = written("reward", `import "${broken}";\nexport const reward = { score: () => 1 };\n`);
    assert.match(await load(importing), new RegExp(`${broken.slice(2)}:3 does not load: Unexpected token`));
    const thrown = written("reward", "const a = undefined;\na.b;\n");
    assert.match(await load(thrown), new RegExp(`${thrown.slice(2)}:2 does not load: Cannot read`));
    assert.match(await load(written("reward", "throw null;\n")), /does not load: null\n {2}next: correct the module/);
    const named = written("reward", '\nimport { nothing } from "refusion-train";\n');
    assert.match(await load(named), new RegExp(`${named.slice(2)}:2 does not load: .*nothing`));
    assert.match(await load(written("reward", "export const reward = () => 1;\n")), /exports a function as reward\./);
    const typed = written("reward", "export const reward = { score: (): number => 1 };\n", "ts");
    const reads = process.features as { readonly typescript?: unknown };
    if (reads.typescript) assert.equal(await (await rewardFor(typed)).score(only<Episode>({}), only<Task>({})), 1);
    else assert.match(await load(typed), /does not load: .*\n {2}next: .*22\.18/);
  });

  it("scores with anything but a finite number that float32 has room for", async () => {
    const episode = { ...NOT_PLAYED, taskId: "a", unresolved: [], attempts: 1, ms: 0 };
    const score = async (body: string) => {
      const mine = `class Mine {\n  #half = 0.5;\n  score(episode) { ${body} }\n}\nexport default new Mine();\n`;
      const path = written("reward", mine);
      return { path, score: async () => (await rewardFor(path)).score(episode, only<Task>({ id: "a" })) };
    };
    assert.equal(await (await score("return Promise.resolve(this.#half);")).score(), 0.5);
    for (const [body, says] of [
      ["return Number.NaN;", /score gave .*\n.*received NaN/],
      ["return Promise.resolve(Infinity);", /score gave .*\n.*received Infinity/],
      ["return 1e300;", /score gave .*\n.*1000000/],
      ["episode.reward;", /score gave .*\n {2}is missing/],
      ["throw undefined;", /score threw undefined, which is no error/],
      ["return Promise.reject('late');", /score threw 'late', which is no error/],
      ["return Promise.reject(new Error('late'));", /late\n {2}next: look at/],
      ["return episode.nothing.there;", /Cannot read .*\n {2}next: look at/],
    ] as const) {
      const wrong = await score(body);
      const text = await said(wrong.score);
      assert.match(text, says);
      assert.ok(text.includes(place(wrong.path, "score(episode)")), text);
    }
    const misspelt = written("reward", "export const reward = { scores: () => 1 };");
    assert.match(await said(() => rewardFor(misspelt)), /scores\?/);
  });

  it("is a site whose server or tasks are none: the site is stopped", async () => {
    const start = async (...changes: (readonly [string, string])[]) => {
      // unref: nothing can stop a server whose module returns no site
      const path = module("site", ["await new Promise(", "server.unref();\n    await new Promise("], ...changes);
      return { path, text: await said(() => openSite({ kind: path })) };
    };
    const task = await start(
      ['url: "/newsletter",', ""],
      ["async () => void", "async () => void (globalThis.stopped = 1, "],
      ["server.close(),", "server.close()),"],
    );
    assert.match(task.text, /tasks gave .*\n {2}0\.url: is missing/);
    assert.equal((globalThis as { stopped?: number }).stopped, 1);
    const address = ["baseUrl: `http:", "baseUrl: `nowhere:"] as const;
    const nowhere = await start(address);
    assert.match(nowhere.text, /start gave .*\n {2}baseUrl: expected an address/);
    assert.ok(nowhere.text.includes(place(nowhere.path, "async start")));
    const thrown = await start(["const server", "null.x;\n    const server"]);
    assert.ok(thrown.text.includes(`look at ${place(thrown.path, "null.x")}`), thrown.text);
    const { text } = await start(['"Full name": name', '"Full name": NaN']);
    assert.match(text, /0\.fields\.Full name: expected a text/);
  });

  it("fails where nobody waits: the program ends with its place", async () => {
    const turns = "const turnRewards = [];";
    const path = module("environment", [turns, `${turns}\n        Promise.reject(new Error("adrift"));`]);
    writeFileSync("adrift.yaml", `${REST.environment}${TRAINING}environment: { kind: ${path} }\n`);
    const program = new CliProcess(["train", "--config", "adrift.yaml", "-q"], { cwd: process.cwd() });
    const { code, err } = await program.ended;
    assert.deepEqual([code, err.includes(`look at ${place(path, "adrift")}`)], [1, true], err);
  });
});
