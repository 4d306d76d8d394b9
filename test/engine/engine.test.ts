import assert from "node:assert/strict";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { packageRoot } from "../../src/core/files.js";
import type { Batch } from "../../src/diffusion/layout/batch.js";
import { sampler } from "../../src/diffusion/samplers/unmask.js";
import { modelHead } from "../../src/diffusion/score-head.js";
import { Engine, type SegmentValues } from "../../src/engine/engine.js";
import { sampledModel } from "../../src/engine/policy.js";
import { loadModel } from "../../src/nn/model.js";
import { Runtime } from "../../src/onnx/session.js";
import { scalar, vector } from "../../src/onnx/tensors.js";
import type { Tensor } from "../../src/onnx/types.js";
import { objective as flowGrpo } from "../../src/rl/objectives/flow-grpo.js";
import { objective as sft } from "../../src/rl/objectives/sft.js";
import {
  GOLDEN_OPTIMIZER,
  type Golden,
  goldenLora,
  goldenModel,
  goldenTerms,
  readGolden,
  relativeError,
} from "../support/golden.js";
import { assertGradients, assertLoss, goldenAdapter, goldenEngine } from "../support/golden-engine.js";
import { floatsOf } from "../support/tensors.js";

const TOLERANCE = 1e-4;

/** Computes the weights of the mean over the rounds that reveal a token. */
function roundWeights(batch: Batch): Float32Array {
  const real = new Float32Array(batch.segments);
  batch.segment.forEach((s, r) => {
    if ((batch.coefficient[r] as number) > 0) real[Number(s)] = 1;
  });
  const count = real.reduce((a, x) => a + x, 0);
  return real.map((x) => x / count);
}

/** Flow-GRPO with these options. */
const flow = (section: object = {}) => [flowGrpo, flowGrpo.schema.parse(section)] as const;

function segmentValues(golden: Golden, batch: Batch): SegmentValues {
  const advantages = golden.floats("input.advantages");
  return {
    old: golden.floats("input.old_log_probs"),
    reference: golden.floats("input.ref_log_probs"),
    advantage: Float32Array.from(batch.owner, (b) => advantages[b] as number),
    weight: roundWeights(batch),
  };
}

describe("engine against PyTorch goldens", () => {
  let runtime: Runtime;
  const golden = readGolden("micro");

  // each engine has its own runtime
  beforeEach(async () => {
    runtime = await Runtime.open({ provider: "cpu", threads: 1 });
  });
  afterEach(() => runtime.close());

  it("scores rounds and gives the Flow-GRPO loss and every LoRA gradient", async () => {
    const options = { clip_range: golden.meta.clip_range, kl_coeff: golden.meta.beta };
    const engine = await goldenEngine(runtime, golden, flow(options));
    const batch = goldenTerms(golden);

    const scored = await engine.score(batch, "policy");
    const mask = golden.floats("input.mask");
    const masked = (values: Float32Array): Float32Array => values.map((x, i) => x * (mask[i] as number));
    assert.ok(relativeError(masked(scored.logProbs), masked(golden.floats("expect.log_probs"))) < TOLERANCE);
    assert.ok(relativeError(scored.logProb, golden.floats("expect.round_log_probs")) < TOLERANCE);

    const values = segmentValues(golden, batch);
    assertLoss(golden, "flow_grpo", (await engine.accumulate(batch, values)).loss);
    await assertGradients(golden, "", engine);
    // the second micro-batch adds to the gradients of the first
    await engine.accumulate(batch, values);
    for (const [name, { data }] of await engine.getGradients()) {
      const half = (data as Float32Array).map((x) => x / 2);
      assert.ok(relativeError(half, golden.floats(`grad.${name}`)) < TOLERANCE, name);
    }
  });

  it("scores a reference whose adapter has no effect without its products, to the last bit", async () => {
    const model = await goldenModel(golden);
    const engine = new Engine(runtime, model, { sampler, about: sampledModel(model.config), lora: goldenLora(golden) });
    const batch = goldenTerms(golden);
    const scored = async (adapter: ReadonlyMap<string, Tensor>) => {
      await engine.setParameters("policy", adapter);
      await engine.setParameters("reference", adapter);
      const [policy, reference] = [await engine.score(batch, "policy"), await engine.score(batch, "reference")];
      assert.deepEqual(reference, policy);
      return reference.logProbs;
    };
    const zero = new Map(
      [...goldenAdapter(golden)].map(([name, tensor]): [string, Tensor] => {
        const data = (tensor.data as Float32Array).map((x) => (name.includes("lora_B") ? 0 : x));
        return [name, { ...tensor, data }];
      }),
    );
    const loads: string[] = [];
    const { load } = runtime;
    runtime.load = (name, ...rest) => {
      loads.push(name.split("/")[0] as string);
      return load.call(runtime, name, ...rest);
    };
    const base = await scored(zero);
    assert.deepEqual(loads, ["eval_model", "base_model"]);
    // one number other than zero is an effect
    const [name, { shape }] = [...zero].find(([name]) => name.includes("lora_B")) as [string, Tensor];
    const changed = new Map(zero).set(
      name,
      floatsOf(shape, (i) => Number(i === 0)),
    );
    assert.notDeepEqual(await scored(changed), base);
    assert.equal(loads.length, 2);
  });

  it("within a budget releases what was used least lately, computes again, and says the same", async () => {
    const model = await goldenModel(golden);
    const open = (memory = {}): Promise<Engine> => goldenEngine(runtime, golden, flow(), { model, ...memory });
    const batch = goldenTerms(golden);
    const values = segmentValues(golden, batch);
    const isLoaded = (kind: string): boolean => loaded.some((name) => name.startsWith(kind) && runtime.has(name));
    const loaded: string[] = [];
    const { load } = runtime;
    runtime.load = (name, ...rest) => {
      loaded.push(name);
      return load.call(runtime, name, ...rest);
    };
    const free = await open();
    const expected = await free.score(batch, "policy");
    await free.accumulate(batch, values);
    const gradients = await free.getGradients();
    assert.ok(isLoaded("eval_model") && isLoaded("training_model"));
    for (const name of loaded.splice(0)) await runtime.unload(name);

    // a budget below any session's size leaves one session at a time
    const tight = await open({ memory: 1 });
    for (let again = 0; again < 2; again++) {
      const scored = tight.score(batch, "policy");
      // overlapping runs end before their session is released
      const [{ logProb: value }] = await Promise.all([scored, tight.score(batch, "policy")]);
      assert.deepEqual(value, expected.logProb);
      assert.ok(!isLoaded("training_model"));
      tight.discardGradients();
      await tight.accumulate(batch, values);
      assert.ok(!isLoaded("eval_model"));
      for (const [name, { data }] of await tight.getGradients()) {
        const whole = gradients.get(name)?.data as Float32Array;
        assert.ok(relativeError(data as Float32Array, whole) < 1e-5, name);
      }
    }
    assert.equal(loaded.length, 4);
  });

  it("steps as Adam does with its bias corrections, on the gradients since the last step", async () => {
    const engine = await goldenEngine(runtime, golden, flow());
    const start = goldenAdapter(golden);
    const batch = goldenTerms(golden);
    const values = segmentValues(golden, batch);
    let norm = 0;
    for (const t of [1, 2, 3]) {
      await engine.setParameters("policy", start);
      // discarded gradients do not count
      await engine.accumulate(batch, values);
      engine.discardGradients();
      await engine.accumulate(batch, values);
      const gradients = await engine.getGradients();
      const all = [...gradients.values()].flatMap((g) => [...(g.data as Float32Array)]);
      // a constant gradient moves every weight by the learning rate at every step
      const reported = await engine.step(t, 0.01);
      assert.ok(Math.abs(reported / Math.hypot(...all) - 1) < 1e-5);
      assert.ok(norm === 0 || Math.abs(reported / norm - 1) < 1e-6, "one step's gradient is in the next one's");
      norm = reported;
      const after = await engine.getParameters("policy");
      for (const [name, { data }] of start) {
        const g = gradients.get(name)?.data as Float32Array;
        const moved = ((after.get(name) as Tensor).data as Float32Array).map((x, i) => x - (data[i] as number));
        const expected = g.map((x) => (-0.01 * x) / (Math.abs(x) + 1e-8));
        assert.ok(relativeError(moved, expected) < 1e-3, `${name}, step ${t}: ${relativeError(moved, expected)}`);
      }
    }
  });

  it("gives the loss and every LoRA gradient of the shipped model", async () => {
    const tiny = readGolden("tiny-refusion");
    const model = await loadModel(join(packageRoot(), "models", "tiny-refusion"));
    const objective = flow({ clip_range: tiny.meta.clip_range, kl_coeff: tiny.meta.beta });
    const engine = await goldenEngine(runtime, tiny, objective, { model });
    const batch = goldenTerms(tiny);
    assertLoss(tiny, "flow_grpo", (await engine.accumulate(batch, segmentValues(tiny, batch))).loss);
    assert.equal((await engine.getGradients()).size, 4 * 7 * 2);
    await assertGradients(tiny, "", engine);
  });

  for (const tied of [false, true]) {
    it(`gives the SFT loss and every weight's gradient (${tied ? "tied" : "untied"} head)`, async () => {
      const model = await goldenModel(golden, { tie_word_embeddings: tied });
      const options = sft.schema.parse({ trainable: "full" });
      const engine = new Engine(runtime, model, {
        sampler,
        about: sampledModel(model.config),
        lora: undefined,
        training: { objective: sft, options, optimizer: GOLDEN_OPTIMIZER },
      });
      await engine.setParameters("policy", engine.weights());
      await engine.setOptimizer(undefined);
      const rows = golden.ints("input.sft_rows");
      const terms = goldenTerms(golden);
      const batch: Batch = {
        ...terms,
        inputs: { ...terms.inputs, rows: vector(rows) },
        head: modelHead,
        headInputs: { targets: vector(golden.ints("input.sft_targets")), inverse_temperature: scalar(1) },
        coefficient: golden.floats("input.sft_weights"),
        segment: new BigInt64Array(rows.length),
        segments: 1,
        owner: [0],
        step: [-1],
        units: new Float32Array(1),
        logProb: undefined,
      };
      const none = new Float32Array(1);
      const { loss } = await engine.accumulate(batch, { old: none, reference: none, advantage: none, weight: none });
      const prefix = tied ? "sft_tied" : "sft";
      assertLoss(golden, prefix, loss);
      await assertGradients(golden, `${prefix}.`, engine);
    });
  }
});
