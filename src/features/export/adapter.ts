import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fail } from "../../core/errors.js";
import { readJson, writeDirectory } from "../../core/files.js";
import { loraName, rowsName } from "../../nn/lora.js";
import { ADAPTER, ADAPTER_CONFIG, type PeftAdapter, readPeft, writePeftTensors } from "../../nn/peft.js";
import type { Tensor } from "../../onnx/types.js";
import { FLOATS, rounded } from "./forms.js";

/**
 * Copies an adapter directory with its numbers in another form, to be shipped beside a model. Adapters are too small
 * for 4-bit weights.
 * @param base name of its base model; default: the present one.
 * @param plain the numbers to write; default: its own.
 * @returns size of the tensors' file in bytes.
 */
export async function exportAdapter(
  from: string,
  out: string,
  form: keyof typeof FLOATS,
  base?: string,
  { tensors, rank, alpha }: PeftAdapter = readPeft(from),
): Promise<number> {
  const config = readJson(join(from, ADAPTER_CONFIG)) as Readonly<Record<string, unknown>>;
  // as plain LoRA, which the tensors are
  const { use_rslora: _, rank_pattern: _ranks, alpha_pattern: _alphas, ...others } = config;
  const named = { ...others, r: rank, lora_alpha: alpha, ...(base && { base_model_name_or_path: base }) };
  await writeDirectory(out, async (aside) => {
    writeFileSync(join(aside, ADAPTER_CONFIG), `${JSON.stringify(named, null, 2)}\n`);
    const written = [...tensors].map(([name, { shape, data }]): [string, Tensor] => {
      return [name, { dtype: FLOATS[form], shape, data: rounded(data as Float32Array, FLOATS[form]) }];
    });
    writePeftTensors(join(aside, ADAPTER), new Map(written));
  });
  return statSync(join(out, ADAPTER)).size;
}

/** Lists the modules that an adapter changes, in the order of its tensors. @throws UserError for unpaired tensors. */
export function adapterModules({ tensors, rows }: PeftAdapter, where: string): string[] {
  const [head, tail] = loraName("|", "A").split("|") as [string, string];
  const modules: string[] = [];
  const expected = new Set<string>(rows === undefined ? [] : [rowsName(rows.module)]);
  for (const name of tensors.keys()) {
    if (!name.startsWith(head) || !name.endsWith(tail)) continue;
    const module = name.slice(head.length, name.length - tail.length);
    modules.push(module);
    expected.add(name).add(loraName(module, "B"));
  }
  const odd =
    [...tensors.keys()].find((name) => !expected.has(name)) ?? [...expected].find((name) => !tensors.has(name));
  if (odd !== undefined || modules.length === 0)
    fail(`${where} does not hold pairs of ${head}MODULE${tail} and its lora_B: ${odd ?? "it is empty"}.`, {
      hint: "Adapters of projections are read. Merge another in Python (merge_and_unload), and export that checkpoint.",
    });
  return modules;
}
