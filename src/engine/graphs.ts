import { biasShape } from "../attention/bias.js";
import { PRESENT } from "../attention/keys.js";
import { backward } from "../autodiff/backward.js";
import { ALL_LAYERS, type Recomputed } from "../autodiff/recompute.js";
import { pickLogProb } from "../diffusion/head.js";
import type { Batch } from "../diffusion/layout/batch.js";
import type { RoundHead } from "../diffusion/sampler.js";
import type { ScoreHead } from "../diffusion/score-head.js";
import { type BoundModel, bindModel, HIDDEN } from "../nn/bind.js";
import type { LoraOptions } from "../nn/lora.js";
import type { Emitter } from "../onnx/emit.js";
import type { RawModel } from "../onnx/format/raw-model.js";
import type { InputSpecs, NamedTensors } from "../onnx/tensors.js";
import type { Dim, Graph, Value } from "../onnx/types.js";
import { type Parameter, slot } from "../optim/optimizer.js";
import type { Critic, LossInputs, Objective } from "../rl/objective.js";

/** The derived graphs: rollout_model, eval_model (scoring) and training_model. They depend on shapes, not on tokens. */

/** A model with the choice of its trained parameters. */
export interface TrainedModel {
  readonly graph: RawModel;
  /** Undefined: every weight of the model is a parameter (and a graph input), instead of an adapter. */
  readonly lora: LoraOptions | undefined;
  /** Leaves the adapter out, for one that has no effect. */
  readonly unadapted?: boolean;
  /** Values that the backward pass recomputes; default: only large attention weights. */
  readonly recomputed?: Recomputed;
  /** Most attention scores that are computed in one piece; default 0. */
  readonly wholeScores?: number;
  /** Facts of the model for heads, passed on from the sampler. */
  readonly about: unknown;
}

/** An objective with its options and its own parameters. */
export interface TrainedObjective<Options = unknown> {
  readonly objective: Objective<Options>;
  readonly options: Options;
  /** Parameters of the objective's groups, trained beside the model. */
  readonly parameters: readonly Parameter[];
  readonly critic?: Critic | undefined;
}

/** Sizes of a graph: the model's own dimensions by symbol, R rows through the head, S segments; symbols stay open. */
export interface GraphShape {
  /** Undefined: all stay open. */
  readonly dims: Readonly<Record<string, number>> | undefined;
  /** Undefined: the head reads all of the model's output. */
  readonly rows: Dim | undefined;
  /** R: scored terms. */
  readonly terms: Dim;
  readonly segments: Dim;
  /** No token sees a later one. */
  readonly causal?: boolean;
  /** Inputs of the loss that are the trained policy's own log-probability, without gradient, instead of inputs of the graph. */
  readonly onPolicy?: readonly ("old" | "reference")[];
}

/** Returns the sizes of a batch. */
export function shapeOf(model: RawModel, batch: Batch): GraphShape {
  return {
    dims: dimensionsOf(model, batch.inputs),
    rows: batch.inputs.rows?.shape[0],
    terms: batch.coefficient.length,
    segments: batch.segments,
    causal: batch.causal ?? false,
  };
}

/** Opens the sizes that one graph can serve: gathered rows, and sequences that share keys. */
export function openShape(shape: GraphShape, { inputs }: Batch): GraphShape {
  if (inputs.rows === undefined) return shape;
  const gathered = { ...shape, rows: "R", terms: "R", segments: "S" };
  return inputs.keys === undefined ? gathered : { ...gathered, dims: undefined };
}

/** Binds the symbols of a model's inputs to the sizes of the given tensors; B and N are those of input_ids. */
export function dimensionsOf(model: Pick<RawModel, "inputs">, inputs: NamedTensors): Record<string, number> {
  const [batch, length] = inputs.input_ids?.shape ?? [];
  const dims: Record<string, number> = batch === undefined || length === undefined ? {} : { B: batch, N: length };
  for (const { name, shape } of model.inputs) {
    const given = name === "attention_bias" ? biasShape(inputs) : inputs[name]?.shape;
    shape.forEach((d, axis) => {
      if (typeof d === "string" && given !== undefined) dims[d] ??= given[axis] as number;
    });
  }
  return dims;
}

function bind(
  model: TrainedModel,
  name: string,
  shape: Pick<GraphShape, "dims" | "rows" | "causal"> | undefined,
  { differentiated = false, fromHidden = false } = {},
): BoundModel {
  const rows = shape === undefined ? "R" : shape.rows;
  return bindModel(model.graph, name, {
    ...(shape?.dims === undefined ? {} : { dims: shape.dims }),
    ...(rows === undefined ? {} : { rows }),
    fromHidden,
    causal: shape?.causal
      ? {
          whole: model.wholeScores ?? 0,
          // a layer that is recomputed as a whole needs no selective recomputation
          recompute: differentiated && model.recomputed?.layers !== ALL_LAYERS,
        }
      : undefined,
    weights: model.lora === undefined ? "input" : "constant",
    ...(model.lora === undefined || model.unadapted === true ? {} : { lora: model.lora }),
  });
}

/** Declares a head's inputs, with the number of its rows for `R`. */
function declare(
  { g }: BoundModel,
  specs: InputSpecs,
  rows: Dim,
  dims: Readonly<Record<string, Dim>> = {},
): Record<string, Value> {
  const bound = (d: Dim): Dim => (d === "R" ? rows : typeof d === "string" ? (dims[d] ?? d) : d);
  return Object.fromEntries(
    Object.entries(specs).map(([name, { dtype, shape }]) => [name, g.input(name, dtype, shape.map(bound))]),
  );
}

/**
 * Builds rollout_model: one round of a batch; its outputs are those of the sampler's head for every row.
 * @param shape undefined: all sizes stay open, as a model with a past needs, whose keys and values are outputs.
 */
export function rolloutGraph(
  model: TrainedModel,
  shape: Pick<GraphShape, "dims" | "rows"> | undefined,
  head: RoundHead<unknown, unknown>,
): Graph {
  const m = bind(model, "rollout_model", shape);
  emitRound(m, model, shape === undefined ? "R" : (shape.rows ?? 1), head, shape?.dims);
  outputPresent(m);
  return m.g.build();
}

/** Builds the part of rollout_model before the head, with the output `hidden` [B*N, D]. @param dims as in `rolloutGraph`. */
export function hiddenGraph(model: TrainedModel, dims: GraphShape["dims"]): Graph {
  const m = bind(model, "hidden_model", dims && { dims, rows: undefined });
  if (m.hidden === undefined) throw new Error(`the model ${model.graph.name} has no output head`);
  m.g.output(HIDDEN, m.hidden);
  outputPresent(m);
  return withReadInputs(m.g.build());
}

/** Builds the rest of rollout_model, for any number R of rows of the input `hidden`. */
export function headGraph(model: TrainedModel, dims: GraphShape["dims"], head: RoundHead<unknown, unknown>): Graph {
  const m = bind(model, "head_model", dims && { dims, rows: "R" }, { fromHidden: true });
  emitRound(m, model, "R", head, dims);
  return withReadInputs(m.g.build());
}

function emitRound(
  m: BoundModel,
  { about }: TrainedModel,
  rows: Dim,
  head: RoundHead<unknown, unknown>,
  dims: GraphShape["dims"],
): void {
  const inputs = declare(m, head.inputs, rows, dims);
  m.g.scope("sample", () => head.emit(m.e, m.outputs, inputs, about));
}

/** Declares the keys and values of a model with a past as outputs. */
function outputPresent({ g, outputs }: BoundModel): void {
  for (const [name, value] of Object.entries(outputs)) if (name.startsWith(PRESENT)) g.output(name, value);
}

/** Leaves out the inputs that no node reads. */
function withReadInputs(graph: Graph): Graph {
  const read = new Set(graph.nodes.flatMap(({ inputs }) => inputs.map((v) => v?.name)));
  return { ...graph, inputs: graph.inputs.filter(({ name }) => read.has(name)) };
}

interface Scored {
  readonly logProbs: Value;
  readonly coefficient: Value;
  readonly logProb: Value;
  readonly units: Value;
  readonly entropy: LossInputs["entropy"];
}

/** Emits the scores [R] of the terms by a head, and their segment sums [S]. */
function emitScores(m: BoundModel, { about }: TrainedModel, shape: GraphShape, head: ScoreHead<unknown>): Scored {
  const { g, e } = m;
  const inputs = declare(m, head.inputs, shape.terms, shape.dims);
  const outputs = m.hidden === undefined ? m.outputs : { ...m.outputs, hidden: m.hidden };
  const coefficient = g.input("coefficient", "float32", [shape.terms]);
  const segment = g.input("segment", "int64", [shape.terms]);
  const units = g.input("units", "float32", [shape.segments]);
  return g.scope("score", () => {
    const drawn = head.distribution?.(e, outputs, inputs, about);
    const logProbs =
      drawn === undefined ? head.emit(e, outputs, inputs, about) : pickLogProb(e, drawn, inputs.targets as Value);
    const sums = (terms: Value): Value => segmentSums(e, terms, segment, shape.segments);
    const logProb = sums(e.mul(logProbs, coefficient));
    const entropy =
      drawn && (() => e.div(sums(e.mul(entropyOf(e, drawn), coefficient)), e.max(sums(coefficient), LEAST_DIVISOR)));
    return { logProbs, coefficient, logProb, units, entropy };
  });
}

/** Least divisor of a segment's mean: the coefficients of a padding segment add up to 0. */
const LEAST_DIVISOR = 1e-6;

/** Entropies [R] of distributions, from their log-probabilities [R, V]; impossible tokens add nothing. */
export const entropyOf = (e: Emitter, logProbs: Value): Value =>
  e.neg(e.sum(e.mul(e.exp(logProbs), logProbs), [1], false));

/** Sums the terms [R] of each segment; `segment` is [R], the result [segments]. */
export const segmentSums = (e: Emitter, terms: Value, segment: Value, segments: Dim): Value =>
  e.g.op("ScatterElements", [e.zeros([segments], "float32"), segment, terms], { axis: 0, reduction: "add" });

/** Builds eval_model with the outputs `logProbs` [R] and `logProb` [S]. */
export function scoreGraph(model: TrainedModel, shape: GraphShape, head: ScoreHead<unknown>): Graph {
  const m = bind(model, "eval_model", shape);
  const scored = emitScores(m, model, shape, head);
  m.g.output("logProbs", scored.logProbs);
  m.g.output("logProb", scored.logProb);
  return m.g.build();
}

/**
 * Builds training_model: scalar `loss`, the objective's metrics, and `grad/<parameter>` = `acc/<parameter>` + gradient.
 * @param reductions receives how each metric combines over micro-batches.
 */
export function trainingGraph<O>(
  model: TrainedModel,
  shape: GraphShape,
  head: ScoreHead<unknown>,
  { objective, options, parameters, critic }: TrainedObjective<O>,
  reductions: Map<string, "sum" | "max">,
): Graph {
  const m = bind(model, "training_model", shape, { differentiated: true });
  const { g, e } = m;
  const scored = emitScores(m, model, shape, head);
  const perSegment = (name: string): Value => g.input(name, "float32", [shape.segments]);
  const compared = (name: "old" | "reference"): Value =>
    shape.onPolicy?.includes(name) ? e.stopGradient(scored.logProb) : perSegment(name);
  const ofObjective = parameters.map((p) => g.input(p.name, "float32", p.shape));
  const inputs: LossInputs = {
    e,
    ...scored,
    old: compared("old"),
    reference: compared("reference"),
    advantage: perSegment("advantage"),
    weight: perSegment("weight"),
    hidden: m.hidden,
    extra: declare(m, { ...objective.inputs, ...critic?.inputs }, shape.terms, { ...shape.dims, S: shape.segments }),
    parameters: Object.fromEntries(ofObjective.map((value) => [value.name, value])),
  };
  const { loss, metrics } = g.scope("loss", () => objective.loss(inputs, options));
  const trained = [...m.parameters, ...ofObjective];
  const initial = new Map(trained.map((p) => [p.name, g.input(accumulator(p.name), "float32", p.shape)]));
  const gradients = backward(g, loss, trained, initial, model.recomputed);
  g.output("loss", loss);
  for (const [name, metric] of Object.entries(metrics)) {
    g.output(name, metric.value);
    reductions.set(name, metric.reduce);
  }
  trained.forEach((p, i) => {
    g.output(slot.gradient(p.name), gradients[i] as Value);
  });
  return g.build();
}

/** The input with a parameter's accumulated gradient. */
export const accumulator = (parameter: string): string => `acc/${parameter}`;
