import type { Rng } from "../core/rng.js";
import { Emitter } from "../onnx/emit.js";
import { GraphBuilder } from "../onnx/graph.js";
import { sizeOf } from "../onnx/shapes.js";
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
  /** Parts of the names of matrices that are not hidden layers: AdamW updates them. Default: none. */
  readonly tables?: readonly string[];
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

/** Tells whether Muon updates a parameter: only matrices of hidden layers; the others use AdamW (Jordan 2024). */
const usesMuon = ({ name, shape }: Parameter, tables: readonly string[], { kind }: OptimizerOptions): boolean =>
  kind === "muon" && shape.length === 2 && !tables.some((part) => name.includes(part));

/** Most elements of a stack: 4 MB of float32, so that no large copies of all parameters exist at once. */
const STACKED = 2 ** 20;

/** Parameters of one shape and rate, which are updated together. */
interface Stack {
  readonly rule: typeof adamw;
  /** Factor on the learning rate. */
  readonly scale: number;
  readonly members: Parameter[];
}

/**
 * Stacks parameters along their first axis where an elementwise rule updates them: the same results by few large
 * operations instead of many small ones, whose launches and loading take longer than their arithmetic.
 */
function stacksOf(groups: readonly ParameterGroup[], options: OptimizerOptions): Stack[] {
  const open = new Map<string, Stack>();
  const stacks: Stack[] = [];
  for (const { parameters, tables = [], learningRateScale: scale = 1 } of groups) {
    for (const p of parameters) {
      const rule = usesMuon(p, tables, options) ? muon : adamw;
      const key = `${scale}/${p.shape.join()}`;
      const stack = rule === adamw && p.shape.length > 0 ? open.get(key) : undefined;
      if (stack !== undefined && (stack.members.length + 1) * sizeOf(p.shape) <= STACKED) {
        stack.members.push(p);
        continue;
      }
      const started: Stack = { rule, scale, members: [p] };
      stacks.push(started);
      if (rule === adamw) open.set(key, started);
    }
  }
  return stacks;
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
  const gradients = new Map(parameters.map((p) => [p.name, g.input(slot.gradient(p.name), "float32", p.shape)]));
  const squares = [...gradients.values()].map((v) =>
    g.op("ReduceSumSquare", [v, g.ints(v.shape.map((_, i) => i))], { keepdims: 0 }),
  );
  const norm = e.sqrt(g.op("Sum", squares));
  g.output("grad_norm", norm);
  const finite = e.less(norm, 3e38);
  const factor = options.gradClip > 0 ? e.min(e.div(options.gradClip, e.add(norm, 1e-6)), 1) : g.scalar(1);
  for (const { rule, scale, members } of stacksOf(groups, options)) {
    g.scope((members[0] as Parameter).name, () => {
      const joined = (of: (p: Parameter) => Value): Value =>
        members.length === 1 ? of(members[0] as Parameter) : e.concat(members.map(of), 0);
      const input = (named: (name: string) => string): Value =>
        joined((p) => g.input(named(p.name), "float32", p.shape));
      const output = (named: (name: string) => string, next: Value, previous: Value): void => {
        const kept = e.where(finite, next, previous);
        const sizes = members.map((p) => p.shape[0] as number);
        const parts = members.length === 1 ? [kept] : e.split(kept, sizes, 0);
        members.forEach((p, i) => {
          g.output(slot.next(named(p.name)), parts[i] as Value);
        });
      };
      const lr = scale === 1 ? rate : e.mul(rate, scale);
      const parameter = input((name) => name);
      const [first, second] = [input(slot.first), input(slot.second)];
      const gradient = e.mul(
        joined((p) => gradients.get(p.name) as Value),
        factor,
      );
      const update = rule({ e, options, parameter, gradient, first, second, lr, correction1, correction2 });
      output((name) => name, update.parameter, parameter);
      output(slot.first, update.first, first);
      // Muon has one moment: its second is an unread zero, so that both rules share one checkpoint layout
      output(slot.second, update.second, second);
    });
  }
  return g.build();
}
