import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { packageRoot } from "../../src/core/files.js";
import { programEnvironment } from "../support/program-environment.js";
import { temporaryFolder } from "../support/temporary.js";

const dir = temporaryFolder("next-steps");

// the programs as an installed package has them
const bin = join(dir, "bin");
mkdirSync(bin);
for (const program of ["train", "eval"]) {
  const file = join(bin, `refusion-${program}`);
  const script = join(packageRoot(), "dist", "src", "cli", `${program}.js`);
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`);
  chmodSync(file, 0o755);
}

const FEW = "training.steps=1 evaluation.episodes=2 'evaluation.splits=[val]'";

/** Runs a command in the test's folder. @returns the commands that it prints as next ones. */
function nextOf(command: string): string[] {
  const trains = /^refusion-train (?:flow-grpo|sft) /.test(command);
  const rollouts = command.includes(" sft ") ? "" : " training.prompts_per_step=2 training.group_size=2";
  // small settings, where the line has none yet
  const small = trains && !command.includes("training.steps=1") ? ` ${FEW}${rollouts}` : "";
  const few = command.startsWith("refusion-eval --") ? " --episodes 2" : "";
  const env = programEnvironment({ PATH: `${bin}${delimiter}${process.env.PATH ?? ""}` });
  const options = { cwd: dir, encoding: "utf8", env } as const;
  const { status, stderr } = spawnSync("sh", ["-c", `${command}${small}${few}`], options);
  assert.equal(status, 0, `${command}\n${stderr}`);
  return [...stderr.matchAll(/(?:^next: |; |with:\n {2})(refusion-.*)$/gm)].map(([, line = ""]) => line);
}

test("every command that a command prints as the next one runs, down to the last", () => {
  const ran: string[] = [];
  const follow = (command: string): void => {
    ran.push(command);
    for (const next of nextOf(command)) if (!ran.includes(next)) follow(next);
  };
  follow("refusion-train init --out first.yaml");
  const run = "runs/first";
  follow(`refusion-train export --merge ${run} --out merged`);
  follow(`refusion-train export --adapter ${run} --out adapter`);
  rmSync(join(dir, "run.yaml"), { force: true });
  follow("refusion-train export --model merged --out halved --quantize bf16");
  follow("refusion-train new-model --config configs/tiny/model.yaml --out fresh");
  assert.ok(ran.length >= 14, ran.join("\n"));
});
