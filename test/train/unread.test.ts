import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadConfig } from "../../src/config/config.js";
import { UserError } from "../../src/core/errors.js";
import { objectiveKinds } from "../../src/rl/objective-kinds.js";
import { train } from "../../src/train/recipe.js";
import { OWN_ENVIRONMENT, ownFolder } from "../support/own-modules.js";
import { smallModel } from "../support/small-model.js";
import { trainOptions } from "../support/train-options.js";

const CONFIG = `
model: ${await smallModel()}
environment: { kind: ./environment.mjs, turns: 1 }
sampler: { prompt_length: 56, response_length: 16, rounds: 2, slot_size: 4, temperature: 2 }
plan: free
training: { steps: 1, prompts_per_step: 2, group_size: 2, micro_batch: 2 }
evaluation: { splits: [], every: 1, episodes: 1 }
runtime: { threads: 1, provider: cpu }
`;
const LEARNS =
  `${CONFIG.replace(/environment: .*/, "environment: { kind: paper, sizes: { train: 4, val: 1, test: 0, heldout: 0 } }")}
`.replace("response_length: 16", "response_length: 56");

/** Wraps a section so that keys which are read by name are noted; copying it whole reads none. */
function noting<T extends object>(section: T, read: Set<string>): T {
  const copied = new Set<PropertyKey>();
  return new Proxy(section, {
    ownKeys(target) {
      for (const key of Reflect.ownKeys(target)) copied.add(key);
      return Reflect.ownKeys(target);
    },
    get(target, key, self) {
      if (!copied.delete(key)) read.add(String(key));
      return Reflect.get(target, key, self);
    },
  });
}

describe("keys that an objective does not read", () => {
  const dir = ownFolder({ "environment.mjs": OWN_ENVIRONMENT, "run.yaml": CONFIG, "sft.yaml": LEARNS });

  it("hold all of `training` that its run never asks for", async () => {
    for (const [name, objective] of await objectiveKinds()) {
      const file = name === "sft" ? "sft.yaml" : "run.yaml";
      const config = await loadConfig(file, { command: name });
      const read = new Set<string>();
      await train({ ...config, training: noting(config.training, read) }, trainOptions(name, file, join(dir, name)));
      const declared = new Set(Object.keys(objective.unread?.(config.objective) ?? {}));
      for (const key of Object.keys(config.training))
        assert.ok(read.has(key) || declared.has(`training.${key}`), `${name}: training.${key}`);
    }
  });

  it("are refused where they are set, with the reason and the line", async () => {
    const refused = async (command: string, override: string): Promise<string> => {
      try {
        await loadConfig("sft.yaml", { command, overrides: [override] });
      } catch (error) {
        assert.ok(error instanceof UserError && error.exitCode === 2 && error.hint);
        return error.message;
      }
      return "";
    };
    for (const [command, override, why] of [
      ["sft", "training.num_iterations=2", /\.num_iterations \(command line: .*\): sft does not read it: .*one update/],
      ["sft", "training={dynamic_sampling: true}", /training\.dynamic_sampling .*no rollouts/],
      ["sft", "distributed.redis=redis://127.0.0.1:1", /distributed\.redis .*this process/],
      ["wd1", "training.reference_refresh=3", /wd1 does not read it: it has no reference/],
      ["flow-grpo", "training.min_lr_ratio=0.1", /training\.min_lr_ratio .*schedule is constant/],
    ] as const)
      assert.match(await refused(command, override), why);
    const given = await refused("sft", "objective={batch_size: 8}");
    assert.match(given, /^.*training\.group_size \(line 6\): .*objective\.batch_size/ms);
    // set to what it is without being set
    assert.equal(await refused("sft", "training.num_iterations=1"), "");
  });
});
