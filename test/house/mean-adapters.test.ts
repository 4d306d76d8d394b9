import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packageRoot } from "../../src/core/files.js";
import { loraName } from "../../src/nn/lora.js";
import { ADAPTER, ADAPTER_CONFIG, peftConfig, readPeft, writePeftTensors } from "../../src/nn/peft.js";
import type { Tensor } from "../../src/onnx/types.js";
import { temporaryFolder } from "../support/temporary.js";

const root = temporaryFolder("mean-adapters");
const made = (name: string, value: number, changes: object = {}, modules = ["a.q_proj", "a.v_proj"]): string => {
  const dir = join(root, name);
  mkdirSync(dir);
  const config = peftConfig({ rank: 2, alpha: 4, targets: ["q_proj", "v_proj"] }, "models/base", "causal");
  writeFileSync(join(dir, ADAPTER_CONFIG), JSON.stringify({ ...config, ...changes }));
  const tensor = (shape: number[]): Tensor => ({ dtype: "float32", shape, data: new Float32Array(6).fill(value) });
  const pairs = modules.flatMap((module): [string, Tensor][] => [
    [loraName(module, "A"), tensor([2, 3])],
    [loraName(module, "B"), tensor([3, 2])],
  ]);
  writePeftTensors(join(dir, ADAPTER), new Map(pairs));
  return dir;
};
const mean = (out: string, ...dirs: string[]) => {
  const script = join(packageRoot(), "scripts", "mean-adapters.mjs");
  return spawnSync(process.execPath, [script, "--out", join(root, out), ...dirs], { encoding: "utf8" });
};

test("the mean of adapters is over the same scale, modules and base; any other is refused by name", () => {
  const first = made("first", 1);
  assert.equal(mean("out", first, made("second", 2), made("third", 6)).status, 0);
  const { tensors, rank, alpha } = readPeft(join(root, "out"));
  assert.deepEqual([rank, alpha, tensors.size], [2, 4, 4]);
  for (const { data } of tensors.values()) assert.deepEqual([...new Set(data as Float32Array)], [3]);
  // alpha is another number, and the scale the same
  const rooted = made("rooted", 3, { use_rslora: true, lora_alpha: 4 / Math.SQRT2 });
  assert.equal(mean("same-scale", first, rooted).status, 0);
  for (const [name, changes, modules, reason] of [
    ["alpha", { lora_alpha: 8 }, undefined, /alpha has another scale \(alpha \/ rank\) than/],
    ["rslora", { use_rslora: true }, undefined, /rslora has another scale/],
    ["elsewhere", { base_model_name_or_path: "models/other" }, undefined, /elsewhere has another base model/],
    ["more", {}, ["a.q_proj", "a.v_proj", "a.o_proj"], /more has another modules and shapes/],
    ["fewer", {}, ["a.q_proj"], /fewer has another modules and shapes/],
    ["dora", { use_dora: true }, undefined, /use_dora is true, which is not supported/],
  ] as const) {
    const { status, stderr } = mean("refused", first, made(name, 1, changes, modules && [...modules]));
    assert.equal(status, 1, name);
    assert.match(stderr, reason);
  }
});
