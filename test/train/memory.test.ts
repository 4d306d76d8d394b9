import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { UserError } from "../../src/core/errors.js";
import { loadConfig } from "../../src/train/config.js";
import { assertFits, estimateRun, formatMemory, type MemoryEstimate, machineMemory } from "../../src/train/memory.js";
import { loadRegistries } from "../../src/train/registries.js";

const CONFIG = "configs/tiny/quickstart.yaml";

async function estimate(command: string, ...overrides: string[]): Promise<MemoryEstimate> {
  const config = await loadConfig(`configs/tiny/${command}.yaml`, {
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
    assert.equal(
      e.total,
      e.parts.reduce((n, p) => n + p.bytes, 0),
    );
    assert.ok(e.parts.every((p) => p.bytes > 0));
    const shown = formatMemory(e, 4 * 2 ** 30);
    for (const p of e.parts) assert.ok(shown.includes(p.name));
    assert.match(shown, /in all, about +\d\.\d\d GiB of 4\.00 GiB/);
  });

  it("grows with the micro-batch and the rollout batch, each in its own part", async () => {
    const [small, large] = [
      await estimate("flow-grpo", "training.micro_batch=2", "training.rollout_batch=4"),
      await estimate("flow-grpo", "training.micro_batch=8", "training.rollout_batch=16"),
    ];
    assert.ok(part(large, "training") > 3 * part(small, "training"));
    assert.ok(part(large, "rollout") > part(small, "rollout"));
    assert.equal(part(large, "browser"), part(small, "browser"));
  });

  it("knows what gradient checkpointing saves", async () => {
    const plain = await estimate("espo");
    const again = await estimate("espo", "training.gradient_checkpointing=true");
    assert.ok(part(again, "training") < 0.7 * part(plain, "training"));
    assert.equal(plain.otherTraining, part(again, "training"));
    assert.equal(again.otherTraining, part(plain, "training"));
  });

  it("estimates supervised training of all weights, without rollouts to score", async () => {
    const e = await estimate("sft");
    assert.ok(part(e, "trained weights") > 50e6);
    assert.ok(part(e, "training") > 0);
    assert.ok(Number.isNaN(part(e, "scoring")));
  });

  it("refuses a run that cannot fit, with what to change", async () => {
    const config = await loadConfig(CONFIG, { command: "flow-grpo", registries: await loadRegistries() });
    const e = await estimateRun(config, "flow-grpo");
    assert.doesNotThrow(() => assertFits(config, e, 64 * 2 ** 30));
    assert.throws(
      () => assertFits(config, e, 2 ** 28),
      (error: unknown) => {
        assert.ok(error instanceof UserError);
        assert.match(error.message, /needs about \d\.\d\d GiB of memory; the machine has 0\.25 GiB/);
        assert.match(error.hint ?? "", /training\.gradient_checkpointing=true \(saves \d\.\d\d GiB\)/);
        return true;
      },
    );
    assert.ok(machineMemory() > 2 ** 26);
  });
});
