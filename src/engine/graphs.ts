import { backward } from "../autodiff/backward.js";
import type { RoundHead } from "../diffusion/sampler.js";
import type { ScoreHead } from "../diffusion/score-head.js";
import type { TokenIds } from "../diffusion/tokens.js";
import { type BoundModel, bindModel } from "../nn/bind.js";
import type { LoraOptions } from "../nn/lora.js";
import { PRESENT } from "../nn/past.js";
import type { Emitter } from "../onnx/emit.js";
import type { RawModel } from "../onnx/raw-model.js";
import type { Dim, Graph, Value } from "../onnx/types.js";
import { slot } from "../optim/optimizer.js";
import type { LossInputs, Objective } from "../rl/objective.js";

/** The derived graphs: rollout_model, eval_model (scoring) and training_model. */

export interface Trainable {
  readonly lora: LoraOptions | undefined;
  /** Every weight of the model is a parameter (and a graph input), instead of an adapter. */
  readonly full: boolean;
  /** Gradient checkpointing: layers are computed again in the backward pass. */
  readonly checkpoint?: boolean;
}

/** Static sizes: B sequences of N tokens, R rows through the head, S segments. */
export interface GraphShape {
  readonly batch: number;
  readonly length: number;
  readonly rows: number;
  readonly segments: number;
  /** No token sees one behind it. */
  readonly causal?: boolean;
}

function bind(
  model: RawModel,
  name: string,
  shape: Omit<GraphShape, "segments"> | undefined,
  trainable: Trainable,
  differentiated = false,
): BoundModel {
  return bindModel(model, name, {
    ...(shape === undefined ? {} : { dims: { B: shape.batch, N: shape.length } }),
    rows: shape?.rows ?? "R",
    // a layer that is computed again as a whole needs nothing computed again in it
    causal: shape?.causal ? { recompute: differentiated && !trainable.checkpoint } : undefined,
    weights: trainable.full ? "input" : "constant",
    ...(trainable.lora === undefined ? {} : { lora: trainable.lora }),
  });
}

/**
 * rollout_model: one round of a batch; its outputs are what the sampler's head says of every row.
 * @param shape undefined: all sizes stay open, as they must for a model with a past, whose keys and values are outputs.
 */
export function rolloutGraph(
  model: RawModel,
  shape: Omit<GraphShape, "segments"> | undefined,
  trainable: Trainable,
  tokens: TokenIds,
  head: RoundHead<unknown>,
): Graph {
  const m = bind(model, "rollout_model", shape, trainable);
  const rows = m.logits.shape[0] as Dim;
  const inverseTemperature = m.g.input("inverse_temperature", "float32", []);
  const uniform = m.g.input("uniform", "float32", [rows]);
  const features = featureInputs(m, head, rows);
  m.g.scope("sample", () => head.emit(m.e, m.logits, { inverseTemperature, uniform, features }, tokens));
  for (const [name, value] of m.others) if (name.startsWith(PRESENT)) m.g.output(name, value);
  return m.g.build();
}

function featureInputs(
  { g }: BoundModel,
  { features }: { readonly features: Readonly<Record<string, "float32" | "int64">> },
  rows: Dim,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(features).map(([name, dtype]) => [name, g.input(name, dtype, [rows])]));
}

interface Scored {
  readonly logProbs: Value;
  readonly coefficient: Value;
  readonly value: Value;
}

/** Scores [R] of the targets by a head, and their segment sums [S]. */
function emitScores(m: BoundModel, shape: GraphShape, tokens: TokenIds, head: ScoreHead): Scored {
  const { g, e } = m;
  const inverseTemperature = g.input("inverse_temperature", "float32", []);
  const targets = g.input("targets", "int64", [shape.rows]);
  const features = featureInputs(m, head, shape.rows);
  const coefficient = g.input("coefficient", "float32", [shape.rows]);
  const segment = g.input("segment", "int64", [shape.rows]);
  return g.scope("score", () => {
    const logProbs = head.emit(e, m.logits, { targets, inverseTemperature, features }, tokens);
    const value = segmentSums(e, e.mul(logProbs, coefficient), segment, shape.segments);
    return { logProbs, coefficient, value };
  });
}

/** Sums [segments] of the terms [R] that belong to each segment [R]. */
export function segmentSums(e: Emitter, terms: Value, segment: Value, segments: number): Value {
  return e.g.op("ScatterElements", [e.zeros([segments], "float32"), segment, terms], { axis: 0, reduction: "add" });
}

/** eval_model: outputs `log_probs` [R] and `value` [S]. */
export function scoreGraph(
  model: RawModel,
  shape: GraphShape,
  trainable: Trainable,
  tokens: TokenIds,
  head: ScoreHead,
): Graph {
  const m = bind(model, "eval_model", shape, trainable);
  const scored = emitScores(m, shape, tokens, head);
  m.g.output("log_probs", scored.logProbs);
  m.g.output("value", scored.value);
  return m.g.build();
}

/**
 * training_model: scalar `loss`, the objective's metrics, and `grad/<parameter>` = `acc/<parameter>` + gradient.
 * @param reductions filled with how each metric combines over micro-batches.
 */
export function trainingGraph<O>(
  model: RawModel,
  shape: GraphShape,
  trainable: Trainable,
  tokens: TokenIds,
  head: ScoreHead,
  objective: Objective<O>,
  options: O,
  reductions: Map<string, "sum" | "max">,
): Graph {
  const m = bind(model, "training_model", shape, trainable, true);
  const { g, e } = m;
  const scored = emitScores(m, shape, tokens, head);
  const perSegment = (name: string): Value => g.input(name, "float32", [shape.segments]);
  const inputs: LossInputs = {
    e,
    ...scored,
    old: perSegment("old"),
    reference: perSegment("reference"),
    advantage: perSegment("advantage"),
    weight: perSegment("weight"),
    tokens: perSegment("tokens"),
  };
  const { loss, metrics } = g.scope("loss", () => objective.loss(inputs, options));
  const initial = new Map(m.parameters.map((p) => [p.name, g.input(accumulator(p.name), "float32", p.shape)]));
  const gradients = backward(g, loss, m.parameters, initial, trainable.checkpoint);
  g.output("loss", loss);
  for (const [name, metric] of Object.entries(metrics)) {
    g.output(name, metric.value);
    reductions.set(name, metric.reduce);
  }
  m.parameters.forEach((p, i) => {
    g.output(slot.gradient(p.name), gradients[i] as Value);
  });
  return g.build();
}

/** The input that holds a parameter's gradient so far. */
export function accumulator(parameter: string): string {
  return `acc/${parameter}`;
}
