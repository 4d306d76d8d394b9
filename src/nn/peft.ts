import { existsSync } from "node:fs";
import { join } from "node:path";
import { fromOutside } from "../core/boundary.js";
import { fail, UserError } from "../core/errors.js";
import { readJson } from "../core/files.js";
import { limited } from "../core/limited.js";
import type { Tensor } from "../onnx/types.js";
import { floatsOf } from "../weights/model-weights.js";
import { readSafetensors, writeSafetensors } from "../weights/safetensors.js";
import type { ModelConfig } from "./config.js";
import { type LoraOptions, loraName, rowsName } from "./lora.js";

/** Adapter directories in the layout of Python's PEFT. */

export const ADAPTER_CONFIG = "adapter_config.json";
export const ADAPTER = "adapter_model.safetensors";

/**
 * Returns adapter_config.json, with the keys that determine an adapter's output. PEFT wraps a model by its task:
 * CAUSAL_LM for one that generates from left to right; a masked model has no such methods and gets no task.
 * @param base name or path of the model.
 * @param table module of the embedding table, where rows of it are trained.
 */
export function peftConfig(
  lora: LoraOptions,
  base: string,
  attention: ModelConfig["attention"],
  table?: string,
): Record<string, unknown> {
  return {
    peft_type: "LORA",
    task_type: attention === "causal" ? "CAUSAL_LM" : null,
    base_model_name_or_path: base,
    r: lora.rank,
    lora_alpha: lora.alpha,
    lora_dropout: 0,
    bias: "none",
    fan_in_fan_out: false,
    inference_mode: true,
    target_modules: lora.targets,
    ...(table === undefined ? {} : { trainable_token_indices: { [table]: lora.tokens } }),
  };
}

/** Writes adapter_model.safetensors with the same bytes as PEFT. */
export function writePeftTensors(path: string, tensors: ReadonlyMap<string, Tensor>): void {
  writeSafetensors(path, tensors, { format: "pt" }, { alignment: 8 });
}

/** Keys of PEFT's LoRA -> the values that our graphs compute; the first is named where a value is refused. */
const COMPUTED: Readonly<Record<string, readonly unknown[]>> = {
  peft_type: ["LORA"],
  bias: ["none"],
  use_rslora: [false, true],
};
/**
 * Keys that are read below or only guide training. Any other must be null, false or empty: it may be a variant that a
 * later PEFT brings.
 */
const FREE = new Set(
  `r lora_alpha lora_dropout rank_pattern alpha_pattern trainable_token_indices target_modules exclude_modules
  layers_to_transform layers_pattern init_lora_weights task_type auto_mapping base_model_name_or_path revision
  inference_mode peft_version megatron_config megatron_core runtime_config qalora_group_size eva_config corda_config
  lora_ga_config loftq_config`.split(/\s+/),
);
/** Ways to begin that leave the base as it is; the others subtract the first adapter from its weights. */
const INITIAL: readonly unknown[] = [true, false, null, undefined, "gaussian", "orthogonal", "eva", "mica"];

/** An adapter as plain LoRA: W + (alpha / rank) B A with one rank and one alpha for all modules. */
export interface PeftAdapter {
  readonly rank: number;
  readonly alpha: number;
  readonly tensors: ReadonlyMap<string, Tensor>;
  /** Suffixes of its modules' names, for the section `lora`. */
  readonly targets: readonly string[];
  /** Rows of the embedding table that it replaces. */
  readonly rows?: { readonly module: string; readonly tokens: readonly number[] };
}

/**
 * Reads an adapter directory of ours or of PEFT. Ranks and scales that differ between modules (`rank_pattern`,
 * `alpha_pattern`, `use_rslora`) become one: smaller matrices get rows of zeros, and B takes the rest of the scale.
 * @throws UserError naming the missing or unsupported key or file.
 */
export function readPeft(dir: string): PeftAdapter {
  const hint = "save the adapter again, as a plain LoRA of PEFT: one of its files is damaged, or of another adapter";
  return fromOutside(`The adapter ${dir}`, hint, () => readPlain(dir));
}

function readPlain(dir: string): PeftAdapter {
  const path = join(dir, ADAPTER);
  if (!existsSync(path))
    fail(`There is no adapter in ${dir}: ${path} is missing.`, {
      hint: existsSync(join(dir, PICKLED))
        ? `${PICKLED} is a pickle, which is not read. In ${dir}: python3 -c 'import torch; from safetensors.torch import save_file; save_file({k: t.contiguous() for k, t in torch.load("${PICKLED}", weights_only=True).items()}, "${ADAPTER}", {"format": "pt"})'`
        : `An adapter directory holds ${ADAPTER_CONFIG} and ${ADAPTER}, as a run's checkpoints/step-000020 does.`,
    });
  const configPath = join(dir, ADAPTER_CONFIG);
  const json = readJson(configPath);
  if (typeof json !== "object" || json === null) fail(`${configPath} is not an object.`);
  const config = json as Readonly<Record<string, unknown>>;
  const refuse = (key: string, expected: string, hint?: string): UserError =>
    new UserError(
      `${configPath}: ${key} is ${JSON.stringify(config[key])}, which is not supported (expected ${expected}).`,
      hint === undefined ? {} : { hint },
    );
  // the kind first: its own keys would be refused without it
  for (const [key, value] of Object.entries({ peft_type: null, ...config })) {
    const values = (Object.hasOwn(COMPUTED, key) ? COMPUTED[key] : undefined) ?? [false];
    const isEmpty = value === null || (typeof value === "object" && Object.keys(value).length === 0);
    if (FREE.has(key) || isEmpty || values.includes(value)) continue;
    throw refuse(key, values[0] === false ? "null or false" : JSON.stringify(values[0]), PLAIN);
  }
  if (!INITIAL.includes(config.init_lora_weights)) throw refuse("init_lora_weights", "true", CONVERT);
  const tensors = new Map([...readSafetensors(path)].map(([name, tensor]) => [name, inFloat32(tensor)]));
  const tokens = tokensOf(config.trainable_token_indices);
  if (tokens === null) throw refuse("trainable_token_indices", "the ids of one table's tokens");
  const [before, after] = rowsName("|").split("|") as [string, string];
  const name = [...tensors.keys()].find((key) => key.startsWith(before) && key.endsWith(after));
  if ((name === undefined) !== (tokens === undefined))
    throw refuse("trainable_token_indices", `${name === undefined ? "null" : "ids"}, as ${ADAPTER} has it`);
  const rows =
    name === undefined || tokens === undefined
      ? {}
      : { rows: { module: name.slice(before.length, name.length - after.length), tokens } };
  const modules = modulesIn(tensors);
  const { target_modules: targets, exclude_modules: excluded, layers_to_transform: layers } = config;
  const isEverywhere = Array.isArray(targets) && [excluded, layers].every((value) => value == null);
  return {
    ...plainLora(config, tensors, modules, refuse),
    targets: isEverywhere ? [...new Set(modules.map((module) => module.replace(/.*\./, "")))] : modules,
    ...rows,
  };
}

/** File of adapters that PEFT saved before it had safetensors. */
export const PICKLED = "adapter_model.bin";
const PLAIN = "Merge it in Python (merge_and_unload, save_pretrained) and export the merged checkpoint.";
const CONVERT =
  "Its base weights were changed when it began, so it does not fit the untouched model. Save it as plain LoRA in Python: model.save_pretrained(OUT, path_initial_model_for_weight_conversion=FIRST), where FIRST holds the adapter as it began (saved with init_lora_weights=True); or merge it there.";

/** Lists the modules that have an A, in the order of the tensors. */
function modulesIn(tensors: ReadonlyMap<string, Tensor>): string[] {
  const [head, tail] = loraName("|", "A").split("|") as [string, string];
  const names = [...tensors.keys()].filter((name) => name.startsWith(head) && name.endsWith(tail));
  return names.map((name) => name.slice(head.length, name.length - tail.length));
}

/** Brings all modules to one rank and scale. Where they have these already, their tensors stay the same. */
function plainLora(
  { r, lora_alpha: alpha, use_rslora: rooted, ...config }: Readonly<Record<string, unknown>>,
  tensors: ReadonlyMap<string, Tensor>,
  modules: readonly string[],
  refuse: (key: string, expected: string) => UserError,
): Pick<PeftAdapter, "rank" | "alpha" | "tensors"> {
  if (!Number.isSafeInteger(r) || (r as number) < 1) throw refuse("r", "a positive integer");
  if (typeof alpha !== "number" || !(alpha > 0)) throw refuse("lora_alpha", "a positive number");
  const valueFor = (key: string, module: string, otherwise: number): number => {
    const value = patternValue(config[key], module) ?? otherwise;
    if (typeof value !== "number" || !(value > 0)) throw refuse(key, "positive numbers by patterns of module names");
    return value;
  };
  const scaleOf = (of: number, rank: number): number => of / (rooted === true ? Math.sqrt(rank) : rank);
  const adapters = modules.map((module) => {
    const rank = valueFor("rank_pattern", module, r as number);
    return { module, rank, scale: scaleOf(valueFor("alpha_pattern", module, alpha), rank) };
  });
  const rank = adapters.reduce(
    (most, module) => Math.max(most, module.rank),
    adapters.length === 0 ? (r as number) : 1,
  );
  const scale = adapters[0]?.scale ?? scaleOf(alpha, r as number);
  const isPlain = rooted !== true && adapters.every((module) => module.rank === r && module.scale === scale);
  const padded = new Map(tensors);
  for (const { module, ...its } of adapters)
    for (const part of ["A", "B"] as const) {
      const tensor = tensors.get(loraName(module, part));
      if (tensor?.shape.length !== 2 || tensor.shape[part === "A" ? 0 : 1] !== its.rank) continue;
      padded.set(loraName(module, part), paddedTo(tensor, part, rank, part === "A" ? 1 : its.scale / scale));
    }
  return { rank, alpha: isPlain ? alpha : scale * rank, tensors: padded };
}

/** Returns the value of the first pattern, a regular expression, that a module's name ends with, by PEFT's rule. */
function patternValue(patterns: unknown, module: string): unknown {
  if (typeof patterns !== "object" || patterns === null) return undefined;
  try {
    const fits = (key: string): boolean => new RegExp(`^(.*\\.)?(${key})$`).test(module);
    return limited("a pattern", module.length, () => Object.entries(patterns).find(([key]) => fits(key))?.[1]);
  } catch {
    return Number.NaN;
  }
}

/** Multiplies A [r, in] or B [out, r] by a factor, and adds zeros up to a rank. */
function paddedTo(tensor: Tensor, part: "A" | "B", rank: number, factor: number): Tensor {
  const [rows, columns] = tensor.shape as [number, number];
  if (factor === 1 && (part === "A" ? rows : columns) === rank) return tensor;
  const shape = part === "A" ? [rank, columns] : [rows, rank];
  const data = new Float32Array((shape[0] as number) * (shape[1] as number));
  (tensor.data as Float32Array).forEach((value, i) => {
    data[Math.floor(i / columns) * (shape[1] as number) + (i % columns)] = value * factor;
  });
  return { dtype: "float32", shape, data };
}

/** Converts a tensor to float32: adapters may be stored in 16 bits, but are trained in 32. */
function inFloat32(tensor: Tensor): Tensor {
  const { dtype, shape, data } = tensor;
  if (dtype !== "bfloat16" && dtype !== "float16") return tensor;
  return { dtype: "float32", shape, data: floatsOf(dtype, shape as number[], data).read(0, data.length) };
}

/** Returns PEFT's list of ids, or that of its map with one table; undefined: none; null: malformed. */
function tokensOf(value: unknown): number[] | undefined | null {
  if (value === undefined || value === null) return undefined;
  const lists = Array.isArray(value) ? [value] : typeof value === "object" ? Object.values(value) : [];
  const [ids] = lists as unknown[];
  if (lists.length !== 1 || !Array.isArray(ids) || !ids.every((id) => Number.isSafeInteger(id) && id >= 0)) return null;
  return ids.length === 0 ? undefined : ids;
}
