import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadConfig } from "../../../src/config/config.js";
import { loadRegistries } from "../../../src/config/registries.js";
import { machineMemory } from "../../../src/engine/memory.js";
import { assertFits, estimateRun, formatMemory, type MemoryEstimate } from "../../../src/features/doctor/memory.js";
import { readModelConfig } from "../../../src/nn/config.js";
import { userError } from "../../support/user-error.js";

const CONFIG = "configs/tiny/quickstart.yaml";

async function estimate(command: string, ...overrides: string[]): Promise<MemoryEstimate> {
  const config = await loadConfig(`configs/tiny/${command === "sft" ? "sft" : "rl"}.yaml`, {
    command,
    overrides: ["model=models/tiny-refusion", ...overrides],
    registries: await loadRegistries(),
  });
  return estimateRun(config, command);
}

const part = (e: MemoryEstimate, name: string): number =>
  e.parts.find((p) => p.name.startsWith(name))?.bytes ?? Number.NaN;

describe("estimateRun", () => {
  it("sums up its parts and shows each", async () => {
    const e = await estimate("flow-grpo");
    const expected = e.parts.reduce((n, p) => n + p.bytes, 0);
    assert.equal(e.total, expected);
    assert.ok(e.parts.every((p) => p.bytes > 0));
    const shown = formatMemory(e, 4 * 2 ** 30);
    for (const p of e.parts) assert.ok(shown.includes(p.name));
    assert.match(shown, /in all, about +\d\.\d\d GiB of 4\.00 GiB/);
  });

  it("grows with the micro-batch and the rollout batch, each in its own part", async () => {
    const sized = (micro: number, rollout: number): Promise<MemoryEstimate> => {
      const sizes = [`training.micro_batch=${micro}`, `training.rollout_batch=${rollout}`];
      return estimate("flow-grpo", ...sizes, "evaluation.batch=4");
    };
    const [small, large] = [await sized(2, 4), await sized(8, 16)];
    assert.ok(part(large, "training") > 2.5 * part(small, "training"));
    assert.ok(part(large, "rollout") > part(small, "rollout"));
    assert.equal(part(large, "browser"), part(small, "browser"));
  });

  it("counts the keys and values that rollouts keep, where they keep any", async () => {
    const sizes = ["training.rollout_batch=4", "evaluation.batch=16", "sampler.prompt_length=40"];
    const e = await estimate("flow-grpo", ...sizes);
    const { num_hidden_layers, num_key_value_heads, head_dim } = readModelConfig("models/tiny-refusion");
    const token = 2 * 4 * Number(num_hidden_layers) * Number(num_key_value_heads) * Number(head_dim);
    // three copies, of the larger batch: prompt and response
    assert.equal(part(e, "keys and values of 16 rollouts"), 3 * token * 16 * (40 + 56));
    assert.ok(e.parts.some(({ name }) => name === "rollout, 16 at once"));
    const without = await estimate("flow-grpo", ...sizes, "sampler.kv_cache=false");
    assert.ok(Number.isNaN(part(without, "keys and values")));
    assert.ok(without.parts.some(({ name }) => name === "rollout, 4 and 16 at once"));
    const onGpu = await estimate("flow-grpo", ...sizes, "runtime.provider=cuda");
    assert.ok(Number.isNaN(part(onGpu, "keys and values")));
    const bidirectional = await estimate("flow-grpo", "model=models/tiny-masked-lm", "sampler.kv_cache=true");
    assert.ok(Number.isNaN(part(bidirectional, "keys and values")));
  });

  it("counts the copies of the gradient that gradient_noise_every takes", async () => {
    const plain = await estimate("flow-grpo");
    const measured = await estimate("flow-grpo", "training.gradient_noise_every=5");
    // 8 copies of the adapter are counted with the optimizer
    const copies = (2 / 8) * part(plain, "adapter and optimizer");
    assert.equal(part(measured, "gradients of the halves"), copies);
    assert.equal(measured.total - plain.total, copies);
  });

  it("stays within a budget, where the smallest graphs do", async () => {
    const plain = await estimate("espo");
    const gib = 0.7;
    const within = await estimate("espo", `runtime.memory_gib=${gib}`);
    assert.ok(plain.total > gib * 2 ** 30);
    assert.equal(Math.round(within.total), Math.round(gib * 2 ** 30));
    const least = await estimate("espo", "runtime.memory_gib=0.01");
    assert.ok(least.total > 300 * 2 ** 20 && least.total < within.total);
    assert.equal((await estimate("espo", "runtime.memory_gib=100")).total, plain.total);
  });

  it("knows what gradient checkpointing saves", async () => {
    const plain = await estimate("espo");
    const again = await estimate("espo", "training.gradient_checkpointing=true");
    assert.ok(part(again, "training") < 0.7 * part(plain, "training"));
    assert.equal(plain.otherTraining(), part(again, "training"));
    assert.equal(again.otherTraining(), part(plain, "training"));
  });

  it("estimates supervised training of all weights, without rollouts to score", async () => {
    const e = await estimate("sft");
    assert.ok(part(e, "trained weights") > 50e6);
    assert.ok(part(e, "training") > 0);
    assert.ok(Number.isNaN(part(e, "scoring")));
  });

  it("refuses what its sampler cannot score, and batches that no machine holds, before any graph is built", async () => {
    const unscored = estimate("grpo", "model=models/tiny-fsdfm", "sampler={kind: jump}");
    await assert.rejects(unscored, /grpo does not work here/);
    const huge = /=\d+ with sequences of \d+ tokens takes at least [\d.]+ GiB of memory; the machine has/;
    const both = ["training.micro_batch=100000", "sampler.response_length=4096"];
    for (const overrides of [["sampler.response_length=1000000"], both])
      await assert.rejects(estimate("flow-grpo", ...overrides), huge);
  });

  it("refuses a run that cannot fit, with what to change", async () => {
    const config = await loadConfig(CONFIG, { command: "flow-grpo", registries: await loadRegistries() });
    const e = await estimateRun(config, "flow-grpo");
    assert.doesNotThrow(() => assertFits(config, e, 64 * 2 ** 30));
    const hint = /training\.gradient_checkpointing=true \(saves \d\.\d\d GiB\)/;
    const refusal = userError(/needs about \d\.\d\d GiB of memory; the machine has 0\.25 GiB/, { hint });
    assert.throws(() => assertFits(config, e, 2 ** 28), refusal);
    assert.ok(machineMemory() > 2 ** 26);
  });
});
