import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { z } from "zod";
import type { Batch } from "../../src/diffusion/layout/batch.js";
import type { Engine, SegmentValues } from "../../src/engine/engine.js";
import type { Model } from "../../src/nn/model.js";
import type { Tensor, Value } from "../../src/onnx/types.js";
import type { Objective } from "../../src/rl/objective.js";
import { goldenModel, goldenTerms, readGolden, relativeError } from "../support/golden.js";
import { goldenAdapter, goldenEngine } from "../support/golden-engine.js";
import { cpuRuntime } from "../support/temporary.js";
import { f32, floatsOf, intsOf } from "../support/tensors.js";

const runtime = await cpuRuntime();
const golden = readGolden("micro");
const CRITIC = "critic.weight";

/** A linear critic on the first hidden state of each segment, trained together with the policy. */
const actorCritic: Objective<{ scale: number }> = {
  name: "actor-critic",
  description: "for tests",
  schema: z.strictObject({}),
  learnsFrom: "rollouts",
  scoring: "steps",
  needs: () => ({ reference: false }),
  credit: (group) => group.map(() => null),
  parameters: ({ scale }, { hiddenSize }) => [
    {
      name: "critic",
      parameters: [{ name: CRITIC, shape: [hiddenSize, 1] }],
      learningRateScale: scale,
      initial: (rng) => new Map([[CRITIC, floatsOf([hiddenSize, 1], () => rng.normal())]]),
    },
  ],
  inputs: { at: { dtype: "int64", shape: ["S"] }, target: { dtype: "float32", shape: ["S"] } },
  layout: () => assert.fail("the batch is the golden's"),
  loss({ e, logProb: value, weight, hidden, extra, parameters }) {
    const states = e.gather(hidden as Value, extra.at as Value);
    const judged = e.squeeze(e.matmul(states, parameters[CRITIC] as Value), [1]);
    const off = e.sub(judged, extra.target as Value);
    const critic = e.total(e.mul(weight, e.mul(off, off)));
    const actor = e.neg(e.total(e.mul(weight, value)));
    return { loss: e.add(actor, critic), metrics: { critic_loss: { value: critic, reduce: "sum" } } };
  },
};

describe("an objective with parameters of its own", () => {
  let model: Model;
  let engine: Engine;
  let critic: Float32Array;
  const batch: Batch = goldenTerms(golden);
  const values: SegmentValues = {
    old: new Float32Array(batch.segments),
    reference: new Float32Array(batch.segments),
    advantage: new Float32Array(batch.segments),
    weight: new Float32Array(batch.segments).fill(1 / batch.segments),
    extra: { at: intsOf([batch.segments], (s) => 3 * s), target: floatsOf([batch.segments], (s) => s - 1) },
  };
  const adapter = goldenAdapter(golden);

  before(async () => {
    model = await goldenModel(golden);
    const width = model.config.hidden_size;
    critic = Float32Array.from({ length: width }, (_, i) => 0.3 * Math.cos(i));
    const more = [[CRITIC, f32([width, 1], ...critic)]] as const;
    engine = await goldenEngine(runtime, golden, [actorCritic, { scale: 3 }], { model, more });
  });

  const lossAt = async (weights: Float32Array): Promise<{ loss: number; critic_loss: number }> => {
    await engine.setParameters("policy", new Map([...adapter, [CRITIC, f32([weights.length, 1], ...weights)]]));
    const { loss, critic_loss } = await engine.accumulate(batch, values);
    engine.discardGradients();
    return { loss: loss as number, critic_loss: critic_loss as number };
  };

  it("has them in a group behind the model's own, of which alone the reference has a copy", async () => {
    const groups = engine.groups.map(
      ({ name, inReference, learningRateScale: rate }) => `${name} ${inReference} ${rate}`,
    );
    assert.deepEqual(groups, ["adapter true undefined", "critic undefined 3"]);
    assert.deepEqual(
      engine.parameters.map((p) => p.name),
      [...(engine.groups[0]?.parameters ?? []).map((p) => p.name), CRITIC],
    );
    await assert.rejects(engine.setParameters("policy", adapter), /no value for the parameter critic\.weight/);
    await engine.setParameters("reference", adapter);
    assert.deepEqual([...(await engine.getParameters("reference")).keys()].sort(), [...adapter.keys()].sort());
    assert.deepEqual((await engine.getParameters("policy")).get(CRITIC)?.data, critic);
    const other = [...adapter].map(([name, t]) => [name, { ...t, data: (t.data as Float32Array).map((x) => 2 * x) }]);
    await engine.setParameters("reference", new Map(other as [string, Tensor][]));
    const score = async (of: "policy" | "reference") => (await engine.score(batch, of)).logProb;
    assert.notDeepEqual(await score("reference"), await score("policy"));
  });

  it("reads what the objective feeds, and gives the gradient of its parameters", async () => {
    await lossAt(critic);
    await engine.accumulate(batch, values);
    const gradients = await engine.getGradients();
    engine.discardGradients();
    const gradient = gradients.get(CRITIC)?.data as Float32Array;
    // the loss is quadratic in the critic, so central differences equal its gradient up to rounding
    const step = 0.1;
    const expected: number[] = [];
    for (let i = 0; i < critic.length; i++) {
      const shifted = (by: number): Float32Array => critic.map((x, j) => (j === i ? x + by : x));
      const [up, down] = [await lossAt(shifted(step)), await lossAt(shifted(-step))];
      expected.push((up.critic_loss - down.critic_loss) / (2 * step));
    }
    assert.ok(Math.hypot(...expected) > 0.1);
    assert.ok(relativeError(gradient, expected) < 2e-3, `${relativeError(gradient, expected)}`);
    // a change of the target changes the loss and the gradients through the hidden states
    const { critic_loss: before } = await lossAt(critic);
    const target = floatsOf([batch.segments], () => 7);
    const { critic_loss: moved } = await engine.accumulate(batch, { ...values, extra: { ...values.extra, target } });
    const felt = await engine.getGradients();
    engine.discardGradients();
    assert.ok(Math.abs((moved as number) - before) > 1);
    const [behind] = [...adapter.keys()].filter((name) => name.includes("layers.0.self_attn.v_proj.lora_B"));
    const of = (all: ReadonlyMap<string, Tensor>): Float32Array => all.get(behind as string)?.data as Float32Array;
    assert.ok(relativeError(of(felt), of(gradients)) > 0.01);
  });

  it("trains them beside the adapter at a learning rate of their own, and scores without them", async () => {
    await lossAt(critic);
    const scoring = await engine.score(batch, "policy");
    await engine.accumulate(batch, values);
    const gradients = await engine.getGradients();
    await engine.step(1, 1e-3);
    const next = await engine.getParameters("policy");
    for (const [name, { data }] of [...adapter, [CRITIC, f32([critic.length, 1], ...critic)] as const]) {
      // Adam's first step moves each weight by the learning rate against its gradient
      const rate = name === CRITIC ? 3e-3 : 1e-3;
      const g = gradients.get(name)?.data as Float32Array;
      const moved = ((next.get(name) as Tensor).data as Float32Array).map((x, i) => x - (data[i] as number));
      const expected = g.map((x) => (-rate * x) / (Math.abs(x) + 1e-8));
      assert.ok(relativeError(moved, expected) < 2e-3, `${name}: ${relativeError(moved, expected)}`);
    }
    // scoring reads only the adapter
    const again = await engine.score(batch, "policy");
    assert.notDeepEqual(again.logProb, scoring.logProb);
  });
});
