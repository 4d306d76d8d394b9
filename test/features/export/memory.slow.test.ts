import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { packageRoot } from "../../../src/core/files.js";

/** What scripts/check-export.mjs prints of each of its phases. */
type Figures = Readonly<Record<"checkpoint" | "export" | "train" | "idle", { readonly peak_mib: number }>> & {
  readonly [phase in "checkpoint" | "export"]: { readonly bytes: number };
} & { readonly train: { readonly loss: readonly number[] } };

/** The check of a checkpoint of 63 million parameters, 126 MB in bf16. */
async function check(...flags: string[]): Promise<Figures> {
  const script = join(packageRoot(), "scripts", "check-export.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, [script, "--size", "small", ...flags]);
  return JSON.parse(stdout) as Figures;
}

describe("memory of export and of training on what it wrote", async () => {
  const packed = await check("--quantize", "nf4");
  const plain = await check("--quantize", "none");
  /** Peak beyond what Node and the modules take by themselves, in bytes. */
  const peak = (figures: Figures, phase: "export" | "train"): number =>
    (figures[phase].peak_mib - figures.idle.peak_mib) * 2 ** 20;

  it("exports in a fraction of the checkpoint's size", () => {
    for (const figures of [packed, plain])
      assert.ok(peak(figures, "export") < 0.75 * figures.checkpoint.bytes, JSON.stringify(figures));
  });

  it("writes 4-bit projections in less than a fifth of float32", () => {
    assert.ok(packed.export.bytes < 0.2 * plain.export.bytes, `${packed.export.bytes} of ${plain.export.bytes}`);
  });

  it("trains on 4-bit weights in well under the memory that float32 takes", () => {
    const ratio = peak(packed, "train") / peak(plain, "train");
    assert.ok(ratio < 0.7, `${ratio}: ${packed.train.peak_mib} and ${plain.train.peak_mib} MiB`);
  });

  it("learns on either", () => {
    for (const { train } of [packed, plain]) assert.ok((train.loss[1] as number) < (train.loss[0] as number));
  });
});
