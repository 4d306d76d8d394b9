import assert from "node:assert/strict";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { readJson } from "../../../src/core/files.js";
import { loadModel } from "../../../src/nn/model.js";
import { Runtime } from "../../../src/onnx/session.js";
import type { Tensor } from "../../../src/onnx/types.js";
import { readSafetensors, writeSafetensors } from "../../../src/weights/safetensors.js";
import { callProgram } from "../../support/call-program.js";
import { checkpointLogits } from "../../support/checkpoint-logits.js";
import { relativeError } from "../../support/golden.js";
import { randomCheckpoint } from "../../support/random-checkpoint.js";

const INDEX = "model.safetensors.index.json";

describe("refusion-train export", () => {
  let root: string;
  let whole: string;
  let shards: string[];
  let dir: string;
  before(async () => {
    root = mkdtempSync(join(tmpdir(), "cli-export-"));
    whole = join(root, "whole");
    ({ shards } = await randomCheckpoint(whole));
  });
  after(() => rmSync(root, { recursive: true, force: true }));
  beforeEach(() => {
    dir = mkdtempSync(join(root, "case-"));
    cpSync(whole, join(dir, "checkpoint"), { recursive: true });
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

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
  const change = (file: string, edit: (json: Record<string, unknown>) => void): void => {
    const path = join(dir, "checkpoint", file);
    const json = readJson(path) as Record<string, unknown>;
    edit(json);
    writeFileSync(path, JSON.stringify(json));
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

  it("keeps projections in 4 bits, with logits near those of 32 bits", async () => {
    const runtime = await Runtime.open({ provider: "cpu", threads: 1 });
    try {
      const logits = async (...args: string[]): Promise<{ logits: Float32Array; bytes: number }> => {
        const { code, err } = await run("--quiet", ...args);
        assert.equal(code, 0, err);
        assert.doesNotMatch(err, /exporting/);
        const model = await loadModel(join(dir, "model"));
        const seen = await checkpointLogits(runtime, model);
        const bytes = readFileSync(join(model.dir, "model.safetensors")).length;
        rmSync(model.dir, { recursive: true });
        return { logits: seen, bytes };
      };
      const full = await logits();
      const packed = await logits("--quantize", "nf4", "--double-quant");
      assert.ok(packed.bytes < 0.6 * full.bytes, `${packed.bytes} of ${full.bytes}`);
      const error = relativeError(packed.logits, full.logits);
      assert.ok(error > 1e-4 && error < 0.5, String(error));
    } finally {
      await runtime.close();
    }
  });

  it("refuses a shard that is cut off, by its name", async () => {
    const shard = join(dir, "checkpoint", shards[1] as string);
    truncateSync(shard, readFileSync(shard).length - 100);
    await refused(/error: .*model-00002-of-00003\.safetensors is not a valid safetensors file: .*truncated/, 1, [
      "--quantize",
      "nf4",
    ]);
  });

  it("refuses a tensor that is missing, or of another shape, by its name and file", async () => {
    const name = "model.layers.1.mlp.up_proj.weight";
    const shard = (readJson(join(dir, "checkpoint", INDEX)) as { weight_map: Record<string, string> }).weight_map[name];
    const path = join(dir, "checkpoint", shard as string);
    const tensors = readSafetensors(path);
    const tensor = tensors.get(name) as Tensor;
    writeSafetensors(path, new Map([...tensors, [name, { ...tensor, shape: [...tensor.shape].reverse() }]]));
    await refused(
      new RegExp(
        `weights of checkpoint are not [\\s\\S]*${name}: expected \\[128, 64\\], got \\[64, 128\\] in ${shard}`,
      ),
    );
    tensors.delete(name);
    writeSafetensors(path, tensors);
    change(INDEX, (index) => delete (index.weight_map as Record<string, string>)[name]);
    await refused(new RegExp(`weights of checkpoint are not[\\s\\S]*missing ${name} \\[128, 64\\][\\s\\S]*next: `));
  });

  it("refuses an architecture that it would compute otherwise", async () => {
    change("config.json", (config) =>
      Object.assign(config, { architectures: ["GemmaForCausalLM"], model_type: "gemma" }),
    );
    await refused(/checkpoint\/config\.json: the architecture GemmaForCausalLM, gemma is not supported/);
  });

  it("never writes over what is there", async () => {
    mkdirSync(join(dir, "model"));
    writeFileSync(join(dir, "model", "mine"), "mine");
    await refused(/model exists already, and a model is never overwritten[\s\S]*next: give another --out/);
    assert.equal(readFileSync(join(dir, "model", "mine"), "utf8"), "mine");
  });

  it("exits 2 where it is called wrongly", async () => {
    await refused(/--double-quant needs --quantize nf4/, 2, ["--double-quant"]);
    await refused(/--step chooses a checkpoint of the run that --merge names/, 2, ["--step", "last"]);
  });
});
