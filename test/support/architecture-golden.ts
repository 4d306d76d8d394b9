import assert from "node:assert/strict";
import { backward } from "../../src/autodiff/backward.js";
import { type BindOptions, type BoundModel, bindModel } from "../../src/nn/bind.js";
import type { LoraOptions } from "../../src/nn/lora.js";
import type { Model } from "../../src/nn/model.js";
import type { Runtime } from "../../src/onnx/session.js";
import type { Tensor, Value } from "../../src/onnx/types.js";
import { type Golden, relativeError, under } from "./golden.js";
import { runGraph } from "./run-graph.js";

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
  const run = (bound: BoundModel, feeds: Iterable<readonly [string, Tensor]> = []) =>
    runGraph(runtime, bound.g.build(), { ...modelFeeds, ...Object.fromEntries(feeds) }, model.dir);
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
    const [noisy, clean, weight] = [row("noisy", "int64"), row("clean", "int64"), row("weight", "float32")];
    const value = loss(bound, { noisy, clean, weight });
    bound.g.output("loss", value);
    for (const [i, gradient] of backward(bound.g, value, bound.parameters).entries())
      bound.g.output(`grad/${names[i]}`, gradient);
    const column = (name: string) => [name, { ...(inputs.get(name) as Tensor), shape: [count, 1] }] as const;
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
  const adapted = bindModel(model.graph, label, { dims, lora }).parameters.map((p) => p.name);
  assert.deepEqual(adapted.sort(), adapters.sort());
  await gradients({ lora }, golden.tensors, "lora_loss");
}
