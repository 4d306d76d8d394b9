// node scripts/mean-adapters.mjs --out DIR ADAPTER ADAPTER ...
// Writes the mean of adapters that were trained from one adapter, as runs of several seeds, in bfloat16: a model soup
// (Wortsman et al., arXiv 2203.05482, "uniform soup"), over the factors A and B. No seed is chosen. Adapters of other
// scales, modules, shapes, token rows or bases are refused.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { load } from "./bench/support.mjs";
import { flagsOf } from "./lib/flags.mjs";
import { fail } from "./lib/setup.mjs";

const { values, positionals: dirs } = flagsOf(import.meta.url, {
  allowPositionals: true,
  options: { out: { type: "string" } },
});
if (values.out === undefined || dirs.length < 2) fail("Give --out and two adapters at least.");
if (existsSync(values.out)) fail(`${values.out} exists already: give another --out.`);
const { ADAPTER_CONFIG, readPeft } = await load("nn/peft.js");
const { adapterModules, exportAdapter } = await load("features/export/adapter.js");
const { readJson } = await load("core/files.js");
const { STATE } = await load("runs/checkpoint.js");

/** What the adapters must share, in words. */
const factsOf = (dir, adapter) => {
  adapterModules(adapter, dir);
  const state = join(dir, STATE);
  return {
    rank: adapter.rank,
    "scale (alpha / rank)": Number((adapter.alpha / adapter.rank).toPrecision(6)),
    "token rows": adapter.rows ?? null,
    "base model": readJson(join(dir, ADAPTER_CONFIG)).base_model_name_or_path ?? null,
    // a sample of the base's weights, which a run's checkpoint keeps
    base: existsSync(state) ? readJson(state).state?.base : undefined,
    "modules and shapes": [...adapter.tensors].map(([name, { shape }]) => `${name} [${shape}]`).sort(),
  };
};
try {
  const all = dirs.map((dir) => readPeft(dir));
  const facts = all.map((adapter, i) => factsOf(dirs[i], adapter));
  for (const [i, own] of facts.entries())
    for (const [what, value] of Object.entries(own))
      if (![value, facts[0][what]].includes(undefined) && JSON.stringify(value) !== JSON.stringify(facts[0][what]))
        fail(`${dirs[i]} has another ${what} than ${dirs[0]}.`, "Give adapters that were trained from one adapter.");
  const tensors = new Map();
  for (const [name, tensor] of all[0].tensors) {
    const parts = all.map((adapter) => adapter.tensors.get(name).data);
    const sum = parts.reduce((a, b) => a.map((x, i) => x + b[i]));
    tensors.set(name, { ...tensor, data: sum.map((x) => x / all.length) });
  }
  await exportAdapter(dirs[0], values.out, "bf16", undefined, { ...all[0], tensors });
} catch (error) {
  fail(error.message, ...(error.hint === undefined ? [] : [error.hint]));
}
