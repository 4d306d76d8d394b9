import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { before, describe, it } from "node:test";
import { parse } from "yaml";
import { packageRoot } from "../../src/core/files.js";
import { temporaryFolder } from "../support/temporary.js";

const CONFIG = `
model: models/tiny-refusion-template
environment: { kind: paper }
sampler: { kind: unmask, rounds: 1, prompt_length: 56 }
objective: { kind: flow-grpo }
training: { steps: 1, prompts_per_step: 1, group_size: 2 }
evaluation: { splits: [val], episodes: 8 }
tracking: { tensorboard: false }
report: { screenshots: 0 }
`;

interface Step {
  readonly name?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}
interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
}

const hasBash = spawnSync("bash", ["--version"]).status === 0;

describe("action.yml", { skip: hasBash ? false : "there is no bash" }, () => {
  const action = parse(readFileSync(join(packageRoot(), "action.yml"), "utf8")) as Action;
  const dir = temporaryFolder("action");
  const file = (name: string): string => join(dir, name);
  const cli = (name: string, ...args: string[]): string =>
    execFileSync(process.execPath, [join(packageRoot(), "dist", "src", "cli", name), ...args], { encoding: "utf8" });

  /** Runs a step as GitHub does. @returns the exit code and what it printed. */
  const step = (name: string, inputs: Readonly<Record<string, string>>): { status: number | null; printed: string } => {
    const { run, env = {} } = action.runs.steps.find((one) => one.name === name) as Step;
    const known: Record<string, string> = {
      ...Object.fromEntries(Object.entries(action.inputs).map(([key, given]) => [`inputs.${key}`, given.default])),
      ...Object.fromEntries(Object.entries(inputs).map(([key, value]) => [`inputs.${key}`, value])),
      "github.action_path": packageRoot(),
      "github.repository": "somebody/forms",
      "github.event.pull_request.number": "7",
      "runner.temp": dir,
      "steps.evaluate.outputs.report": file("refusion-eval.md"),
    };
    const filled = Object.entries(env).map(([key, value]) => [
      key,
      value.replaceAll(/\$\{\{ (\S+) \}\}/g, (_, expression: string) => {
        assert.ok(expression in known, expression);
        return known[expression] as string;
      }),
    ]);
    const own = {
      GITHUB_STEP_SUMMARY: file("summary.md"),
      GITHUB_OUTPUT: file("output"),
      ...Object.fromEntries(filled),
    };
    const surroundings = { ...process.env, PATH: `${dir}${delimiter}${process.env.PATH}`, ...own };
    const strict = ["--noprofile", "--norc", "-eo", "pipefail", "-c", run ?? ""];
    const { status, stdout, stderr } = spawnSync("bash", strict, { encoding: "utf8", env: surroundings });
    return { status, printed: stdout + stderr };
  };

  before(() => {
    writeFileSync(file("mine.yaml"), CONFIG);
    // stands for GitHub's program: keeps what it was told, and fails where the token may not write
    writeFileSync(file("gh"), `#!/bin/sh\necho "$@" > ${file("told")}\ntest "$GH_TOKEN" = writes\n`);
    chmodSync(file("gh"), 0o755);
    cli("train.js", "flow-grpo", "--config", file("mine.yaml"), "--run-dir", file("a run"));
  });

  it("writes tables with intervals into the summary, and differences to a baseline", () => {
    const { status, printed } = step("Evaluate", {
      run: file("a run"),
      baseline: join(file("a run"), "eval", "before", "val.json"),
      arguments: "--split val --episodes 8",
    });
    assert.equal(status, 0, printed);
    const summary = readFileSync(file("summary.md"), "utf8");
    assert.match(summary, /^### refusion-eval .*a run\n```\n/);
    assert.match(summary, /model +val +8 +0 +\d\.\d{3} \[\d\.\d{3}, \d\.\d{3}\]/);
    assert.match(summary, /difference +split +pairs/);
    assert.ok(summary.endsWith("```\n"));
    assert.equal(readFileSync(file("output"), "utf8"), `report=${file("refusion-eval.md")}\n`);
  });

  it("comments on the pull request, and is content with the summary where it may not", () => {
    const told = `pr comment 7 --repo somebody/forms --body-file ${file("refusion-eval.md")} --edit-last --create-if-none\n`;
    for (const [token, printed] of [
      ["writes", ""],
      ["reads", "::notice::the tables stand in the summary of this job alone\n"],
    ] as const) {
      assert.deepEqual(step("Comment", { token }), { status: 0, printed });
      assert.equal(readFileSync(file("told"), "utf8"), told);
    }
  });

  it("fails where nothing can be evaluated, and runs no words of its inputs", () => {
    rmSync(file("summary.md"), { force: true });
    const touch = `touch ${file("pwned")}`;
    const { status, printed } = step("Evaluate", { run: `$(${touch})`, arguments: `; ${touch}` });
    assert.notEqual(status, 0);
    assert.match(printed, /error/i);
    assert.throws(() => readFileSync(file("pwned")), /ENOENT/);
    assert.throws(() => readFileSync(file("summary.md")), /ENOENT/);
  });
});
