import { existsSync } from "node:fs";
import { join } from "node:path";
import { fromOutside } from "../core/boundary.js";
import { fail, UserError } from "../core/errors.js";
import { readJson } from "../core/files.js";
import type { Tensor } from "../onnx/types.js";
import { floatsOf } from "../weights/model-weights.js";
import { readSafetensors, writeSafetensors } from "../weights/safetensors.js";
import type { ModelConfig } from "./config.js";
import { type LoraOptions, rowsName } from "./lora.js";

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

/** LoRA variants of PEFT that our graphs do not compute: key -> the values that mean plain LoRA. */
const PLAIN: Readonly<Record<string, readonly unknown[]>> = {
  peft_type: ["LORA"],
  bias: ["none"],
  fan_in_fan_out: [false],
  use_rslora: [false],
  use_dora: [false],
  use_qalora: [false],
  use_bdlora: [false, null],
  arrow_config: [null],
  kasa_config: [null],
  monteclora_config: [null],
  velora_config: [null],
  alora_invocation_tokens: [null],
  lora_bias: [false],
  modules_to_save: [null],
  layer_replication: [null],
  target_parameters: [null],
};

export interface PeftAdapter {
  readonly rank: number;
  readonly alpha: number;
  readonly tensors: ReadonlyMap<string, Tensor>;
  /** Rows of the embedding table that it replaces. */
  readonly rows?: { readonly module: string; readonly tokens: readonly number[] };
}

/**
 * Reads an adapter directory of ours or of PEFT.
 * @throws UserError naming the missing or unsupported key or file.
 */
export function readPeft(dir: string): PeftAdapter {
  const hint = "restore it from a copy, or save the adapter again: a plain LoRA of PEFT, or one that was trained here";
  return fromOutside(`The adapter ${dir}`, hint, () => readPlain(dir));
}

function readPlain(dir: string): PeftAdapter {
  const path = join(dir, ADAPTER);
  if (!existsSync(path))
    fail(`There is no adapter in ${dir}: ${path} is missing.`, {
      hint: `An adapter directory holds ${ADAPTER_CONFIG} and ${ADAPTER}, as a run's checkpoints/step-000020 does.`,
    });
  const configPath = join(dir, ADAPTER_CONFIG);
  const json = readJson(configPath);
  if (typeof json !== "object" || json === null) fail(`${configPath} is not an object.`);
  const config = json as Readonly<Record<string, unknown>>;
  const refuse = (key: string, expected: string): UserError =>
    new UserError(
      `${configPath}: ${key} is ${JSON.stringify(config[key])}, which is not supported (expected ${expected}).`,
    );
  for (const [key, values] of Object.entries(PLAIN)) {
    const value = config[key];
    if (value !== undefined && !(Array.isArray(value) && value.length === 0) && !values.includes(value))
      throw refuse(key, JSON.stringify(values[0]));
  }
  for (const key of ["rank_pattern", "alpha_pattern"]) {
    const value = config[key];
    if (typeof value === "object" && value !== null && Object.keys(value).length > 0) throw refuse(key, "{}");
  }
  const { r, lora_alpha: alpha } = config;
  if (!Number.isSafeInteger(r) || (r as number) < 1) throw refuse("r", "a positive integer");
  if (typeof alpha !== "number" || !(alpha > 0)) throw refuse("lora_alpha", "a positive number");
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
  return { rank: r as number, alpha, tensors, ...rows };
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
