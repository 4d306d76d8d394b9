import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "../../../src/config/config.js";
import { verify } from "../../../src/features/verify/verify.js";

test("rollouts in int8 have a limit of their own; the replay in float32 is exact", async () => {
  const overrides = ["runtime.threads=1", "runtime.rollout_precision=int8"];
  const config = await loadConfig("configs/tiny/template-flow-grpo.yaml", { command: "flow-grpo", overrides });
  const only = ["on-policy"];
  const lines = await verify({ config, objective: undefined, only, signal: new AbortController().signal });
  const [replay, , , gap] = lines;
  assert.ok(lines.every(({ pass }) => pass));
  assert.ok((replay?.measured as number) < 1e-5 && replay?.limit === 1e-5);
  assert.equal(gap?.name, "rollouts in int8");
  assert.ok((gap?.measured as number) > 1e-5, "int8 is not float32");
});

test("replay gives the rollout's log-probabilities where slots are ranked and counted by a sampler of one's own", async () => {
  const overrides = ["runtime.provider=cpu", "runtime.threads=1"];
  const config = await loadConfig("examples/sampler.yaml", { overrides });
  const about = { config, objective: "flow-grpo", only: ["on-policy"], signal: new AbortController().signal };
  const lines = await verify(about);
  assert.ok(lines.length >= 3 && lines.every(({ pass }) => pass), JSON.stringify(lines));
});
