import { fail } from "../core/errors.js";
import { listed } from "../core/problems.js";
import type { Rng } from "../core/rng.js";
import { Emitter } from "../onnx/emit.js";
import type { GraphBuilder } from "../onnx/graph.js";
import type { Tensor, Value } from "../onnx/types.js";

/** Low-rank adaptation (Hu et al. 2021): y = x W^T + (alpha / r) (x A^T) B^T with A [r, in], B [out, r]. */
export interface LoraOptions {
  readonly rank: number;
  readonly alpha: number;
  /** Suffixes of module names, in whole components, as `q_proj` or `mlp.0`. */
  readonly targets: readonly string[];
  /** Ids of tokens whose embedding rows are trained as well (PEFT's trainable_token_indices). */
  readonly tokens?: readonly number[];
}

/** Returns PEFT's name of a module's A or B matrix. */
export const loraName = (module: string, part: "A" | "B"): string => `base_model.model.${module}.lora_${part}.weight`;

/** Tells whether a parameter is an A or a B matrix. */
export const isLora = (parameter: string, part: "A" | "B"): boolean => parameter.endsWith(`.lora_${part}.weight`);

/** Returns PEFT's name of the rows with which an adapter replaces rows of a table. */
export const rowsName = (module: string): string => `base_model.model.${module}.token_adapter.trainable_tokens_delta`;

/** One weight that an adapter changes: a projection by A and B, or the embedding table by rows of its own. */
export interface LoraSite {
  /** Module path of the weight, as `model.layers.0.self_attn.q_proj`. */
  readonly module: string;
  /** For a table: its number of tokens. */
  readonly inFeatures: number;
  readonly outFeatures: number;
  /** For a table: the tokens whose rows are replaced. */
  readonly tokens?: readonly number[];
}

/** Names and shapes of a site's tensors: A [r, in] and B [out, r], or rows [tokens, out]. */
export function siteShapes({ module, inFeatures, outFeatures, tokens }: LoraSite, rank: number): [string, number[]][] {
  if (tokens !== undefined) return [[rowsName(module), [tokens.length, outFeatures]]];
  return [
    [loraName(module, "A"), [rank, inFeatures]],
    [loraName(module, "B"), [outFeatures, rank]],
  ];
}

/** Tells whether a module is a target by PEFT's rule for `target_modules`: by its name or by its end after a dot. */
export const isTarget = (module: string, options: LoraOptions): boolean =>
  options.targets.some((target) => module === target || module.endsWith(`.${target}`));

/** A and B of one site. */
export interface LoraPair {
  readonly a: Value;
  readonly b: Value;
}

/** Declares a site's A and B as graph inputs. */
export function loraInputs(g: GraphBuilder, site: LoraSite, options: LoraOptions): LoraPair {
  return {
    a: g.input(loraName(site.module, "A"), "float32", [options.rank, site.inFeatures]),
    b: g.input(loraName(site.module, "B"), "float32", [site.outFeatures, options.rank]),
  };
}

/**
 * Returns x A^T [M, r] of every site that reads x [M, in], computed in one product: r rows alone do not fill a register
 * tile, those of q, k and v do, and the gradient of x is one product as well.
 */
export function lowRank(g: GraphBuilder, pairs: readonly LoraPair[], x: Value): Value[] {
  const e = new Emitter(g);
  const all = pairs.map(({ a }) => a);
  if (all.length === 1) return [e.gemm(x, all[0] as Value, { transB: true })];
  const low = e.gemm(x, e.concat(all, 0), { transB: true });
  return e.split(
    low,
    all.map(({ shape }) => shape[0] as number),
    1,
  );
}

/**
 * Adds a site's low-rank branch to the projection's output y [M, out]: low = x A^T [M, r]. The product accumulates into
 * y (Gemm's C) instead of a separate Add.
 */
export const addLora = (g: GraphBuilder, { b }: LoraPair, low: Value, y: Value, options: LoraOptions): Value =>
  new Emitter(g).gemm(low, b, { transB: true, alpha: options.alpha / options.rank, c: y });

/**
 * Draws a fresh adapter like PEFT's: A Kaiming-uniform (a = sqrt(5), so U(+-1/sqrt(in))), B zero, rows of a table equal
 * to the model's, so that it has no effect yet.
 * @param rowOf [D] a token's row of the model's own table; needed where sites have tokens.
 */
export function freshAdapter(
  sites: readonly LoraSite[],
  options: LoraOptions,
  rng: Rng,
  rowOf: (site: LoraSite, token: number) => Float32Array = () => new Float32Array(),
): Map<string, Tensor> {
  const adapter = new Map<string, Tensor>();
  for (const site of sites) {
    const { tokens } = site;
    const bound = 1 / Math.sqrt(site.inFeatures);
    siteShapes(site, options.rank).forEach(([name, shape], part) => {
      const data =
        tokens === undefined
          ? new Float32Array(shape.reduce((n, d) => n * d, 1))
          : Float32Array.from(tokens.flatMap((id) => [...rowOf(site, id)]));
      if (tokens === undefined && part === 0)
        for (let i = 0; i < data.length; i++) data[i] = (2 * rng.uniform() - 1) * bound;
      adapter.set(name, { dtype: "float32", shape, data });
    });
  }
  return adapter;
}

/** Checks an adapter against a model's sites: no tensor missing or surplus, every shape right. */
export function checkAdapter(
  adapter: ReadonlyMap<string, Tensor>,
  sites: readonly LoraSite[],
  options: LoraOptions,
  where: string,
): void {
  const problems: string[] = [];
  const expected = new Map(sites.flatMap((site) => siteShapes(site, options.rank)));
  for (const [name, shape] of expected) {
    const tensor = adapter.get(name);
    if (tensor === undefined) problems.push(`missing ${name}`);
    else if (tensor.shape.join() !== shape.join())
      problems.push(`${name}: expected [${shape.join(", ")}], got [${tensor.shape.join(", ")}]`);
    else if (tensor.dtype !== "float32") problems.push(`${name}: expected float32, got ${tensor.dtype}`);
  }
  for (const name of adapter.keys()) if (!expected.has(name)) problems.push(`unexpected ${name}`);
  if (problems.length === 0) return;
  fail(`The adapter ${where} does not fit the model:${listed(problems)}`, {
    hint: "Use the model and the lora section that the adapter was trained with.",
  });
}
