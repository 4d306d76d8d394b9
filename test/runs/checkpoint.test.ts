import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { UserError } from "../../src/core/errors.js";
import { Rng } from "../../src/core/rng.js";
import type { Tensor } from "../../src/onnx/types.js";
import type { ParameterGroup } from "../../src/optim/optimizer.js";
import {
  type Checkpoint,
  findCheckpoint,
  latestCheckpoint,
  parameterParts,
  parametersIn,
  readCheckpoint,
  recoverCheckpoints,
  retainCheckpoints,
  writeCheckpoint,
} from "../../src/runs/checkpoint.js";
import { stepsIn } from "../../src/runs/run-directory.js";
import { temporaryFolder } from "../support/temporary.js";
import { f32 } from "../support/tensors.js";
import { userError } from "../support/user-error.js";

const dir = temporaryFolder("checkpoint");

const tensor = (...values: number[]): Tensor => f32([values.length], ...values);
const named = (tensors: Readonly<Record<string, Tensor>>) => new Map(Object.entries(tensors));

function checkpoint(step: number, changes: Partial<Checkpoint> = {}): Checkpoint {
  return {
    step,
    adapter: {
      config: { peft_type: "LORA", r: 8, lora_alpha: 16 },
      tensors: new Map([["base_model.model.layers.0.q_proj.lora_A.weight", tensor(1, -2, step)]]),
    },
    weights: null,
    groups: {},
    optimizer: named({ "m/q": tensor(0.5), "v/q": tensor(0.25) }),
    state: {
      rng: Rng.named(step, "rollout").state(),
      cursor: 12,
      note: "naïve",
      none: null,
      nested: { list: [1, [2]] },
    },
    ...changes,
  };
}

async function fault(path: string): Promise<UserError> {
  try {
    await readCheckpoint(path);
  } catch (error) {
    assert.ok(error instanceof UserError, String(error));
    return error;
  }
  throw new Error("it was read");
}

test("what is written is read back, byte for byte the same each time", async () => {
  const path = join(dir, "round", "step-000003");
  assert.equal(await writeCheckpoint(path, checkpoint(3)), path);
  assert.deepEqual(await readCheckpoint(path), checkpoint(3));
  const files = ["adapter_config.json", "adapter_model.safetensors", "optimizer.safetensors", "state.json"];
  assert.deepEqual(readdirSync(path).sort(), files);
  const again = join(dir, "round", "step-000004");
  await writeCheckpoint(again, checkpoint(3));
  for (const file of files) assert.deepEqual(readFileSync(join(again, file)), readFileSync(join(path, file)), file);
});

test("full training keeps weights instead of an adapter", async () => {
  const path = join(dir, "full", "step-000001");
  const weights = named({ "lm_head.weight": tensor(1) });
  const full = checkpoint(1, { adapter: null, weights, optimizer: new Map() });
  await writeCheckpoint(path, full);
  assert.deepEqual(await readCheckpoint(path), full);
});

test("an objective's own parameters are kept in a file of their group's name", async () => {
  const adapter = checkpoint(1).adapter?.tensors as ReadonlyMap<string, Tensor>;
  const [q] = [...adapter.keys()] as [string];
  const groups: ParameterGroup[] = [
    { name: "adapter", parameters: [{ name: q, shape: [3] }], inReference: true },
    { name: "log-z", parameters: ["log_z.weight", "log_z.bias"].map((name) => ({ name, shape: [1] })) },
    { name: "value", parameters: [{ name: "value.weight", shape: [2] }] },
  ];
  const [weight, bias, value] = [tensor(1), tensor(2), named({ "value.weight": tensor(3, 4) })];
  const all = new Map([...adapter, ...value, ["log_z.bias", bias], ["log_z.weight", weight]]);
  const parts = parameterParts(groups, all, { r: 8 });
  assert.deepEqual(parts.groups, { "log-z": named({ "log_z.weight": weight, "log_z.bias": bias }), value });
  assert.deepEqual(parts.adapter, { config: { r: 8 }, tensors: adapter });
  assert.equal(parts.weights, null);
  const path = await writeCheckpoint(join(dir, "groups", "step-000001"), checkpoint(1, parts));
  assert.ok(["log-z.safetensors", "value.safetensors"].every((file) => readdirSync(path).includes(file)));
  const back = await readCheckpoint(path);
  assert.deepEqual(back, checkpoint(1, parts));
  // all of them, under the names that the graphs know
  assert.deepEqual(parametersIn(back), all);
  // where every weight is trained there is no adapter
  const whole = parameterParts([{ ...(groups[0] as ParameterGroup), name: "weights" }], all, {});
  assert.deepEqual([whole.adapter, whole.weights, whole.groups], [null, adapter, {}]);
  truncateSync(join(path, "value.safetensors"), 20);
  await assert.rejects(readCheckpoint(path), /value\.safetensors \(20 bytes\) differs from its hash/);
});

test("an existing checkpoint is replaced and nothing is left aside", async () => {
  const root = join(dir, "replace");
  const path = join(root, "best");
  await writeCheckpoint(path, checkpoint(1));
  await writeCheckpoint(path, checkpoint(2));
  assert.equal((await readCheckpoint(path)).step, 2);
  assert.deepEqual(readdirSync(root), ["best"]);
});

test("each missing, cut or changed file is named, with the checkpoint to go on from", async () => {
  const root = join(dir, "broken");
  const path = join(root, "step-000020");
  await writeCheckpoint(join(root, "step-000010"), checkpoint(10));
  await writeCheckpoint(path, checkpoint(20));
  truncateSync(join(path, "optimizer.safetensors"), 40);
  rmSync(join(path, "adapter_config.json"));
  const error = await fault(path);
  assert.match(error.message, /adapter_config\.json is missing/);
  assert.match(error.message, /optimizer\.safetensors \(40 bytes\) differs from its hash/);
  assert.match(error.hint ?? "", /step-000010/);
});

test("a damaged state is found: cut, edited, of another format, missing", async () => {
  const path = join(dir, "state", "step-000001");
  const state = join(path, "state.json");
  await writeCheckpoint(path, checkpoint(1));
  const good = readFileSync(state, "utf8");
  for (const [bad, message] of [
    [good.slice(0, 100), /not valid JSON/],
    [good.replace('"cursor": 12', '"cursor": 13'), /changed after it was written/],
    [good.replace('"format": 1', '"format": 2'), /what this version writes/],
    ["[]", /what this version writes/],
  ] as const) {
    writeFileSync(state, bad);
    assert.match((await fault(path)).message, message);
  }
  rmSync(state);
  assert.match((await fault(path)).message, /state\.json is missing/);
  assert.match((await fault(join(dir, "nowhere"))).message, /no such directory/);
});

test("a state that JSON would change is refused before anything is replaced", async () => {
  const path = join(dir, "json", "step-000001");
  await writeCheckpoint(path, checkpoint(1));
  for (const bad of [Number.NaN, undefined, 1n, new Date(0), Float32Array.of(1)])
    await assert.rejects(writeCheckpoint(path, checkpoint(2, { state: { a: [bad] } })), /state\.a\[0\]/);
  assert.equal((await readCheckpoint(path)).step, 1);
  assert.deepEqual(readdirSync(join(dir, "json")), ["step-000001"]);
});

test("what a killed process left aside is never taken for a checkpoint", async () => {
  const root = join(dir, "aside");
  await writeCheckpoint(join(root, "step-000010"), checkpoint(10));
  mkdirSync(join(root, "step-000020.tmp-1"));
  appendFileSync(join(root, "step-000020.tmp-1", "state.json"), "{");
  assert.equal(latestCheckpoint(root), join(root, "step-000010"));
  retainCheckpoints(root, 2);
  assert.deepEqual(readdirSync(root), ["step-000010"]);
});

test("a kill at any point of a replacement loses no complete checkpoint", async () => {
  const root = join(dir, "replaced");
  const run = { checkpoints: join(root, "checkpoints"), best: join(root, "best") };
  const entries = (): string[] => [...readdirSync(root), ...readdirSync(run.checkpoints)].sort();
  await writeCheckpoint(join(run.checkpoints, "step-000010"), checkpoint(10));
  // between the two renames: the old one is aside, the new one not yet in its place
  await writeCheckpoint(`${run.best}.old-77`, checkpoint(1));
  await writeCheckpoint(`${run.best}.tmp-77`, checkpoint(2));
  assert.equal((await readCheckpoint(findCheckpoint(run, "best"))).step, 1, "read where it lies");
  recoverCheckpoints(run);
  assert.equal((await readCheckpoint(run.best)).step, 1);
  assert.deepEqual(entries(), ["best", "checkpoints", "step-000010"]);
  // after both, before the old one is removed
  await writeCheckpoint(`${run.best}.old-78`, checkpoint(0));
  mkdirSync(join(run.checkpoints, "step-000020.tmp-78"));
  recoverCheckpoints(run);
  assert.equal((await readCheckpoint(run.best)).step, 1);
  assert.deepEqual(entries(), ["best", "checkpoints", "step-000010"]);
});

test("retention keeps the last ones; names find them", async () => {
  const run = { checkpoints: join(dir, "keep", "checkpoints"), best: join(dir, "keep", "best") };
  assert.equal(latestCheckpoint(run.checkpoints), undefined);
  assert.throws(() => findCheckpoint(run, "last"), { name: "UserError", hint: /saved none/ });
  for (const step of [2, 10, 4, 6])
    await writeCheckpoint(join(run.checkpoints, `step-${String(step).padStart(6, "0")}`), checkpoint(step));
  await writeCheckpoint(run.best, checkpoint(4));
  retainCheckpoints(run.checkpoints, 2);
  assert.deepEqual(stepsIn(run.checkpoints), [6, 10]);
  assert.equal(findCheckpoint(run, "last"), join(run.checkpoints, "step-000010"));
  assert.equal(findCheckpoint(run, "best"), run.best);
  assert.equal(findCheckpoint(run, 6), join(run.checkpoints, "step-000006"));
  assert.throws(() => findCheckpoint(run, 4), { name: "UserError", hint: /best, last, 6, 10/ });
});

test("a place that cannot be written is a clear error", async () => {
  writeFileSync(join(dir, "file"), "");
  const written = writeCheckpoint(join(dir, "file", "step-000001"), checkpoint(1));
  await assert.rejects(written, userError(/Cannot write the checkpoint/));
});
