import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { closing } from "../../../src/core/closing.js";
import { holds, type VerifyContext } from "../../../src/features/verify/proof.js";
import { measureGradients } from "../../../src/features/verify/proofs/gradients.js";
import { measureObjectiveRatio } from "../../../src/features/verify/proofs/objective-ratio.js";
import { measureOnPolicy } from "../../../src/features/verify/proofs/on-policy.js";
import { measureResume } from "../../../src/features/verify/proofs/resume.js";
import { measureSignal } from "../../../src/features/verify/proofs/signal.js";
import { measureZeroScore } from "../../../src/features/verify/proofs/zero-score.js";
import { formatProofs, loadProofs } from "../../../src/features/verify/verify.js";
import type { Tensor } from "../../../src/onnx/types.js";
import { parametersIn } from "../../../src/runs/checkpoint.js";
import { microConfig } from "../../support/micro-config.js";
import { assertHolds, briefProofs } from "./all-proofs.js";
import { freshMasks, sampledConfidenceRollout, warmerOld, wrongSign, wrongTemperature } from "./broken-estimators.js";
import { assertMisses, figure, openOnTrial as open } from "./on-trial.js";

/** Objectives whose credit is turned round, of steps and of a bound: both climb enough to show it. */
const WRONG_SIGN = ["flow-grpo", "coupled-grpo"];

describe("verify on the micro model", () => {
  let context: VerifyContext & { close(): Promise<void> };
  before(async () => {
    context = await open(await microConfig());
  });
  after(() => context.close());
  const only = (...names: string[]): VerifyContext => {
    const objectives = context.objectives.filter(({ objective }) => names.includes(objective.name));
    assert.equal(objectives.length, names.length);
    return { ...context, objectives };
  };

  it("every proof holds but those over hundreds of rollouts, which the slow tests run", async () => {
    const proofs = await loadProofs();
    const names = "gradients layout objective-ratio on-policy resume signal zero-score";
    assert.equal([...proofs.keys()].sort().join(" "), names);
    await assertHolds(context, await briefProofs());
  });

  it("slots chosen by the sampled token's probability: the mean score is not 0", async () => {
    const { measured } = figure(await measureZeroScore(context, sampledConfidenceRollout), "sharper policy");
    assert.ok(measured > 4, `${measured}`);
  });

  it("sampling and scoring at different temperatures: the mean score is not 0, and the replay differs", async () => {
    const { measured } = figure(await measureZeroScore(context, wrongTemperature), "sharper policy");
    assert.ok(measured > 4, `${measured}`);
    await assertMisses(measureOnPolicy(context, wrongTemperature), 0.1);
  });

  it("masks of their own for the old values: the ratio is noise", async () => {
    const measurements = await measureObjectiveRatio(only("espo", "coupled-grpo", "flow-grpo"), freshMasks);
    for (const name of ["espo", "coupled-grpo"]) assert.ok(figure(measurements, `${name}:`).measured > 0.01, name);
    assert.ok(holds(figure(measurements, "flow-grpo")));
  });

  it("old values at another temperature: no ratio begins at 1", async () => {
    const names = ["flow-grpo", "flowrl", "coupled-grpo"];
    const measurements = await measureObjectiveRatio(only(...names), warmerOld);
    for (const name of names) assert.ok(figure(measurements, `${name}:`).measured > 0.01, name);
  });

  it("a resume that begins its head anew differs", async () => {
    const [flowrl] = await measureResume(only("flowrl"), async (engine, checkpoint) => {
      const fresh = new Map(await engine.getParameters("policy"));
      for (const [name, tensor] of checkpoint.adapter?.tensors ?? []) fresh.set(name, tensor);
      await engine.setParameters("policy", fresh);
      await engine.setOptimizer(checkpoint.optimizer);
    });
    assert.ok((flowrl?.measured as number) > 0);
  });

  it("credit of the wrong sign: the step leads away from the reward", async () => {
    await assertMisses(measureSignal(only(...WRONG_SIGN), wrongSign));
  });

  it("a wrong gradient: one tensor too large, one missing", async () => {
    const change =
      (factor: number) => async (engine: Parameters<NonNullable<Parameters<typeof measureGradients>[1]>>[0]) => {
        const gradients = await engine.getGradients();
        const name = [...gradients.keys()].find((key) => key.includes("layers.0.mlp.down_proj.lora_B")) as string;
        const tensor = gradients.get(name) as Tensor;
        return new Map(gradients).set(name, { ...tensor, data: (tensor.data as Float32Array).map((x) => x * factor) });
      };
    await assertMisses(measureGradients(only("flow-grpo"), change(2)));
    await assertMisses(measureGradients(only("flow-grpo"), change(0)));
  });

  it("a resume without the optimizer's moments differs", async () => {
    const measured = await measureResume(only("flowrl", "espo"), async (engine, checkpoint) => {
      await engine.setParameters("policy", parametersIn(checkpoint));
    });
    assert.ok(figure(measured, "flowrl").measured > 0 && measured.length > 1);
    for (const { measured: different } of measured) assert.ok(different > 0);
  });

  it("a figure that is not a number holds nowhere", () => {
    assert.equal(holds({ name: "", measured: Number.NaN, limit: 1, detail: "" }), false);
  });
});

describe("verify", () => {
  for (const sampler of [
    { order: "random", slot_size: 1, response_length: 4 },
    { order: "entropy", temperature: 1.3 },
    { order: "left-to-right", rounds: 8 },
  ]) {
    it(`holds for ${JSON.stringify(sampler)}`, async () => {
      await using context = closing(await open(await microConfig(sampler)));
      await assertHolds(context, ["on-policy"]);
    });
  }

  it("refuses a greedy sampler", async () => {
    await assert.rejects(open(await microConfig({ temperature: 0 })), /no likelihood/);
  });

  it("prints a table", () => {
    const lines = [
      { proof: "layout", name: "a", measured: 2.5e-6, limit: 1e-5, detail: "of x", pass: true },
      { proof: "resume", name: "bc", measured: 3, limit: 0, detail: "of y", pass: false },
    ];
    assert.deepEqual(formatProofs(lines).split("\n"), [
      "      proof   what  measured  limit  of",
      "ok    layout  a       2.5e-6   1e-5  of x",
      "MISS  resume  bc           3      0  of y",
    ]);
  });
});
