import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadConfig } from "../../../src/config/config.js";
import { closing } from "../../../src/core/closing.js";
import { writeArtifacts } from "../../../src/features/artifacts/artifacts.js";
import { readModelFile } from "../../../src/onnx/format/proto.js";
import { Runtime } from "../../../src/onnx/session.js";
import { objective } from "../../../src/rl/objectives/flow-grpo.js";
import { temporaryFolder } from "../../support/temporary.js";

describe("artifacts", () => {
  const root = temporaryFolder("artifacts");

  it("writes graphs of ordinary ops that share one weight file and load in the stock runtime", async () => {
    const config = await loadConfig("configs/tiny/quickstart.yaml", {
      command: "flow-grpo",
      overrides: ["training.micro_batch=2", "training.rollout_batch=2", "runtime.provider=cpu", "runtime.threads=1"],
    });
    const out = join(root, "artifacts");
    const files = await writeArtifacts(config, objective, out);
    assert.deepEqual(
      files.map((file) => file.slice(out.length + 1)),
      ["rollout_model.onnx", "eval_model.onnx", "training_model.onnx", "optimizer_model.onnx", "checkpoint"],
    );
    await using runtime = closing(await Runtime.open({ provider: "cpu", threads: 1 }));
    for (const file of files.slice(0, 4)) {
      const graph = await readModelFile(file);
      const external = [...graph.initializers.values()].flatMap((i) => ("file" in i.data ? [i.data.file] : []));
      assert.ok(external.every((name) => name === "model.safetensors"));
      assert.equal(external.length > 0, !file.endsWith("optimizer_model.onnx"));
      await runtime.load(file, { bytes: readFileSync(file), weightsDir: out });
    }
    await assert.rejects(writeArtifacts(config, objective, out), /exists already/);
  });
});
