import type { Emitter } from "../../src/onnx/emit.js";
import { rewritten } from "../../src/onnx/passes/written-out.js";
import type { Graph, Value } from "../../src/onnx/types.js";

/** Returns 0, 1, ... below a dimension of x. */
function upTo(e: Emitter, x: Value, axis = 0): Value {
  const ones = e.g.op("Expand", [e.g.ints([1]), e.g.op("Shape", [x], { start: axis, end: axis + 1 })]);
  return e.g.op("CumSum", [ones, e.g.scalar(0, "int64")], { exclusive: 1 });
}

/** Sequence and place of each of T tokens, from the inputs of PagedAttention. */
function tokensOf(e: Emitter, tokens: Value, starts: Value, kept: Value, lanes: Value) {
  const [t, a] = [upTo(e, tokens), upTo(e, kept)];
  const [first, past, lane] = [starts, kept, e.reshape(lanes, [-1])].map((v) => e.cast(v, "int64")) as Value[];
  const [begins, ends] = [a, e.add(a, 1)].map((i) => e.gather(first as Value, i)) as [Value, Value];
  const isBehind = e.greaterOrEqual(e.unsqueeze(t, [1]), e.unsqueeze(ends, [0]));
  const owner = e.sum(e.cast(isBehind, "int64"), [1], false);
  const of = (v: Value): Value => e.gather(v, owner);
  const at = e.add(of(past as Value), e.sub(t, of(begins)));
  const lengths = e.add(past as Value, e.sub(ends, begins));
  return {
    t,
    ends,
    owner,
    lane: lane as Value,
    lengths,
    slots: [of(lane as Value), at].map((v) => e.unsqueeze(v, [1])),
  };
}

/**
 * Replaces PagedAttention, which the CPU has not, by ScatterND and the standard's Attention, which is causal to the end
 * of each row's keys: queries are padded at the front, to as many as a lane has keys.
 */
export function withoutPages(graph: Graph): Graph {
  if (!graph.nodes.some(({ op }) => op === "PagedAttention")) return graph;
  const written = rewritten(graph, (node, write, names) => {
    if (node.op !== "PagedAttention") return [node];
    const [q, k, v, pastKeys, pastValues, starts, kept, lanes] = node.inputs as Value[] as [Value, Value, ...Value[]];
    const [context, keys, values] = node.outputs as [Value, Value, Value];
    const layout = [starts, kept, lanes] as Value[];
    const [lane, heads, width] = (pastKeys as Value).shape.slice(1) as [string, number, number];
    const value = (part: string, shape: Value["shape"], dtype: Value["dtype"] = "float32"): Value => ({
      name: names.fresh(`${node.name}/${part}`),
      dtype,
      shape,
    });
    const part = (name: string, inputs: readonly (Value | undefined)[]) => ({
      ...node,
      name: `${node.name}/${name}`,
      inputs: [...inputs, ...layout],
    });
    const scattered = (name: string, past: Value | undefined, x: Value | undefined, output: Value) =>
      write(part(name, [past, x]), output, (e, old, ...rest) => {
        const [fresh, ...where] = rest as [Value, Value, Value, Value];
        const { slots } = tokensOf(e, fresh, ...where);
        return e.g.op("ScatterND", [old, e.concat(slots, 1), e.reshape(fresh, [-1, heads, width])]);
      });
    const columns = q.shape[1] as number;
    const rows = value("rows", ["A", lane, columns]);
    const [seenKeys, seenValues] = ["k", "v"].map((name) => value(name, ["A", lane, heads * width])) as [Value, Value];
    const lengths = value("lengths", ["A"], "int64");
    const attended = value("attended", ["A", lane, columns]);
    const seen = (all: Value, output: Value) =>
      write(part(`${output.name}/of`, [all]), output, (e, x, ...where) => {
        const gathered = e.gather(x, e.cast(e.reshape(where[2] as Value, [-1]), "int64"));
        return e.reshape(gathered, [0, 0, heads * width]);
      });
    return [
      ...scattered("keys", pastKeys, k, keys),
      ...scattered("values", pastValues, v, values),
      ...seen(keys, seenKeys),
      ...seen(values, seenValues),
      ...write(
        part("lengths", [q]),
        lengths,
        (e, x, ...where) => tokensOf(e, x, ...(where as [Value, Value, Value])).lengths,
      ),
      ...write(part("rows", [q, pastKeys]), rows, (e, x, ...rest) => {
        const [past, ...where] = rest as [Value, Value, Value, Value];
        const { ends } = tokensOf(e, x, ...where);
        const size = e.g.op("Shape", [past], { start: 1, end: 2 });
        return e.gather(x, e.max(e.add(e.unsqueeze(e.sub(ends, size), [1]), e.unsqueeze(upTo(e, past, 1), [0])), 0));
      }),
      {
        name: `${node.name}/attention`,
        op: "Attention",
        domain: "",
        inputs: [rows, seenKeys, seenValues, undefined, undefined, undefined, lengths],
        outputs: [attended],
        attributes: {
          is_causal: 1,
          q_num_heads: columns / width,
          kv_num_heads: heads,
          scale: node.attributes.scale as number,
        },
      },
      ...write(part("context", [attended, q, pastKeys]), context, (e, y, ...rest) => {
        const [x, past, ...where] = rest as [Value, Value, Value, Value, Value];
        const { t, ends, owner } = tokensOf(e, x, ...where);
        const size = e.g.op("Shape", [past], { start: 1, end: 2 });
        const place = e.sub(e.add(t, size), e.gather(ends, owner));
        return e.gather(e.reshape(y, [-1, columns]), e.add(e.mul(owner, size), place));
      }),
    ];
  });
  return { ...written, opset: 24 };
}
