import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { closing } from "../../../../src/core/closing.js";
import { packageRoot } from "../../../../src/core/files.js";
import type { Batch } from "../../../../src/diffusion/layout/batch.js";
import type { StepLayout } from "../../../../src/diffusion/layout/scorings.js";
import type { UnmaskTrajectory } from "../../../../src/diffusion/samplers/unmask/trajectory.js";
import { sampler as unmask } from "../../../../src/diffusion/samplers/unmask.js";
import { Engine } from "../../../../src/engine/engine.js";
import { sampledModel } from "../../../../src/engine/policy.js";
import { architectureOf } from "../../../../src/nn/architecture.js";
import type { ModelConfig } from "../../../../src/nn/config.js";
import { loadModel, saveModel } from "../../../../src/nn/model.js";
import { Runtime } from "../../../../src/onnx/session.js";
import type { Tensor } from "../../../../src/onnx/types.js";
import { temporaryFolder } from "../../../support/temporary.js";
import { floatsOf } from "../../../support/tensors.js";
import { having } from "../../../support/typed.js";
import { layout, SMALL } from "./fake-model.js";

/** Written by scripts/golden/layouts.py: rollouts of a template whose log-probabilities PyTorch computed in float64. */
const stored = JSON.parse(readFileSync(join(packageRoot(), "test", "golden", "layouts.json"), "utf8")) as {
  /** A causal refusion. */
  readonly config: ModelConfig;
  readonly block: number;
  readonly tokenizer: object;
  readonly trajectories: Readonly<Record<"causal" | "blocks" | "whole" | "next-token", readonly UnmaskTrajectory[]>>;
  /** Log-probabilities of the causal model's responses, read from left to right at temperature 1. */
  readonly text: readonly (readonly number[])[];
};
const sampler = having(having(unmask, "stepTerms"), "textTerms");

/** Computes entry k of tensor t, by sorted name: .7 sin(1 + 1.7 k + 2.3 t), and 1 + .3 of that sine for vectors. */
async function formulaWeights(config: ModelConfig): Promise<Map<string, Tensor>> {
  const specs = [...(await architectureOf(config)).weights(config)].sort(([a], [b]) => (a < b ? -1 : 1));
  const entry = (vector: boolean, sine: number): number => (vector ? 1 + 0.3 * sine : 0.7 * sine);
  return new Map(
    specs.map(([name, { shape }], t) => {
      const of = (k: number): number => entry(shape.length === 1, Math.sin(1 + 1.7 * k + 2.3 * t));
      return [name, floatsOf(shape, of)];
    }),
  );
}

/** Opens an engine on the stored model, changed. */
async function engineOf(runtime: Runtime, changes: Partial<ModelConfig>): Promise<Engine> {
  const config = { ...stored.config, ...changes };
  const dir = temporaryFolder("stored");
  await saveModel(dir, config, await formulaWeights(config), JSON.stringify(stored.tokenizer));
  const engine = new Engine(runtime, await loadModel(dir), { sampler, about: sampledModel(config), lora: undefined });
  await engine.setParameters("policy", engine.weights());
  return engine;
}

const optionsOf = ({ model }: Engine, [first]: readonly UnmaskTrajectory[]) => ({
  ...SMALL,
  ...{ slotSize: first?.slotSize ?? 0, rounds: 8, responseLength: 16, promptLength: first?.prompt.length ?? 0 },
  model: sampledModel(model.config),
});

async function assertValues(engine: Engine, batch: Batch, expected: readonly number[]): Promise<void> {
  const { logProb } = await engine.score(batch, "policy");
  const real = [...logProb].filter((_, s) => (batch.owner[s] as number) >= 0);
  assert.equal(real.length, expected.length);
  for (const [s, x] of expected.entries())
    assert.ok(Math.abs((real[s] as number) - x) < 3e-5, `${s}: ${real[s]}, ${x}`);
}

/** Layouts of a causal model; others have a sequence per round. */
const CAUSAL = { "a shared batch": { share: true }, packed: {}, "round by round": { packed: false } };
const BIDIRECTIONAL = { architecture: "masked_lm", attention: "bidirectional" as const };

// rollout and replay share the code of buffers, positions and visibility: their agreement shows no fault of it
for (const [kind, changes, layouts] of [
  ["causal", {}, CAUSAL],
  ["next-token", {}, CAUSAL],
  ["blocks", { ...BIDIRECTIONAL, attention_block: stored.block }, { packed: {} }],
  ["whole", BIDIRECTIONAL, { packed: {} }],
] as const) {
  test(`log-probabilities of a template's rounds are PyTorch's: ${kind}`, async () => {
    const trajectories = stored.trajectories[kind];
    await using runtime = closing(await Runtime.open({ provider: "cpu", threads: 1 }));
    const engine = await engineOf(runtime, changes);
    for (const how of Object.values<Partial<StepLayout>>(layouts)) {
      const batch = sampler.stepTerms(trajectories, optionsOf(engine, trajectories), layout(trajectories.length, how));
      const real = batch.owner.filter((b) => b >= 0).length;
      await assertValues(engine, batch, [...(batch.logProb as Float32Array)].slice(0, real));
    }
  });
}

test("log-probabilities of a template's text, read from left to right, are PyTorch's", async () => {
  const trajectories = stored.trajectories.causal;
  await using runtime = closing(await Runtime.open({ provider: "cpu", threads: 1 }));
  const engine = await engineOf(runtime, {});
  const sizes = { batch: trajectories.length, lengthStep: 1, level: "token" } as const;
  const batch = sampler.textTerms(trajectories, optionsOf(engine, trajectories), sizes);
  await assertValues(engine, batch, stored.text.flat());
});
