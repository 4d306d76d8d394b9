import assert from "node:assert/strict";
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadModel } from "../../../src/nn/model.js";
import { readPeft } from "../../../src/nn/peft.js";
import { callProgram } from "../../support/call-program.js";
import { checkpointLogits } from "../../support/checkpoint-logits.js";
import { randomCheckpoint } from "../../support/random-checkpoint.js";
import { cpuRuntime, temporaryFolder } from "../../support/temporary.js";
import { exported } from "./exported.js";

const LORA = { rank: 4, alpha: 8, targets: ["q_proj", "v_proj", "up_proj", "down_proj"] };
const CONFIG = `
model: full
site: {kind: embedded, tier: starter, sizes: {train: 2, val: 0, test: 0, heldout: 1}}
plan: free
sampler: {kind: unmask, prompt_length: 256, response_length: 160, rounds: 1}
lora: {rank: ${LORA.rank}, alpha: ${LORA.alpha}, targets: [${LORA.targets}]}
objective: {batch_size: 2}
training: {steps: 2, learning_rate: 0.02}
evaluation: {splits: [heldout]}
checkpoint: {every: 1, keep_last: 2}
runtime: {threads: 1, provider: cpu}
`;

const runtime = await cpuRuntime();

describe("refusion-train export --merge", async () => {
  const root = temporaryFolder("cli-merge");
  const path = (...parts: string[]): string => join(root, ...parts);
  type Program = Parameters<typeof callProgram>[0];
  const run = (name: Program, ...args: string[]): ReturnType<typeof callProgram> => callProgram(name, root, args);
  /** Runs what has to work, and returns what it said. */
  const done = async (name: Program, ...args: string[]): Promise<string> => {
    const { code, out, err } = await run(name, ...args);
    assert.equal(code, 0, err);
    return out + err;
  };
  const merge = (from: string, out: string, ...args: string[]): Promise<string> =>
    done("train", "export", "--merge", from, "--out", out, "--quiet", ...args);
  const logits = async (model: string, adapter?: string): Promise<Float32Array> =>
    checkpointLogits(
      runtime,
      await loadModel(path(model)),
      adapter === undefined ? undefined : { lora: LORA, tensors: readPeft(path(adapter)).tensors },
    );
  /** Largest difference, in units of the largest logit. */
  const apart = (a: Float32Array, b: Float32Array): number => {
    const largest = (xs: Float32Array): number => xs.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    return largest(a.map((x, i) => x - (b[i] as number))) / largest(b);
  };

  await randomCheckpoint(path("checkpoint"));
  await exported(path("checkpoint"), { out: path("full") });
  await exported(path("checkpoint"), { out: path("packed"), precision: "nf4" });
  writeFileSync(path("run.yaml"), CONFIG);
  for (const model of ["full", "packed"])
    await done("train", "sft", "--config", "run.yaml", "--quiet", "--run-dir", `runs/${model}`, `model=${model}`);

  for (const model of ["full", "packed"]) {
    it(`gives the logits of the model with its adapter: ${model === "full" ? "32" : "4"} bits`, async () => {
      const said = await merge(`runs/${model}`, `merged-${model}`);
      const last = `runs/${model}/checkpoints/step-000002`;
      assert.match(said, new RegExp(`merged: ${last} into .*${model}\n`));
      assert.equal(/quantised weights were decoded/.test(said), model === "packed", said);
      const [merged, base] = [await logits(`merged-${model}`), await logits(model)];
      assert.ok(apart(merged, await logits(model, last)) < 1e-5);
      assert.ok(apart(merged, base) > 1e-3, "the adapter changes something");
    });
  }

  it("makes a model that can be trained and evaluated", async () => {
    assert.match(
      await done("train", "sft", "--config", "run.yaml", "--dry-run", "model=merged-packed"),
      /start with:[\s\S]*model=merged-packed/,
    );
    const evaluated = await done("eval", "--config", "run.yaml", "--json", "--episodes", "1", "model=merged-full");
    assert.match(evaluated, /"split":"heldout","policy":"model"/);
    assert.ok(!existsSync(path("runs", "run")), "neither makes a run");
  });

  it("takes a checkpoint in place of its run, and says that 4 bits round what it adds", async () => {
    const first = "runs/full/checkpoints/step-000001";
    const said = await merge(first, "rounded", "--quantize", "nf4");
    assert.match(said, new RegExp(`merged: ${first} into .*full\n`));
    assert.match(said, /note: the sum of weights and adapter was rounded/);
    assert.ok(apart(await logits("rounded"), await logits("full", first)) > 1e-3);
    await merge("runs/full", "chosen", "--step", "1");
    assert.ok(apart(await logits("chosen"), await logits("full", first)) < 1e-5);
  });

  it("asks where a model has gone, and takes it from there", async () => {
    renameSync(path("packed"), path("moved"));
    const { code, out, err } = await run("train", "export", "--merge", "runs/packed", "--out", "lost");
    assert.deepEqual([code, out, existsSync(path("lost"))], [1, "", false]);
    assert.match(err, /runs\/packed trained, packed, is not there any more[\s\S]*next: name it: --model DIR/);
    assert.doesNotMatch(await merge("runs/packed", "found", "--model", "moved"), /not the very model/);
    assert.ok(apart(await logits("found"), await logits("moved", "runs/packed/checkpoints/step-000002")) < 1e-5);
  });

  it("writes an adapter by itself, in 16 bits too, which acts as the run's does", async () => {
    const write = (...args: string[]): Promise<string> => done("train", "export", "--adapter", "runs/full", ...args);
    assert.match(
      await write("--out", "own", "--step", "last"),
      /own: .* MiB, from .*step-000002\nnext: .* --config runs\/full\/config\.yaml init_adapter=own/,
    );
    const trained = join("runs", "full", "checkpoints", "step-000002");
    assert.deepEqual(readPeft(path("own")).tensors, readPeft(path(trained)).tensors);
    await write("--out", "half", "--step", "last", "--quantize", "bf16", "--model", "models/full");
    const { base_model_name_or_path: base } = JSON.parse(readFileSync(path("half", "adapter_config.json"), "utf8"));
    assert.equal(base, "models/full");
    const [own, half] = ["own", "half"].map((name) => statSync(path(name, "adapter_model.safetensors")).size);
    assert.ok((half as number) < 0.6 * (own as number));
    const error = apart(await logits("full", "half"), await logits("full", trained));
    assert.ok(error > 0 && error < 1e-2, String(error));
    assert.match(
      (await run("train", "export", "--adapter", "runs/full", "--merge", "runs/full", "--out", "x")).err,
      /'--adapter <dir>' cannot be used with option '--merge <dir>'/,
    );
  });
});
