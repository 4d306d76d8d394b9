import { backward } from "../../../../src/autodiff/backward.js";
import { segmentSums } from "../../../../src/engine/graphs.js";
import type { Policy } from "../../../../src/engine/policy.js";
import type { ObjectiveOnTrial } from "../../../../src/features/verify/proof.js";
import { Emitter } from "../../../../src/onnx/emit.js";
import { GraphBuilder } from "../../../../src/onnx/graph.js";
import { f32, i64, vector } from "../../../../src/onnx/tensors.js";
import type { Graph, Tensor, Value } from "../../../../src/onnx/types.js";
import type { LossInputs } from "../../../../src/rl/objective.js";
import type { ScoredBatch } from "../../../../src/train/micro-batch.js";

/** A micro-batch with the log-probabilities [R] of its terms. */
export interface HeadInputs extends Pick<ScoredBatch, "batch" | "values"> {
  readonly logProbs: Float32Array;
}

/**
 * Runs an objective's loss head without the model: the log-probabilities are inputs, the hidden states are 0.
 * @param parameters of the objective's own head, for example log Z.
 * @returns the loss of each micro-batch, and its gradient [R] by the log-probability of each term.
 */
export async function runLossHead(
  { runtime, model }: Pick<Policy, "runtime" | "model">,
  trial: ObjectiveOnTrial,
  batches: readonly HeadInputs[],
  parameters: ReadonlyMap<string, Tensor>,
): Promise<{ readonly loss: number; readonly gradient: Float32Array }[]> {
  const outputs: { loss: number; gradient: Float32Array }[] = [];
  for (const inputs of batches) {
    const feeds = feedsOf(inputs, parameters, model.config.hidden_size);
    const graph = headGraph(trial, feeds, inputs.batch.segments, parameters);
    await runtime.load(SESSION, { bytes: runtime.encode(graph) });
    try {
      // a tensor that the loss does not read is not an input of the graph
      const used = Object.fromEntries(graph.inputs.map(({ name }) => [name, feeds[name] as Tensor]));
      const out = await runtime.run(SESSION, { feeds: used });
      outputs.push({ loss: Number(out.loss?.data[0]), gradient: out.gradient?.data as Float32Array });
    } finally {
      await runtime.unload(SESSION);
    }
  }
  return outputs;
}

const SESSION = "loss head";

function feedsOf(
  { batch, values, logProbs }: HeadInputs,
  parameters: ReadonlyMap<string, Tensor>,
  hiddenSize: number,
): Record<string, Tensor> {
  const [count, length] = batch.inputs.input_ids?.shape ?? [];
  const rows = (count ?? 0) * (length ?? 0);
  return {
    log_probs: vector(logProbs),
    coefficient: vector(batch.coefficient),
    segment: i64([batch.segment.length], batch.segment),
    old: vector(values.old),
    reference: vector(values.reference),
    advantage: vector(values.advantage),
    weight: vector(values.weight),
    units: vector(batch.units.map((n) => Math.max(1, n))),
    hidden: f32([rows, hiddenSize], new Float32Array(rows * hiddenSize)),
    ...values.extra,
    ...Object.fromEntries(parameters),
  };
}

type HeadValues = Omit<LossInputs, "e" | "logProbs" | "value" | "extra" | "parameters"> &
  Readonly<Record<"log_probs" | "segment", Value>>;

/** Builds a graph with the outputs `loss` and `gradient` [R], its derivative by the log-probabilities. */
function headGraph(
  { objective, options }: ObjectiveOnTrial,
  feeds: Readonly<Record<string, Tensor>>,
  segments: number,
  parameters: ReadonlyMap<string, Tensor>,
): Graph {
  const g = new GraphBuilder(SESSION);
  const e = new Emitter(g);
  const inputs = Object.fromEntries(
    Object.entries(feeds).map(([name, { dtype, shape }]) => [name, g.input(name, dtype, shape)]),
  );
  const { log_probs: logProbs, segment, ...given } = inputs as Record<string, Value> & HeadValues;
  const named = (names: Iterable<string>): Record<string, Value> =>
    Object.fromEntries([...names].map((name) => [name, inputs[name] as Value]));
  const value = segmentSums(e, e.mul(logProbs, given.coefficient), segment, segments);
  const extra = named(Object.keys(objective.inputs ?? {}));
  const { loss } = objective.loss(
    { ...given, e, logProbs, value, extra, parameters: named(parameters.keys()) },
    options,
  );
  g.output("loss", loss);
  g.output("gradient", backward(g, loss, [logProbs])[0] as Value);
  return g.build();
}
