import type { RunConfig } from "../config/config.js";
import { misuse } from "../core/errors.js";
import { moduleOf } from "../nn/bind.js";
import { loraName } from "../nn/lora.js";
import { Emitter } from "../onnx/emit.js";
import { GraphBuilder } from "../onnx/graph.js";
import { type Formula, rewritten } from "../onnx/passes/written-out.js";
import type { Runtime } from "../onnx/session.js";
import { type Graph, type Initializer, isExternal, type Node, type Tensor, type Value } from "../onnx/types.js";

/** Largest absolute code; -128 is not used, so that a column and its negative have the same scale. */
const LARGEST = 127;
/** Least divisor of a row, for rows of zeros. */
const SMALLEST = 1e-30;

/** An adapter that stays as it is: A [r, in] and B [out, r] by PEFT's names, and alpha / r. */
export interface MergedAdapter {
  readonly tensors: ReadonlyMap<string, Tensor>;
  readonly scale: number;
}

/** Converts a rollout's graph. @param adapter that is added to the weights, where the graph has none. */
export type ConvertRollouts = (graph: Graph, adapter?: MergedAdapter) => Graph;

/**
 * Returns how graphs become int8 for faster, less exact rollouts; undefined: they stay float32, as `auto` does where the
 * policy is trained or the machine cannot. Scoring stays exact, and objectives correct for the difference by
 * `objective.importance_cap`.
 * @throws UserError where int8 is asked for, and the provider or the machine cannot.
 */
export async function int8Rollouts(
  setting: RunConfig["runtime"]["rollout_precision"],
  runtime: Runtime,
  trains = true,
): Promise<ConvertRollouts | undefined> {
  const auto = setting === "auto";
  if (setting === "float32" || (auto && trains)) return undefined;
  const onCpu = runtime.provider === "cpu";
  const hint = "Set runtime.rollout_precision=float32.";
  if (!onCpu || (await overflows(runtime))) {
    if (auto) return undefined;
    const why = onCpu
      ? "this processor's sums of int8 products overflow"
      : `it is of the provider cpu, this is ${runtime.provider}`;
    misuse(`runtime.rollout_precision=int8 cannot be used: ${why}.`, { hint });
  }
  const nothing =
    "runtime.rollout_precision=int8 changes nothing here: a model in 4 bits, or one that is trained whole, is generated with as it is.";
  return (graph, adapter) => inInt8(graph, adapter) ?? (auto ? graph : misuse(nothing, { hint }));
}

/**
 * Computes products with the model's own matrices in int8, summed in int32 (DynamicQuantizeMatMul): weights have a
 * scale per output, activations one per row (LLM.int8, arXiv 2208.07339, section 2). Attention, norms, embeddings, and
 * an adapter that may still change stay float32. ONNX Runtime folds what is computed from constants when it loads the
 * graph. MatMulNBits in 8 bits is no faster for one row, and half as fast from 4 rows on.
 * @returns undefined where the graph has no such product.
 */
function inInt8(graph: Graph, adapter: MergedAdapter | undefined): Graph | undefined {
  const added: Initializer[] = [];
  let products = 0;
  const made = rewritten(graph, (node, write, names) => {
    const matrix = matrixOf(graph, node);
    if (matrix === undefined) return [node];
    products++;
    const [x, w, bias] = node.inputs as [Value, Value, Value?];
    const low = (["A", "B"] as const).flatMap((part) => {
      const { dtype = "float32", shape, data } = adapter?.tensors.get(loraName(moduleOf(w.name), part)) ?? {};
      if (shape === undefined || data === undefined) return [];
      const value: Value = { name: names.fresh(`/${w.name}/${part}`), dtype, shape };
      added.push({ value, data });
      return [value];
    });
    const inputs = [x, w, ...low, ...(bias === undefined ? [] : [bias])];
    const formula = product(matrix.transposed, low.length > 0 ? adapter?.scale : undefined);
    return write({ ...node, inputs }, node.outputs[0] as Value, formula);
  });
  if (products === 0) return undefined;
  const constants = added.map((constant) => [constant.value.name, constant] as const);
  return { ...made, initializers: new Map([...made.initializers, ...constants]) };
}

/** Tells whether a node is a product x W (+ bias [N]) with a stored matrix W [K, N], or `transposed` [N, K]. */
function matrixOf(graph: Graph, { op, inputs, attributes }: Node): { readonly transposed: boolean } | undefined {
  const { transA = 0, transB = 0, alpha = 1, beta = 1 } = attributes;
  const isPlain = transA === 0 && alpha === 1 && beta === 1 && (inputs[2]?.shape.length ?? 1) === 1;
  const weight = graph.initializers.get(inputs[1]?.name ?? "");
  if (!(op === "Gemm" || op === "MatMul") || !isPlain || weight?.value.shape.length !== 2) return undefined;
  return isExternal(weight.data) ? { transposed: transB === 1 } : undefined;
}

/**
 * Emits x W + bias for x [.., K], each row in units of its largest value, so that outliers do not affect other rows.
 * @param scale undefined: there is no adapter; else A [r, K] and B [N, r] come before the bias, and W + scale B A is
 * multiplied.
 */
function product(transposed: boolean, scale: number | undefined): Formula {
  return (e, x, stored, ...rest) => {
    const [a, b] = scale === undefined ? [] : (rest.splice(0, 2) as [Value, Value]);
    const whole = e.cast(stored as Value, "float32");
    const adapted = { alpha: scale ?? 1, c: whole };
    const weights =
      a === undefined || b === undefined
        ? whole
        : transposed
          ? e.gemm(b, a, adapted)
          : e.gemm(a, b, { ...adapted, transA: true, transB: true });
    const { codes, scales } = quantized(e, weights, transposed);
    const unit = e.max(e.maxOver(e.g.op("Abs", [x]), [-1]), SMALLEST);
    const y = e.mul(e.g.op("DynamicQuantizeMatMul", [e.div(x, unit), codes, scales]), unit);
    return rest[0] === undefined ? y : e.add(y, rest[0]);
  };
}

/** Emits codes [K, N] and scales [N]: column n is round(w / scale), scale = max |w| / 127. */
function quantized(e: Emitter, weights: Value, transposed: boolean): { codes: Value; scales: Value } {
  const [axis, over] = transposed ? [0, 1] : [1, 0];
  const columns = weights.shape[axis] as number;
  const least = e.g.op("ReduceMin", [weights, e.g.ints([over])], { keepdims: 1 });
  const largest = e.max(e.max(e.maxOver(weights, [over]), e.neg(least)), SMALLEST);
  const scales = e.reshape(e.div(largest, LARGEST), [columns]);
  const zero = e.cast(e.zeros([columns], "float32"), "int8");
  const codes = e.g.op("QuantizeLinear", [weights, scales, zero], { axis });
  return { codes: transposed ? e.transpose(codes, [1, 0]) : codes, scales };
}

/**
 * Multiplies the largest codes, in one row and in several. x86 without VNNI adds each two products in 16 bits, and cuts
 * what does not fit, without an error (ONNX Runtime's page on quantization).
 */
async function overflows(runtime: Runtime): Promise<boolean> {
  const [rows, length, columns] = [5, 64, 32];
  const g = new GraphBuilder("int8-check");
  const e = new Emitter(g);
  const w = g.initializer("w", "float32", [length, columns], new Float32Array(length * columns).fill(1));
  const feeds = Object.fromEntries(
    [1, rows].map((count): [string, Tensor] => {
      const x = g.input(`x${count}`, "float32", [count, length]);
      g.output(`y${count}`, product(false, undefined)(e, x, w));
      return [x.name, { dtype: "float32", shape: [count, length], data: new Float32Array(count * length).fill(1) }];
    }),
  );
  const graph = g.build();
  await runtime.load(graph.name, { bytes: runtime.encode(graph) });
  const sums = Object.values(await runtime.run(graph.name, { feeds }));
  await runtime.unload(graph.name);
  return sums.some(({ data }) => [...(data as Float32Array)].some((sum) => Math.abs(sum / length - 1) > 0.01));
}
