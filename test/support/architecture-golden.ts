import assert from "node:assert/strict";
import { backward } from "../../src/autodiff/backward.js";
import { type BindOptions, type BoundModel, bindModel } from "../../src/nn/bind.js";
import type { LoraOptions } from "../../src/nn/lora.js";
import type { Model } from "../../src/nn/model.js";
import { encodeModel } from "../../src/onnx/format/proto.js";
import type { Runtime } from "../../src/onnx/session.js";
import type { Tensor, Value } from "../../src/onnx/types.js";
import { type Golden, relativeError, under } from "./golden.js";

/** Goldens of scripts/golden/architectures.py: a model, a loss over some of its rows, and all gradients. */

const TOLERANCE = 1e-4;

export interface RowInputs {
  /** Tokens of the input at the rows, [R, 1]. */
  readonly noisy: Value;
  /** Tokens to predict, [R, 1]. */
  readonly clean: Value;
  /** [R, 1] */
  readonly weight: Value;
}

/** A scalar loss of logits [R, V]. */
export type RowLoss = (bound: BoundModel, rows: RowInputs) => Value;

/** Compares logits, loss and all gradients of weights and adapter with PyTorch's results under `label`. */
export async function compareWithGolden(
  runtime: Runtime,
  golden: Golden,
  model: Model,
  label: string,
  targets: readonly string[],
  loss: RowLoss,
): Promise<void> {
  const inputs = under(golden, "input.");
  const [B, N] = (inputs.get("input_ids") as Tensor).shape as [number, number];
  const count = (inputs.get("rows") as Tensor).shape[0] as number;
  const dims = { B, N };
  const modelFeeds = Object.fromEntries(model.graph.inputs.map(({ name }) => [name, inputs.get(name) as Tensor]));
  const run = async (
    bound: BoundModel,
    feeds: Iterable<readonly [string, Tensor]> = [],
  ): Promise<Record<string, Tensor>> => {
    await runtime.load(label, { bytes: encodeModel(bound.g.build()), weightsDir: model.dir });
    try {
      return await runtime.run(label, { feeds: { ...modelFeeds, ...Object.fromEntries(feeds) } });
    } finally {
      await runtime.unload(label);
    }
  };
  const floats = (t: Tensor | undefined): Float32Array => t?.data as Float32Array;

  const plain = bindModel(model.graph, label, { dims });
  plain.g.output("out", plain.outputs.logits as Value);
  const logits = floats((await run(plain)).out);
  assert.ok(relativeError(logits, golden.floats(`${label}.expect.logits`)) < TOLERANCE, "logits");

  const gradients = async (
    options: Omit<BindOptions, "dims" | "rows">,
    parameters: ReadonlyMap<string, Tensor>,
    lossName: string,
  ): Promise<void> => {
    const bound = bindModel(model.graph, label, { dims, rows: count, ...options });
    const names = bound.parameters.map((p) => p.name);
    const row = (name: string, dtype: "int64" | "float32"): Value => bound.g.input(name, dtype, [count, 1]);
    const value = loss(bound, {
      noisy: row("noisy", "int64"),
      clean: row("clean", "int64"),
      weight: row("weight", "float32"),
    });
    bound.g.output("loss", value);
    backward(bound.g, value, bound.parameters).forEach((gradient, i) => {
      bound.g.output(`grad/${names[i]}`, gradient);
    });
    const column = (name: string): [string, Tensor] => [
      name,
      { ...(inputs.get(name) as Tensor), shape: [count, 1] } as Tensor,
    ];
    const out = await run(bound, [
      ...["noisy", "clean", "weight"].map(column),
      ["rows", inputs.get("rows") as Tensor],
      ...names.map((name) => [name, parameters.get(name) as Tensor] as const),
    ]);
    const expected = golden.floats(`${label}.expect.${lossName}`)[0] as number;
    assert.ok(Math.abs(Number(out.loss?.data[0]) / expected - 1) < TOLERANCE, lossName);
    for (const name of names) {
      const error = relativeError(floats(out[`grad/${name}`]), golden.floats(`${label}.grad.${name}`));
      assert.ok(error < TOLERANCE, `${name}: ${error}`);
    }
  };

  const expectedNames = [...under(golden, `${label}.grad.`).keys()];
  const adapters = expectedNames.filter((name) => name.startsWith("base_model."));
  const weights = expectedNames.filter((name) => !name.startsWith("base_model."));
  const full = bindModel(model.graph, label, { dims, weights: "input" });
  assert.deepEqual(full.parameters.map((p) => p.name).sort(), weights.sort());
  await gradients({ weights: "input" }, under(golden, "weight."), "loss");

  const lora: LoraOptions = { rank: golden.meta.rank, alpha: golden.meta.alpha, targets };
  assert.deepEqual(
    bindModel(model.graph, label, { dims, lora })
      .parameters.map((p) => p.name)
      .sort(),
    adapters.sort(),
  );
  await gradients({ lora }, golden.tensors, "lora_loss");
}
