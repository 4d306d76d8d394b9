import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, it } from "node:test";
import { loadModel } from "../../../src/nn/model.js";
import { readSafetensors } from "../../../src/weights/safetensors.js";
import { callProgram } from "../../support/call-program.js";
import { randomCheckpoint } from "../../support/random-checkpoint.js";
import { temporaryFolder } from "../../support/temporary.js";

describe("refusion-train export", async () => {
  const whole = temporaryFolder("whole");
  let dir: string;
  const { shards } = await randomCheckpoint(whole);
  beforeEach(() => {
    dir = temporaryFolder("case");
    cpSync(whole, join(dir, "checkpoint"), { recursive: true });
  });

  const run = (...args: string[]): ReturnType<typeof callProgram> =>
    callProgram("train", dir, ["export", "--checkpoint", "checkpoint", "--out", "model", ...args]);
  /** Nothing on stdout, nothing beside the checkpoint, no stack, a next step where there is one to take. */
  const refused = async (pattern: RegExp, code = 1, args: readonly string[] = []): Promise<void> => {
    const there = readdirSync(dir);
    const seen = await run(...args);
    assert.deepEqual([seen.code, seen.out], [code, ""], seen.err);
    assert.match(seen.err, pattern);
    assert.doesNotMatch(seen.err, /^ +at |this is a bug/m);
    assert.deepEqual(readdirSync(dir), there);
  };
  it("makes a model of shards, says its size and what comes next, and leaves nothing else", async () => {
    const { code, out, err } = await run();
    assert.equal(code, 0, err);
    assert.match(out, /^model: \d+ parameters, \d+\.\d MiB of weights\n$/);
    assert.match(err, /exporting +\d+ % {2}model\.[\s\S]*next: .*init --model model --out run\.yaml/);
    assert.deepEqual(readdirSync(dir).sort(), ["checkpoint", "model"]);
    const { config, tokenizer } = await loadModel(join(dir, "model"));
    assert.deepEqual([config.architecture, config.mask_token_id], ["refusion", tokenizer?.idOf("<|mask|>")]);
    const [ours, theirs] = [join(dir, "model", "model.safetensors"), join(dir, "checkpoint", shards[1] as string)];
    const weights = readSafetensors(ours);
    for (const [name, tensor] of readSafetensors(theirs)) assert.deepEqual(weights.get(name), tensor, name);
  });

  it("never writes over what is there", async () => {
    mkdirSync(join(dir, "model"));
    writeFileSync(join(dir, "model", "mine"), "mine");
    await refused(/model exists already, and a model is never overwritten[\s\S]*next: give another --out/);
    assert.equal(readFileSync(join(dir, "model", "mine"), "utf8"), "mine");
  });

  it("says where a model was looked for, and how it is got", async () => {
    const args = ["export", "--model", "models/smollm2-none", "--out", "model"];
    const { code, err } = await callProgram("train", dir, args);
    assert.equal(code, 1);
    assert.match(err, /--model: models\/smollm2-none does not exist \(looked for [\s\S]*next: .*fetch-smollm2/);
  });

  it("exits 2 where it is called wrongly", async () => {
    await refused(/--double-quant needs --quantize nf4/, 2, ["--double-quant"]);
    await refused(/--step chooses a checkpoint of the run that --merge names/, 2, ["--step", "last"]);
  });
});
