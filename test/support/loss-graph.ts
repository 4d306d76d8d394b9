import { backward } from "../../src/autodiff/backward.js";
import { Emitter } from "../../src/onnx/emit.js";
import { encodeModel } from "../../src/onnx/format/proto.js";
import { GraphBuilder } from "../../src/onnx/graph.js";
import type { Runtime } from "../../src/onnx/session.js";
import type { Tensor, Value } from "../../src/onnx/types.js";
import type { Loss, LossInputs } from "../../src/rl/objective.js";
import { f32 } from "./tensors.js";

const NAMES = ["logProb", "old", "reference", "advantage", "weight", "units"] as const;

/** Inputs of a loss, one number per segment. */
export type SegmentInputs = Readonly<Record<(typeof NAMES)[number], readonly number[]>>;

/** Computes loss, metrics and d loss / d logProb of segments. @param session name of the session, one per loss. */
export async function runLoss(
  runtime: Runtime,
  session: string,
  loss: (inputs: LossInputs) => Loss,
  inputs: SegmentInputs,
): Promise<{ metrics: Record<string, number>; gradient: number[] }> {
  const size = inputs.logProb.length;
  const name = `${session} ${size}`;
  if (!runtime.has(name)) {
    const g = new GraphBuilder("loss");
    const e = new Emitter(g);
    const inputsOf = NAMES.map((key) => [key, g.input(key, "float32", [size])]);
    const values = Object.fromEntries(inputsOf) as Record<(typeof NAMES)[number], Value>;
    // every segment has one term
    const terms = { logProbs: values.logProb, coefficient: e.add(e.zeros([size], "float32"), 1) };
    // a stand-in for the entropy with a known gradient
    const entropy = (): Value => e.mul(values.logProb, -2);
    const built = loss({ e, ...values, ...terms, entropy, hidden: undefined, extra: {}, parameters: {} });
    g.output("loss", built.loss);
    for (const [key, metric] of Object.entries(built.metrics)) g.output(key, metric.value);
    g.output("gradient", backward(g, built.loss, [values.logProb])[0] as Value);
    await runtime.load(name, { bytes: encodeModel(g.build()) });
  }
  const feeds = Object.fromEntries(NAMES.map((key) => [key, f32([size], ...inputs[key])]));
  const { gradient, ...rest } = await runtime.run(name, { feeds });
  return {
    metrics: Object.fromEntries(Object.entries(rest).map(([key, t]) => [key, Number(t.data[0])])),
    gradient: Array.from((gradient as Tensor).data as Float32Array),
  };
}
