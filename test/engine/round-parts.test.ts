import assert from "node:assert/strict";
import { it } from "node:test";
import { Rng } from "../../src/core/rng.js";
import { roundHead } from "../../src/diffusion/samplers/unmask/round.js";
import { headGraph, hiddenGraph, rolloutGraph, type TrainedModel } from "../../src/engine/graphs.js";
import { sampledModel } from "../../src/engine/policy.js";
import { loraSites } from "../../src/nn/bind.js";
import { freshAdapter } from "../../src/nn/lora.js";
import { loadModel } from "../../src/nn/model.js";
import { encodeModel } from "../../src/onnx/format/proto.js";
import { type NamedTensors, scalar, vector } from "../../src/onnx/tensors.js";
import { microModel } from "../support/micro-model.js";
import { cpuRuntime } from "../support/temporary.js";
import { floatsOf, intsOf } from "../support/tensors.js";

it("a round in two parts has the bits of a round in one, and a head no node of the layers", async () => {
  const runtime = await cpuRuntime();
  const { dir, graph, config } = await loadModel(await microModel());
  const lora = { rank: 2, alpha: 4, targets: ["q_proj", "lm_head"] };
  const model: TrainedModel = { graph, lora, about: sampledModel(config) };
  const dims = { B: 2, N: 3 };
  const rng = Rng.named(0, "parts");
  const fresh = freshAdapter(loraSites(graph, lora), lora, rng);
  const adapter = [...fresh].map(([name, { shape }]) => [name, floatsOf(shape, () => rng.normal())] as const);
  const head = headGraph(model, dims, roundHead);
  const all: NamedTensors = {
    ...Object.fromEntries(adapter),
    input_ids: intsOf([2, 3], (i) => [1, 2, 3, 4, 5, 13][i]),
    position_ids: intsOf([2, 3], (i) => i % 3),
    attention_bias: floatsOf([2, 1, 3, 3], () => 0),
    rows: vector(BigInt64Array.of(5n, 1n, 2n)),
    inverse_temperature: scalar(1),
    uniform: vector(Float32Array.of(0.3, 0.9)),
    drawn: vector(BigInt64Array.of(0n, 1n)),
    candidates: intsOf([2, 1], (i) => i + 2),
  };
  const run = async (of: typeof head, given: NamedTensors): Promise<NamedTensors> => {
    await runtime.load(of.name, { bytes: encodeModel(of), weightsDir: dir });
    const feeds = Object.fromEntries(of.inputs.map(({ name }) => [name, given[name] as never]));
    return runtime.run(of.name, { feeds });
  };
  const whole = await run(rolloutGraph(model, { dims, rows: 3 }, roundHead), all);
  const hidden = await run(hiddenGraph(model, dims), all);
  const parts = await run(head, { ...all, ...hidden });
  assert.deepEqual(parts, whole);
  const { emitRanking = roundHead.emit } = roundHead;
  const ranks = headGraph(model, dims, { ...roundHead, emit: emitRanking });
  const { argmax, top, top2, eos_is_argmax } = whole;
  assert.deepEqual(await run({ ...ranks, name: "ranks" }, { ...all, ...hidden }), { argmax, eos_is_argmax, top, top2 });
  assert.deepEqual(
    ranks.inputs.map(({ name }) => name).filter((name) => Object.hasOwn(roundHead.inputs, name)),
    ["inverse_temperature"],
  );
  assert.deepEqual([whole.top?.shape, whole.token?.shape], [[3], [2, 2]]);
  assert.ok(head.nodes.every(({ name }) => !name.includes("layers")));
});
