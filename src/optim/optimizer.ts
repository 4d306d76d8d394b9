import type { Rng } from "../core/rng.js";
import { Emitter } from "../onnx/emit.js";
import { GraphBuilder } from "../onnx/graph.js";
import type { Graph, Tensor, Value } from "../onnx/types.js";
import { adamw } from "./adamw.js";
import { muon } from "./muon.js";
import type { OptimizerOptions } from "./update-rule.js";

export interface Parameter {
  readonly name: string;
  readonly shape: readonly number[];
}

/** Tensors that are trained together and saved in a file of their own. */
export interface ParameterGroup {
  /** `adapter`, `weights`, or an objective's own name. */
  readonly name: string;
  readonly parameters: readonly Parameter[];
  /** Factor on the learning rate; default 1. */
  readonly learningRateScale?: number;
  /** True where the reference policy has a frozen copy of them; default: only the loss reads them. */
  readonly inReference?: boolean;
  /** Returns fresh values by name; absent for the model's own group, which is initialised elsewhere. */
  initial?(rng: Rng): ReadonlyMap<string, Tensor>;
}

/** Names of a parameter's inputs and outputs in the optimizer graph. */
export const slot = {
  gradient: (name: string): string => `grad/${name}`,
  first: (name: string): string => `m/${name}`,
  second: (name: string): string => `v/${name}`,
  next: (io: string): string => `next/${io}`,
};

/**
 * Matches matrices that are not hidden layers, by the names of the architectures here: embeddings and heads are tables
 * of vectors, and the rows of an adaLN modulation are gains, shifts and gates, each with its own scale.
 */
const TABLE = /embed|lm_head|output_layer|modulation/;

/** Tells whether Muon updates a parameter: only matrices of hidden layers; the others use AdamW (Jordan 2024). */
function usesMuon(parameter: Parameter, options: OptimizerOptions): boolean {
  return options.kind === "muon" && parameter.shape.length === 2 && !TABLE.test(parameter.name);
}

/**
 * Builds optimizer_model.onnx: inputs are parameters, gradients and moments, outputs their next values and `grad_norm`.
 *
 * All gradients are scaled together to a global norm of `gradClip` (Pascanu et al. 2013). A norm that is not finite
 * leaves all values unchanged; the caller reads it in `grad_norm`.
 */
export function optimizerGraph(groups: readonly ParameterGroup[], options: OptimizerOptions): Graph {
  const parameters = groups.flatMap((group) => group.parameters);
  const g = new GraphBuilder("optimizer_model");
  const e = new Emitter(g);
  const rate = g.input("lr", "float32", []);
  const correction1 = g.input("correction1", "float32", []);
  const correction2 = g.input("correction2", "float32", []);
  const gradients = parameters.map((p) => g.input(slot.gradient(p.name), "float32", p.shape));
  const squares = gradients.map((v) => g.op("ReduceSumSquare", [v, g.ints(v.shape.map((_, i) => i))], { keepdims: 0 }));
  const norm = e.sqrt(g.op("Sum", squares));
  g.output("grad_norm", norm);
  const finite = e.less(norm, 3e38);
  const factor = options.gradClip > 0 ? e.min(e.div(options.gradClip, e.add(norm, 1e-6)), 1) : g.scalar(1);
  const scales = groups.flatMap(({ parameters, learningRateScale = 1 }) => parameters.map(() => learningRateScale));
  parameters.forEach((p, i) => {
    g.scope(p.name, () => {
      const scale = scales[i] as number;
      const lr = scale === 1 ? rate : e.mul(rate, scale);
      const parameter = g.input(p.name, "float32", p.shape);
      const first = g.input(slot.first(p.name), "float32", p.shape);
      const second = g.input(slot.second(p.name), "float32", p.shape);
      const rule = usesMuon(p, options) ? muon : adamw;
      const gradient = e.mul(gradients[i] as Value, factor);
      const update = rule({ e, options, parameter, gradient, first, second, lr, correction1, correction2 });
      g.output(slot.next(p.name), e.where(finite, update.parameter, parameter));
      g.output(slot.next(slot.first(p.name)), e.where(finite, update.first, first));
      // Muon has one moment: its second is an unread zero, so that both rules share one checkpoint layout
      g.output(slot.next(slot.second(p.name)), e.where(finite, update.second, second));
    });
  });
  return g.build();
}
