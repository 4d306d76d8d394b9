import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promptOf } from "../../../diffusion/template.js";
import { adapterConfig } from "../../../engine/adapter.js";
import { type BindOptions, bindModel } from "../../../nn/bind.js";
import { siteShapes } from "../../../nn/lora.js";
import { loadModel, type Model } from "../../../nn/model.js";
import { ADAPTER, ADAPTER_CONFIG, writePeftTensors } from "../../../nn/peft.js";
import { encodeModel } from "../../../onnx/format/proto.js";
import { sizeOf } from "../../../onnx/shapes.js";
import type { Tensor, Value } from "../../../onnx/types.js";
import { exportModel } from "../../export/export.js";
import type { Measurement, Proof, VerifyContext } from "../../verify/proof.js";

/** Limit relative to the adapter's effect. Float32 sums have errors of about 1e-6 of the logits. */
const LIMIT = 1e-2;
const LENGTH = 16;
/** Larger models are skipped: the proof writes their weights in float32 to the disk. */
const LARGEST_BYTES = 2 ** 31;

type Tensors = ReadonlyMap<string, Tensor>;

/**
 * Compares the logits of the model with an unmerged adapter and of the model that the adapter was merged into. If the
 * adapter acts on only one use of a weight, or on a wrong weight, the error is as large as the adapter's effect. Models
 * above 2 GiB in float32, imported ones in 16 bits (their sums are rounded), and models without a tokenizer (export
 * cannot write them) are skipped.
 * @param bound binds the adapter into the graph.
 */
export async function measureMerge(
  context: VerifyContext,
  bound: typeof bindModel = bindModel,
): Promise<Measurement[]> {
  const { policy } = context;
  const { model, lora, sites, runtime } = policy;
  const weights = [...model.graph.initializers.values()].map(({ value }) => value);
  const size = 4 * weights.reduce((sum, { shape }) => sum + sizeOf(shape), 0);
  const rounds = weights.some(({ dtype }) => dtype === "float16" || dtype === "bfloat16");
  if (
    model.tokenizer === undefined ||
    sites.length === 0 ||
    size > LARGEST_BYTES ||
    (rounds && model.config.architecture === "imported")
  )
    return [];
  const all = await policy.engine.getParameters("policy");
  const adapter: Tensors = new Map(
    sites.flatMap((site) => siteShapes(site, lora.rank).map(([name]) => [name, all.get(name) as Tensor] as const)),
  );
  const prompt = promptOf(context.prompts[0] ?? []).slice(0, LENGTH);
  const logits = async (of: Model, options: BindOptions["lora"] | undefined, more: Tensors): Promise<Float32Array> => {
    const dims = { B: 1, N: prompt.length };
    const { g, outputs } = bound(of.graph, "merge", { dims, ...(options === undefined ? {} : { lora: options }) });
    g.output("proof", outputs.logits as Value);
    const graph = g.build();
    await runtime.load("merge", { bytes: encodeModel(graph), weightsDir: of.dir });
    try {
      const own = graph.inputs.map((input) => [input.name, more.get(input.name) ?? feedOf(input, prompt)] as const);
      return (await runtime.run("merge", { feeds: Object.fromEntries(own) })).proof?.data as Float32Array;
    } finally {
      await runtime.unload("merge");
    }
  };
  const dir = mkdtempSync(join(tmpdir(), "refusion-verify-"));
  try {
    const [peft, out] = [join(dir, "adapter"), join(dir, "model")];
    mkdirSync(peft);
    writePeftTensors(join(peft, ADAPTER), adapter);
    writeFileSync(join(peft, ADAPTER_CONFIG), JSON.stringify(adapterConfig(context.config, policy)));
    await exportModel({ checkpoint: model.dir, out, adapter: peft, precision: "none", doubleQuant: false });
    const merged = await logits(await loadModel(out), undefined, new Map());
    const beside = await logits(model, lora, adapter);
    const base = await logits(model, undefined, new Map());
    const [error, effect] = [distance(merged, beside), distance(beside, base)];
    return [
      {
        name: "an adapter acts as its merged weights do",
        measured: error === 0 ? 0 : error / effect,
        limit: LIMIT,
        detail: `difference of logits relative to the adapter's effect on them, ${sites.length} modules`,
      },
    ];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Makes an input: one prompt in order with full attention; for a flow, its middle. */
function feedOf({ name, dtype, shape }: Value, prompt: readonly number[]): Tensor {
  const sizes = shape as number[];
  if (dtype !== "int64")
    return { dtype, shape: sizes, data: new Float32Array(sizeOf(sizes)).fill(sizes.length === 1 ? 0.5 : 0) };
  const at = (i: number): number => (name === "input_ids" ? (prompt[i] as number) : i);
  return { dtype, shape: sizes, data: BigInt64Array.from(prompt, (_, i) => BigInt(at(i))) };
}

function distance(a: Float32Array, b: Float32Array): number {
  return Math.sqrt(a.reduce((sum, x, i) => sum + (x - (b[i] as number)) ** 2, 0));
}

export const proof: Proof = {
  claim: "an adapter beside the model acts as its merged weights do",
  run: (context) => measureMerge(context),
};
