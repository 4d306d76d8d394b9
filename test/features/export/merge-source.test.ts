import assert from "node:assert/strict";
import { appendFileSync, cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, it } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import { type MergeOptions, mergeSource } from "../../../src/features/export/merge-source.js";
import { loraSites } from "../../../src/nn/bind.js";
import { freshAdapter } from "../../../src/nn/lora.js";
import { loadModel, modelHash } from "../../../src/nn/model.js";
import { peftConfig } from "../../../src/nn/peft.js";
import { writeCheckpoint } from "../../../src/runs/checkpoint.js";
import { RunDirectory, stepName } from "../../../src/runs/run-directory.js";
import { freshWeights, microModel } from "../../support/micro-model.js";
import { temporaryFolder } from "../../support/temporary.js";
import { userError } from "../../support/user-error.js";

const LORA = { rank: 2, alpha: 4, targets: ["q_proj"] };

/** A source without what it does not have. */
const found = async (...of: Parameters<typeof mergeSource>): Promise<object> =>
  Object.fromEntries(Object.entries(await mergeSource(...of)).filter(([, value]) => value !== undefined));

const model = await microModel();

describe("what is merged", () => {
  let dir: string;
  let run: RunDirectory;
  beforeEach(async () => {
    dir = temporaryFolder("merge");
    cpSync(model, join(dir, "model"), { recursive: true });
    run = RunDirectory.create({ name: "run", parent: dir });
    writeFileSync(run.config, `model: ${join(dir, "model")}\n`);
    const hashes = { model: await modelHash(model) };
    await run.writeEnvironment({ command: "sft", config: "c", seeds: { run: 0 }, hashes });
  });

  const save = async (path: string, what: "adapter" | "weights" | "nothing" = "adapter"): Promise<string> => {
    const sites = loraSites((await loadModel(model)).graph, LORA);
    const adapter = { config: peftConfig(LORA, "m", "causal"), tensors: freshAdapter(sites, LORA, Rng.named(1, "a")) };
    return writeCheckpoint(path, {
      step: Number(/step-(\d+)$/.exec(path)?.[1] ?? 1),
      adapter: what === "adapter" ? adapter : null,
      weights: what === "weights" ? await freshWeights() : null,
      optimizer: new Map(),
      state: {},
    });
  };
  const step = (n: number): string => join(run.checkpoints, stepName(n));
  const refused = (from: string, pattern: RegExp, options: MergeOptions = {}, more = { hint: /./ }): Promise<void> =>
    assert.rejects(mergeSource(from, options), userError(pattern, more));

  it("of a run: its best checkpoint, else its last one, or the one that is asked for", async () => {
    const source = (from: string): object => ({ from, adapter: from, model: join(dir, "model") });
    await refused(run.dir, /There is no checkpoint in .*run/, {}, { hint: /saved none yet/ });
    await save(step(1));
    await save(step(2));
    assert.deepEqual(await found(run.dir, {}), source(step(2)));
    assert.deepEqual(await found(run.dir, { step: 1 }), source(step(1)));
    await refused(run.dir, /no checkpoint "best"/, { step: "best" }, { hint: /there are: last, 1, 2/ });
    await save(run.best);
    assert.deepEqual(await found(run.dir, {}), source(run.best));
    assert.deepEqual(await found(run.dir, { step: "last" }), source(step(2)));
  });

  it("a checkpoint in its run, a copy of one, and an adapter of anybody", async () => {
    await save(step(1));
    await save(run.best);
    for (const path of [step(1), run.best])
      assert.deepEqual(await found(path, {}), { from: path, adapter: path, model: join(dir, "model") });
    const copy = join(dir, "copy");
    cpSync(step(1), copy, { recursive: true });
    assert.deepEqual(await found(copy, {}), { from: copy, adapter: copy });
    rmSync(join(copy, "state.json"));
    assert.deepEqual(await found(copy, { model: "m" }), { from: copy, adapter: copy, model: "m" });
    await refused(copy, /--step chooses a checkpoint of a run, and .*copy is an adapter itself/, { step: 1 });
    await refused(step(1), /--step chooses .*step-000001 is one itself/, { step: "last" });
    // readPeft then shows how a pickle is saved as safetensors
    renameSync(join(copy, "adapter_model.safetensors"), join(copy, "adapter_model.bin"));
    assert.deepEqual(await found(copy, {}), { from: copy, adapter: copy });
  });

  it("the weights of a run that trained all of them", async () => {
    await save(step(1), "weights");
    const expected = { from: step(1), weights: step(1), model: join(dir, "model") };
    assert.deepEqual(await found(run.dir, {}), expected);
    assert.deepEqual(await found(step(1), {}), expected);
    // whatever the model was, its weights are replaced
    const { note } = await mergeSource(run.dir, { model: join(dir, "model") });
    assert.equal(note, undefined);
  });

  it("nothing that is damaged, empty or of another kind", async () => {
    await save(step(1));
    appendFileSync(join(step(1), "adapter_model.safetensors"), "x");
    await refused(run.dir, /step-000001 cannot be used:\n {2}adapter_model\.safetensors .* differs from its hash/);
    await refused(step(1), /adapter_model\.safetensors .* differs from its hash/);
    await save(step(2), "nothing");
    await assert.rejects(mergeSource(run.dir, {}), userError(/step-000002 holds neither an adapter nor weights/));
    mkdirSync(join(dir, "other"));
    await refused(join(dir, "other"), /other is no run, no checkpoint of one, and no adapter/);
    await assert.rejects(mergeSource(join(dir, "nowhere"), {}), userError(/There is no run or adapter .*nowhere/));
  });

  it("into no other model than the run's, unless it is named", async () => {
    await save(step(1));
    const path = join(dir, "model");
    appendFileSync(join(path, "config.json"), " ");
    const named = { hint: /--model/ };
    await refused(run.dir, /model is not the model that .*run trained: it was changed since/, {}, named);
    assert.match((await mergeSource(run.dir, { model: path })).note ?? "", /not the very model that .*run trained/);
    assert.equal((await mergeSource(run.dir, { model: model })).note, undefined);
    rmSync(path, { recursive: true });
    await refused(run.dir, /The model that .*run trained, .*model, is not there any more/, {}, named);
    await refused(step(1), /is not there any more/, {}, named);
    assert.equal((await mergeSource(run.dir, { model: model })).model, model);
    writeFileSync(run.config, "model: 5\n");
    await refused(run.dir, /config\.yaml names no model/, {}, named);
  });
});
