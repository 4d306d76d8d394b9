// node scripts/mean-adapters.mjs --out DIR ADAPTER ADAPTER ...
// Writes the mean of adapters that were trained from one adapter, as runs of several seeds, in bfloat16: a model soup
// (Wortsman et al., arXiv 2203.05482, "uniform soup"), over the factors A and B. No seed is chosen.
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { load } from "./bench/support.mjs";
import { flagsOf } from "./lib/flags.mjs";
import { fail } from "./lib/setup.mjs";

const { values, positionals: dirs } = flagsOf(import.meta.url, {
  allowPositionals: true,
  options: { out: { type: "string" } },
});
if (values.out === undefined || dirs.length < 2) fail("Give --out and two adapters at least.");
const { openSafetensors, writeSafetensors } = await load("weights/safetensors.js");
const { openWeight } = await load("weights/model-weights.js");
const { floatToBfloat16 } = await load("core/half.js");
const FILE = "adapter_model.safetensors";
const all = dirs.map((dir) => openSafetensors(join(dir, FILE)));
const mean = new Map();
for (const [name, { shape }] of all[0].tensors) {
  const parts = all.map((one) => openWeight(one, name));
  if (parts.some((one) => one.shape.join() !== shape.join())) fail(`${name} has several shapes.`);
  const size = shape.reduce((product, n) => product * n);
  const sum = parts.map((one) => one.read(0, size)).reduce((a, b) => a.map((x, i) => x + b[i]));
  mean.set(name, { dtype: "bfloat16", shape, data: floatToBfloat16(sum.map((x) => x / all.length)) });
}
mkdirSync(values.out, { recursive: true });
cpSync(join(dirs[0], "adapter_config.json"), join(values.out, "adapter_config.json"));
writeSafetensors(join(values.out, FILE), mean);
