import { backward } from "../../autodiff/backward.js";
import type { Batch } from "../../diffusion/batch.js";
import { segmentSums } from "../../engine/graphs.js";
import { Emitter } from "../../onnx/emit.js";
import { GraphBuilder } from "../../onnx/graph.js";
import type { Runtime } from "../../onnx/session.js";
import { f32, i64, vector } from "../../onnx/tensors.js";
import type { Graph, Tensor, Value } from "../../onnx/types.js";
import type { LossInputs, Objective } from "../../rl/objective.js";
import type { MicroBatch } from "../../train/micro-batch.js";
import type { ObjectiveOnTrial } from "../../verify/proof.js";

/** An objective whose loss is the sum of coefficient * score: its gradient is that of the scores, weighed. */
export const linearObjective: Objective = {
  name: "linear",
  description: "sum of coefficient * score",
  schema: undefined as unknown as Objective["schema"],
  learnsFrom: "rollouts",
  scoring: "steps",
  needs: () => ({ reference: false }),
  credit: (group) => group.map(() => null),
  layout(): Batch {
    throw new Error("the batches of this objective are given");
  },
  loss: ({ e, logProbs, coefficient }) => ({ loss: e.total(e.mul(logProbs, coefficient)), metrics: {} }),
};

/** The loss of a micro-batch and its gradient [R] by each term's log-probability. */
export interface HeadOutputs {
  readonly loss: number;
  readonly gradient: Float32Array;
}

/** A micro-batch with the log-probabilities [R] of its terms. */
export interface HeadInputs extends Pick<MicroBatch, "batch" | "values"> {
  readonly logProbs: Float32Array;
}

/**
 * Runs an objective's loss head alone, without a model: log-probabilities are its inputs.
 * @param parameters of the objective's own head. @param hiddenSize of the model's states, which are 0 here.
 */
export async function runLossHead(
  runtime: Runtime,
  trial: ObjectiveOnTrial,
  batches: readonly HeadInputs[],
  parameters: ReadonlyMap<string, Tensor>,
  hiddenSize: number,
): Promise<HeadOutputs[]> {
  const outputs: HeadOutputs[] = [];
  let loaded: { readonly shapes: string; readonly taken: ReadonlySet<string> } | undefined;
  try {
    for (const inputs of batches) {
      const feeds = feedsOf(inputs, parameters, hiddenSize);
      const shapes = JSON.stringify(Object.entries(feeds).map(([name, { shape }]) => [name, shape]));
      if (loaded?.shapes !== shapes) {
        if (loaded !== undefined) await runtime.unload(SESSION);
        loaded = undefined;
        const graph = headGraph(trial, feeds, inputs.batch.segments, parameters);
        await runtime.load(SESSION, { bytes: runtime.encode(graph) });
        loaded = { shapes, taken: new Set(graph.inputs.map(({ name }) => name)) };
      }
      const { taken } = loaded;
      const used = Object.fromEntries(Object.entries(feeds).filter(([name]) => taken.has(name)));
      const out = await runtime.run(SESSION, { feeds: used });
      outputs.push({ loss: Number(out.loss?.data[0]), gradient: out.gradient?.data as Float32Array });
    }
    return outputs;
  } finally {
    if (loaded !== undefined) await runtime.unload(SESSION);
  }
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

/** Outputs `loss`, and `gradient` [R] by the log-probabilities. */
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
  const of = (name: string): Value => inputs[name] as Value;
  const named = (names: Iterable<string>): Record<string, Value> =>
    Object.fromEntries([...names].map((name) => [name, of(name)]));
  const { loss } = objective.loss(
    {
      e,
      ...(named(["coefficient", "old", "reference", "advantage", "weight", "units"]) as Pick<
        LossInputs,
        "coefficient" | "old" | "reference" | "advantage" | "weight" | "units"
      >),
      logProbs: of("log_probs"),
      value: segmentSums(e, e.mul(of("log_probs"), of("coefficient")), of("segment"), segments),
      hidden: of("hidden"),
      extra: named(Object.keys(objective.inputs ?? {})),
      parameters: named(parameters.keys()),
    },
    options,
  );
  g.output("loss", loss);
  g.output("gradient", backward(g, loss, [of("log_probs")])[0] as Value);
  return g.build();
}
