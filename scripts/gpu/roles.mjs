/** What the nodes of profiled sessions do, in launches and bytes: the passes between the products cost as much as these. */
const BYTES = { float: 4, bfloat16: 2, float16: 2, int64: 8, int32: 4, uint8: 1, bool: 1, double: 8 };
const ROLES = {
  products: ["Gemm", "MatMul", "MatMulBnb4"],
  casts: ["Cast"],
  elementwise: [
    ...["Add", "Sub", "Mul", "Div", "Neg", "Abs", "Exp", "Log", "Sqrt", "Reciprocal", "Sin", "Cos", "Tanh", "Sigmoid"],
    ...["Clip", "Where", "Min", "Max", "Pow", "Erf", "QuickGelu", "RotaryEmbedding", "Equal", "Less", "Greater", "Not"],
    ...["LessOrEqual", "GreaterOrEqual", "And", "Or", "Sum"],
  ],
  sums: [
    ...["ReduceSum", "ReduceMax", "ReduceMean", "Softmax", "LogSoftmax", "SimplifiedLayerNormalization", "TopK"],
    ...["CumSum", "ArgMax", "LayerNormalization", "SkipSimplifiedLayerNormalization"],
  ],
};
/** Nodes that launch nothing. */
const FREE = new Set(["Reshape", "Squeeze", "Unsqueeze", "Flatten", "Shape", "Identity"]);
/** Nodes that read as much of their first input as they write. */
const LOOKUPS = new Set(["Gather", "GatherElements", "GatherND", "Slice", "Split"]);
const ROLE_OF = new Map(Object.entries(ROLES).flatMap(([role, ops]) => ops.map((op) => [op, role])));

const sizeOf = (shape) => shape.reduce((n, d) => n * d, 1);
const tensors = (types = []) => types.flatMap((of) => Object.entries(of).map(([type, shape]) => ({ type, shape })));
const bytesOf = (all) => all.reduce((n, { type, shape }) => n + sizeOf(shape) * (BYTES[type] ?? 4), 0);

/** Arithmetic of a product, and the bytes that a 4-bit matrix takes when it is decoded in memory. */
function product(op, [a, b], [y]) {
  const out = sizeOf(y.shape);
  if (op === "MatMulBnb4") {
    const weights = 2 * sizeOf(b.shape);
    const rows = out / y.shape.at(-1);
    return { flop: 2 * rows * weights, decoded: rows > 1 ? 4 * weights : 0 };
  }
  return { flop: 2 * out * (op === "Gemm" ? sizeOf(a.shape) / y.shape[0] : a.shape.at(-1)), decoded: 0 };
}

/**
 * Sums the events of a session's profile by role.
 * @param constant names of the nodes whose inputs are all weights or parameters.
 * @param rates of the card (roofline.mjs).
 * @returns runs, and by role: launches, bytes and least seconds of all runs.
 */
export function rolesOf(events, constant, rates) {
  const roles = {};
  for (const { cat, name, args } of events) {
    const op = args?.op_name;
    if (cat !== "Node" || !name.endsWith("_kernel_time") || FREE.has(op)) continue;
    const [inputs, outputs] = [tensors(args.input_type_shape), tensors(args.output_type_shape)];
    if (outputs.length === 0) continue;
    const isConstant = constant.has(name.slice(0, -"_kernel_time".length));
    const known = ROLE_OF.get(op) ?? "moves";
    const role = known === "casts" ? `casts of ${isConstant ? "constants" : "activations"}` : known;
    const { flop, decoded } = known === "products" ? product(op, inputs, outputs) : { flop: 0, decoded: 0 };
    const bytes = bytesOf(LOOKUPS.has(op) ? outputs : inputs) + bytesOf(outputs) + decoded;
    const rate = BYTES[inputs[0]?.type] === 2 ? rates.half : rates.single;
    const { launches = 0, bytes: moved = 0, seconds = 0 } = roles[role] ?? {};
    const longer = Math.max(bytes / rates.memory, flop / rate);
    roles[role] = { launches: launches + 1, bytes: moved + bytes, seconds: seconds + longer };
  }
  return { runs: events.filter(({ cat, name }) => cat === "Session" && name === "model_run").length, roles };
}

/** Names of a graph's nodes that compute from weights and parameters alone: the same in every run of a step. */
export function constantNodes({ inputs, nodes, initializers }) {
  const constant = new Set(initializers.keys());
  for (const { name } of inputs) if (name.startsWith("base_model.")) constant.add(name);
  const names = new Set();
  for (const node of nodes) {
    if (!node.inputs.every((name) => name === undefined || constant.has(name))) continue;
    names.add(node.name);
    for (const name of node.outputs) constant.add(name);
  }
  return names;
}

/** Rows of a table of one mean run of each kind of session: nodes and GB moved by role, GB in all, least milliseconds. */
export function rolesTable(sessions) {
  const names = [...Object.keys(ROLES).filter((role) => role !== "casts"), "moves"];
  names.push("casts of activations", "casts of constants");
  const kinds = new Map();
  for (const { session, runs, roles } of sessions) {
    const [kind] = session.split(/\/?\{/);
    const sum = kinds.get(kind) ?? { runs: 0, roles: {} };
    kinds.set(kind, sum);
    sum.runs += runs;
    for (const [role, of] of Object.entries(roles))
      sum.roles[role] = Object.fromEntries(
        Object.entries(of).map(([key, x]) => [key, x + (sum.roles[role]?.[key] ?? 0)]),
      );
  }
  const rows = [...kinds].map(([kind, { runs, roles }]) => {
    const cell = (role) => {
      const { launches = 0, bytes = 0 } = roles[role] ?? {};
      return `${(launches / runs).toFixed(0)}; ${(bytes / runs / 1e9).toFixed(2)}`;
    };
    const total = (key) => Object.values(roles).reduce((sum, of) => sum + of[key], 0) / runs;
    const ends = [(total("bytes") / 1e9).toFixed(1), (total("seconds") * 1e3).toFixed(1)];
    return `| ${[kind, runs, ...names.map(cell), ...ends].join(" | ")} |`;
  });
  const head = ["session, a mean run", "runs", ...names.map((name) => `${name}: nodes; GB`), "GB", "least ms"];
  return [`| ${head.join(" | ")} |`, `|${"---|".repeat(head.length)}`, ...rows];
}
