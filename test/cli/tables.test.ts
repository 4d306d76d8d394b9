import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { formatTables } from "../../src/cli/tables.js";
import { CliProcess } from "../support/cli-process.js";
import { temporaryFolder } from "../support/temporary.js";

const dir = temporaryFolder("tables");

test("eval --show tells of each miss what was done and received, with a picture", async () => {
  const config = join(process.cwd(), "configs", "tiny", "quickstart.yaml");
  const args = ["--config", config, "--split", "val", "--policy", "submit-only", "--episodes", "2", "--show", "--json"];
  const shown = await new CliProcess(args, { program: "eval", cwd: dir }).ended;
  assert.equal(shown.code, 0, shown.err);
  const { misses } = JSON.parse(shown.out) as { misses: { answers: string[]; reward: number; picture: string }[] };
  assert.equal(misses.length, 2);
  for (const { answers, reward, picture } of misses) {
    assert.deepEqual(answers, ["submit"]);
    assert.ok(reward <= 0.2 && existsSync(join(dir, picture)));
  }
});

test("tables mark what is wrong, and show no control character as one", () => {
  const rows = [
    [{ text: "a\u001b[2J" }, { text: "x", tone: "bad" as const }],
    [{ text: "b" }, { text: "" }],
  ];
  const text = formatTables([
    { title: "T", head: ["name", "value"], rows },
    { title: "E", rows: [] },
  ]);
  assert.equal(text, "  T\n      name        value\n    ! a\\u001b[2J  x\n      b\n  E: nothing");
});
