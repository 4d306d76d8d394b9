import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packageRoot } from "../../src/core/files.js";
import { programEnvironment } from "../support/program-environment.js";
import { temporaryFolder } from "../support/temporary.js";

const dir = temporaryFolder("first-screen");

/** What each command is called with here, so that it ends soon. */
const FEW: Readonly<Record<string, readonly string[]>> = {
  "npm start": [
    ...["--run-dir", join(dir, "run"), "training.steps=1", "training.prompts_per_step=2", "training.group_size=2"],
    ...["evaluation.episodes=2", "report.screenshots=0"],
  ],
  "npm test": ["onnx/half", "core/semaphore"],
};

test("README begins with the two commands of a clone, their minutes, and both run", () => {
  const [first = ""] = readFileSync(join(packageRoot(), "README.md"), "utf8").split(/^## /m);
  const rows = [...first.matchAll(/^\| `([^`]+)` \| .* \| about [a-z -]+ minutes \|$/gm)];
  const commands = rows.map(([, command]) => command);
  assert.deepEqual(commands, Object.keys(FEW));
  const { NODE_TEST_CONTEXT: _, ...env } = programEnvironment();
  for (const [command, few] of Object.entries(FEW)) {
    const options = { cwd: packageRoot(), encoding: "utf8", env } as const;
    const { status, stdout, stderr } = spawnSync("sh", ["-c", `${command} -- "$@"`, "sh", ...few], options);
    assert.equal(status, 0, `${command}\n${stdout}\n${stderr}`);
    const trained = /^[a-z]+: \d+ of \d+ forms whole, \d+ before; /m;
    assert.match(stdout, command === "npm start" ? trained : /^# pass [1-9]\d*$/m);
  }
  assert.ok(existsSync(join(dir, "run", "report.html")));
});
