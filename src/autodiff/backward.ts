import { fail, UserError } from "../core/errors.js";
import { Emitter } from "../onnx/emit.js";
import type { GraphBuilder } from "../onnx/graph.js";
import type { OpName } from "../onnx/ops.js";
import { formatShape, isStatic, sameShape } from "../onnx/shapes.js";
import type { Dim, Node, Value } from "../onnx/types.js";
import { Recompute, type Recomputed } from "./recompute.js";
import { RuleContext } from "./rule.js";
import { NO_GRADIENT, NO_RULE, RULES } from "./rules.js";
import { SelectiveRecompute } from "./selective.js";

const DIFFERENTIABLE = new Set(["float32", "float64", "float16", "bfloat16"]);

/**
 * Appends to `g` the gradient of the scalar `loss` with respect to each of `wrt` (reverse mode).
 *
 * Only nodes on a path from some `wrt` to `loss` are visited, so dead gradients are never built.
 * @param initial gradients to add to (accumulation over micro-batches), by parameter name, of the parameter's shape.
 * @param recomputed activations to recompute instead of keeping them: less memory, more time.
 * @returns one gradient per parameter, in the order of `wrt`; zeros where the loss does not depend on it.
 * @throws UserError naming op, node and parameter where a rule is missing.
 */
export function backward(
  g: GraphBuilder,
  loss: Value,
  wrt: readonly Value[],
  initial: ReadonlyMap<string, Value> = new Map(),
  { layers, cheap }: Recomputed = {},
): Value[] {
  if (!isStatic(loss.shape) || loss.shape.length !== 0)
    throw new Error(`the loss must be a scalar, got ${formatShape(loss.shape)}`);
  const e = new Emitter(g);
  const forward = [...g.nodes];
  const source = dependents(forward, wrt, g.stopped);
  const gradients = new Map<string, Value>(initial);
  const recompute = layers === undefined ? undefined : new Recompute(g, forward, wrt, initial, layers);
  const selective = cheap === undefined ? undefined : new SelectiveRecompute(g, cheap);
  gradients.set(loss.name, g.scalar(1, loss.dtype));

  for (let i = forward.length - 1; i >= 0; i--) {
    const node = forward[i] as Node;
    if (!node.outputs.some((o) => gradients.has(o.name))) continue;
    const wanted = node.inputs.map((v) => v !== undefined && source.has(v.name) && DIFFERENTIABLE.has(v.dtype));
    if (!wanted.includes(true)) continue;
    const rule = RULES[node.op as OpName];
    if (rule === NO_GRADIENT) continue;
    if (rule === undefined || rule === NO_RULE) throw missingRule(node, loss, source);
    const whole = recompute?.node(node, gradients) ?? node;
    g.scope("grad", () =>
      g.scope(node.name.replace(/^\//, ""), () => {
        const behind = node.outputs.map((o) => gradients.get(o.name)).find((v) => v !== undefined) as Value;
        // a layer that is recomputed as a whole needs no selective recomputation
        const read = whole === node ? (selective?.node(node, behind) ?? node) : whole;
        const context = new RuleContext(
          g,
          read,
          node.outputs.map((o) => gradients.get(o.name)),
          node,
          (other) => recompute?.reread(other) ?? other,
        );
        const thunks = rule(context);
        node.inputs.forEach((input, k) => {
          if (input === undefined || !wanted[k]) return;
          const thunk = thunks[k];
          if (thunk === null)
            fail(
              `No gradient rule for input ${k} (${input.name}) of ${node.op} at ${node.name}, which depends on ${source.get(input.name)}.`,
              { hint: "Leave the module that it depends on out of lora.targets." },
            );
          if (thunk === undefined)
            throw new Error(`the rule of ${node.op} gives ${thunks.length} gradients for ${node.inputs.length} inputs`);
          const of = thunk.of ?? input;
          const accumulated = gradients.get(of.name);
          if (accumulated !== undefined && thunk.fused) {
            gradients.set(of.name, thunk(accumulated));
            return;
          }
          const gradient = unbroadcast(e, thunk(), of.shape);
          gradients.set(of.name, accumulated === undefined ? gradient : e.add(accumulated, gradient));
        });
      }),
    );
  }
  return wrt.map((p) => gradients.get(p.name) ?? e.zeros(p.shape, p.dtype));
}

/**
 * Names of all values that depend on a parameter, each with one such parameter (for messages). Integers and booleans
 * pass nothing on: no gradient flows through them, nor through what is `stopped`.
 */
function dependents(nodes: readonly Node[], wrt: readonly Value[], stopped: ReadonlySet<string>): Map<string, string> {
  const source = new Map(wrt.map((p) => [p.name, p.name]));
  for (const node of nodes) {
    for (const input of node.inputs) {
      const parameter = input === undefined ? undefined : source.get(input.name);
      if (parameter === undefined) continue;
      for (const { name, dtype } of node.outputs)
        if (DIFFERENTIABLE.has(dtype) && !stopped.has(name)) source.set(name, parameter);
      break;
    }
  }
  return source;
}

/** Sums over the axes that were broadcast. */
function unbroadcast(e: Emitter, gradient: Value, shape: readonly Dim[]): Value {
  if (sameShape(gradient.shape, shape)) return gradient;
  const lead = gradient.shape.length - shape.length;
  const axes = gradient.shape.flatMap((d, i) => (i < lead || (shape[i - lead] === 1 && d !== 1) ? [i] : []));
  const summed = axes.length === 0 ? gradient : e.sum(gradient, axes);
  return sameShape(summed.shape, shape) ? summed : e.reshape(summed, shape);
}

function missingRule(node: Node, loss: Value, source: ReadonlyMap<string, string>): UserError {
  const parameter = node.inputs.map((v) => v && source.get(v.name)).find((p) => p !== undefined);
  return new UserError(`No gradient rule for ${node.op} at ${node.name} (needed from ${loss.name} to ${parameter}).`, {
    hint: "Leave the modules before it out of lora.targets, or export the model without it; docs/extending.md says how a rule is added.",
  });
}
