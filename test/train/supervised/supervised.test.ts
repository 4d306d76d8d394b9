import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { loadConfig } from "../../../src/config/config.js";
import type { UserError } from "../../../src/core/errors.js";
import { initialAdapter } from "../../../src/engine/adapter.js";
import { openPolicy } from "../../../src/engine/policy.js";
import { rowsName } from "../../../src/nn/lora.js";
import { loadModel, WEIGHTS_FILE } from "../../../src/nn/model.js";
import { ADAPTER, readPeft } from "../../../src/nn/peft.js";
import { readMetrics } from "../../../src/runs/metrics.js";
import { evaluateCommand } from "../../../src/train/evaluate.js";
import { train } from "../../../src/train/recipe.js";
import type { TrainOptions } from "../../../src/train/types.js";
import { readSafetensors } from "../../../src/weights/safetensors.js";
import { smallModel } from "../../support/small-model.js";
import { stopAfter } from "../../support/stop-after.js";
import { temporaryFolder } from "../../support/temporary.js";
import { trainOptions } from "../../support/train-options.js";

const root = temporaryFolder("supervised");
const path = join(root, "run.yaml");
writeFileSync(
  path,
  `
model: ${await smallModel()}
site: {kind: embedded, tier: starter, sizes: {train: 4, val: 0, test: 0, heldout: 0}}
plan: free
sampler: {kind: unmask, prompt_length: 56, response_length: 56}
objective: {batch_size: 2}
training: {steps: 3}
runtime: {threads: 1, provider: cpu}
`,
);

const options = (name: string, changes?: Partial<TrainOptions>): TrainOptions =>
  trainOptions("sft", path, join(root, name), changes);

const withMask = "lora.train_mask=true";
const masked = await loadConfig(path, { command: "sft", overrides: [withMask] });

test("a supervised run leaves its report, an interrupted one too", async () => {
  const run = (signal: AbortSignal, resume: boolean): Promise<unknown> =>
    train(masked, options("run", { resume, signal }));
  const report = (): string => readFileSync(join(root, "run", "report.html"), "utf8");
  await run(stopAfter(1), false);
  assert.match(report(), /<p>sft · on cpu · 1 step · /);
  await run(new AbortController().signal, true);
  assert.match(report(), /<p>sft · on cpu · 3 steps · /);
  assert.match(report(), /aria-label="Loss: /);
});

test("examples are packed, long tasks left out with a count, and validation is played for real", async () => {
  const overrides = [
    "site.sizes={train: 4, val: 1, test: 0, heldout: 0}",
    "sampler.slot_fill=autoregressive",
    "sampler.prompt_length=28",
    "sampler.canvas_per_prompt=2",
    "objective={batch_size: 4, pack_length: 112, augment: 0.5}",
    "training={steps: 2, skip_long: true}",
    "evaluation={every: 2, episodes: 2, batch: 2}",
    "browser.contexts=1",
  ];
  const config = await loadConfig(path, { command: "sft", overrides });
  const runDir = join(root, "packed");
  const notes: string[] = [];
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = (text: string | Uint8Array) => notes.push(String(text)) > 0;
  try {
    await train(config, options("packed", { quiet: false }));
  } finally {
    process.stderr.write = write;
  }
  const [, left, all] = /train: (\d+) of (\d+) tasks are left out: prompt above 28/.exec(notes.join("")) ?? [];
  assert.ok(Number(left) > 0 && Number(left) < Number(all), `${left} of ${all}`);
  const evaluation = JSON.parse(readFileSync(join(runDir, "eval", "step-000002", "val.json"), "utf8"));
  assert.equal(evaluation.episodes, 2);
  const kept = await loadConfig(path, { command: "sft", overrides: [...overrides, "training.skip_long=false"] });
  await assert.rejects(train(kept, options("long")), /does not fit/);
});

test("the mask's embedding is trained beside the adapter, saved with it, and found by a resume and an evaluation", async () => {
  const adapterOf = (name: string): string => join(root, name, "checkpoints", "step-000003");
  await train(masked, options("mask"));
  // "run" was stopped above after its first step
  const [bytes, again] = ["mask", "run"].map((name) => readFileSync(join(adapterOf(name), ADAPTER)));
  assert.deepEqual(again, bytes);
  const { rows, tensors } = readPeft(adapterOf("mask"));
  const { config: about, dir } = await loadModel(masked.model);
  assert.deepEqual(rows, { module: "model.embed_tokens", tokens: [about.mask_token_id] });
  const trained = tensors.get(rowsName("model.embed_tokens"))?.data as Float32Array;
  const table = readSafetensors(join(dir, WEIGHTS_FILE)).get("model.embed_tokens.weight")?.data as Float32Array;
  const from = about.mask_token_id * trained.length;
  const moved = trained.map((x, i) => Math.abs(x - (table[from + i] as number)));
  // AdamW moves each number by about the learning rate per step
  assert.ok(moved.every((x) => x < 0.1) && moved.filter((x) => x > 0).length > trained.length / 2);
  const init = `init_adapter=${adapterOf("mask")}`;
  const config = await loadConfig(path, { command: "sft", overrides: [init] });
  const policy = await openPolicy(config, undefined);
  after(() => policy.close());
  const begin = () => initialAdapter(config, policy);
  assert.throws(begin, /has rows of the tokens \[\d+\]; the config trains those of \[\]/);
});

test("a loss that the model does not have is refused before the run is made", async () => {
  const flow = ["model=models/tiny-fsdfm", "sampler={kind: jump}", "lora.targets=[qw]", "objective.ar_weight=0.5"];
  const config = await loadConfig(path, { command: "sft", overrides: flow });
  const runDir = join(root, "no-loss");
  const run = train(config, options("no-loss"));
  await assert.rejects(run, /no autoregressive loss/);
  assert.ok(!existsSync(runDir));
});

test("eight examples in one pass teach what they teach in eight, for masks and for flows", async () => {
  const sampler = "sampler={kind: jump, prompt_length: 56, response_length: 56}";
  const flow = ["model=models/tiny-fsdfm", sampler, "lora.targets=[qw]"];
  for (const model of [[], flow]) {
    const run = async (micro: number) => {
      const name = `${model.length}-${micro}`;
      const changes = [`training={micro_batch: ${micro}, prompts_per_step: 4, group_size: 2, learning_rate: 1e-3}`];
      const overrides = [...model, ...changes, "objective.batch_size=null", "training.adam_epsilon=1e-3"];
      await train(await loadConfig(path, { command: "sft", overrides }), options(name));
      const tensors = readPeft(join(root, name, "checkpoints", "step-000003")).tensors;
      return { metrics: readMetrics(join(root, name, "metrics.jsonl")), tensors };
    };
    const [one, eight, three] = [await run(1), await run(8), await run(3)];
    for (const other of [one, three]) {
      for (const [i, { loss, grad_norm, tokens }] of eight.metrics.entries()) {
        const at = other.metrics[i];
        assert.equal(at?.tokens, tokens);
        assert.ok(Math.abs((at?.loss as number) - (loss as number)) < 1e-5 * (loss as number));
        assert.ok(Math.abs((at?.grad_norm as number) - (grad_norm as number)) < 1e-4 * (grad_norm as number));
      }
      for (const [name, { data }] of eight.tensors)
        (data as Float32Array).forEach((x, i) => {
          assert.ok(Math.abs(x - (other.tensors.get(name)?.data[i] as number)) < 1e-5, `${name}[${i}]`);
        });
    }
  }
});

test("an adapter begins no run of another model, though its shapes fit", async () => {
  const init = `init_adapter=${join(root, "run", "checkpoints", "step-000003")}`;
  const own = await loadConfig(path, { command: "sft", overrides: [init, withMask, "training.steps=1"] });
  await train(own, options("on-its-base"));
  const overrides = [init, withMask, `model=${await smallModel(1)}`];
  const other = train(await loadConfig(path, { command: "sft", overrides }), options("on-another"));
  await assert.rejects(other, /was trained on another model than .*small-/);
});

test("a run that trained every weight says where its model is, and what evaluates it", async () => {
  const output = join(root, "model");
  const overrides = ["objective.trainable=full", `objective.output=${output}`, "training.steps=1"];
  const config = await loadConfig(path, { command: "sft", overrides });
  const [run, signal] = [join(root, "full"), new AbortController().signal];
  const { model } = await train(config, options("full"));
  assert.equal(model, output);
  const again = train(config, options("again"));
  await assert.rejects(again, /objective\.output: .* exists already/);
  await loadModel(output);
  const what = { run, config: undefined, overrides: [], checkpoint: "last", split: "train", policy: "model" } as const;
  const evaluated = evaluateCommand({ ...what, episodes: 1, quiet: true, json: false, signal });
  await assert.rejects(evaluated, ({ hint }: UserError) =>
    Boolean(hint?.includes(`${join(run, "config.yaml")} model=${output}`)),
  );
});
