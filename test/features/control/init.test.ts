import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../../src/config/config.js";
import { callProgram } from "../../support/call-program.js";
import { temporaryFolder } from "../../support/temporary.js";
import { FOR_CONTROL, velocityModel } from "./velocity-model.js";

const dir = temporaryFolder("init-control");

test("a network that reads no tokens gets an environment of actions", async () => {
  const { dir: model } = await velocityModel(undefined, { ...FOR_CONTROL, depth: 8 });
  const out = join(dir, "control.yaml");
  const asked = ["init", "--model", model, "--out", out, "environment.depth=8"];
  const { code, err } = await callProgram("train", dir, asked);
  assert.equal(code, 0, err);
  const { environment, sampler } = await loadConfig(out, { command: "flow-grpo" });
  assert.deepEqual([environment.kind, sampler.kind], ["control", "flow"]);
  assert.doesNotMatch(readFileSync(out, "utf8"), /^(site|prompt|browser):/m);
});
