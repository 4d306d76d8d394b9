/**
 * Measures gradient checkpointing on the step of lora-step.mjs: the ratio of CPU times with and without it (alternating
 * steps, median), and the peak memory of a process that takes one step, with and without it.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { openStep } from "./lora-step.mjs";
import { median } from "./support.mjs";

export async function benchCheckpointing({ runs }) {
  const [plain, again] = [await openStep(), await openStep({ checkpoint: true })];
  const ratios = [];
  for (let i = 0; i < runs; i++) {
    const ms = await plain.step();
    ratios.push((await again.step()) / ms);
  }
  await plain.close();
  await again.close();
  const [without, with_] = [peakOf(false), peakOf(true)];
  return {
    cpu_time_ratio: median(ratios),
    peak_rss_mb: with_,
    peak_rss_mb_without: without,
    peak_ratio: with_ / without,
  };
}

/** Measures the peak memory in a separate process, since the peak of a process never falls. */
function peakOf(checkpoint) {
  const out = execFileSync(process.execPath, [fileURLToPath(import.meta.url), "--peak", String(checkpoint)]);
  return Number(out.toString());
}

if (process.argv[2] === "--peak") {
  const { step, close } = await openStep({ checkpoint: process.argv[3] === "true" });
  await step();
  await close();
  process.stdout.write(String(Math.round(process.resourceUsage().maxRSS / 1024)));
}
