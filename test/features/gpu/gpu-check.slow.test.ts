import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { packageRoot } from "../../../src/core/files.js";
import { readPeft } from "../../../src/nn/peft.js";
import { temporaryFolder } from "../../support/temporary.js";

const script = join(packageRoot(), "scripts", "gpu-check.mjs");
const compiled = fileURLToPath(new URL("../../..", import.meta.url));
const dir = temporaryFolder("gpu-check-test");

function check(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [script, ...args], {
    encoding: "utf8",
    env: { ...process.env, REFUSION_DIST: compiled },
  });
}

type Phase = Readonly<Record<"seconds" | "host_mib", number>>;
type Agreement = Readonly<Record<"logits" | "logProbs" | "gradients" | "rounds", number> & { agrees: boolean }>;
interface Result {
  readonly agreement: { readonly float32: Agreement; readonly nf4: Agreement };
  readonly model: { readonly quantize: string; readonly weights_bytes: number };
  readonly phases: {
    readonly rollout: Phase & { readonly tokens: number };
    readonly flowGrpo: Readonly<Record<"values" | "update", Phase>>;
    readonly espo: Readonly<Record<"values" | "update", Phase>>;
  };
}

describe("gpu-check", () => {
  it("goes its whole way on the CPU at tiny size: agreement, a 4-bit model, a rollout group, both updates", () => {
    const file = join(dir, "result.json");
    const { status, stdout, stderr } = check("--size", "tiny", "--provider", "cpu", "--json", file);
    assert.equal(status, 0, stderr);
    const update = ["ESPO, update", "ESPO, update without gradient checkpointing"];
    for (const row of ["rollout group", ...update, "NF4, gradient, float32"])
      assert.match(stdout, new RegExp(`\\| ${row} \\| \\d+\\.\\d+ \\|`));
    assert.match(stdout, /Copies: [\d.e+]+ GB\/s to the device, [\d.e+]+ GB\/s back/);
    const { agreement, model, phases } = JSON.parse(readFileSync(file, "utf8")) as Result;
    // the same provider twice: any difference would be the script's own
    for (const { logits, logProbs, gradients, rounds, agrees } of [agreement.float32, agreement.nf4]) {
      assert.deepEqual([logits, logProbs, gradients], [0, 0, 0]);
      // rounds with kept keys and values, against scores
      assert.ok(rounds < 1e-4, `${rounds}`);
      assert.equal(agrees, true);
    }
    // 4-bit projections and 16-bit tables are far smaller than 2 x 64 x ... floats
    assert.equal(model.quantize, "nf4");
    assert.ok(model.weights_bytes < 400_000, `${model.weights_bytes} bytes`);
    assert.equal(phases.rollout.tokens, 4 * 32);
    for (const phase of [phases.rollout, ...Object.values(phases.flowGrpo), ...Object.values(phases.espo)])
      assert.ok(phase.seconds > 0 && phase.host_mib > 0);
  });

  it("refuses what it cannot use, and says how to try it", () => {
    assert.match(check("--size", "9b").stderr, /--size: expected one of 8b, tiny, got 9b/);
    const { status, stderr } = check("--quantize", "int3");
    assert.equal(status, 1);
    assert.match(stderr, /expected one of nf4, bf16, fp16, none/);
  });

  it("knows what ReFusion's arithmetic takes", async () => {
    const shape = (await import(pathToFileURL(join(packageRoot(), "scripts", "gpu", "shape.mjs")).href)) as {
      SIZES: Record<string, object>;
      forwardFlop(shape: object): number;
      limits(shape: object, tflops: number): { rollout: number; espo: { update: number } };
    };
    const eight = shape.SIZES["8b"] as object;
    assert.ok(Math.abs(shape.forwardFlop(eight) / 7.67e12 - 1) < 1e-3);
    const { rollout, espo } = shape.limits(eight, 790);
    assert.ok(Math.abs(rollout - 2.48) < 0.01);
    assert.ok(Math.abs(espo.update - 0.31) < 0.01);
  });
});

describe("scripts/gpu/train.sh", () => {
  it("brings the adapter of the last checkpoint back, and goes on when it is called again", () => {
    const out = temporaryFolder("gpu-train-test");
    const train = (config: string, ...overrides: string[]): ReturnType<typeof check> =>
      spawnSync(join(packageRoot(), "scripts", "gpu", "train.sh"), ["600", "sft", config, ...overrides], {
        encoding: "utf8",
        env: { ...process.env, REFUSION_DIST: compiled, OUT: out },
      });
    const small = ["objective.trainable=lora", "objective.output=null", "objective.batch_size=2", "training.steps=2"];
    for (const _ of ["trained", "resumed after its end"]) {
      const { status, stdout, stderr } = train("configs/tiny/letters-sft.yaml", ...small, "objective.optimizer=adamw");
      assert.equal(status, 0, `${stderr}${readFileSync(join(out, "train.log"), "utf8")}`);
      assert.deepEqual(JSON.parse(stdout), { part: "train", checkpoint: "step-000002", rc: 0 });
    }
    assert.equal(readPeft(join(out, "adapter")).rank, 8);
  });
});
