import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { loadRegistries } from "../../src/config/registries.js";

const dir = mkdtempSync(join(tmpdir(), "cli-train-"));
after(() => rmSync(dir, { recursive: true, force: true }));

const program = fileURLToPath(new URL("../../src/cli/train.js", import.meta.url));

function run(...args: string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { cwd: dir, encoding: "utf8" });
  return { code: status, out: stdout, err: stderr };
}

test("help lists a subcommand for each objective and each file in commands/", async () => {
  const { code, out, err } = run("--help");
  assert.equal(code, 0, err);
  for (const name of [...(await loadRegistries()).objectives.keys(), "init", "try"])
    assert.match(out, new RegExp(`^  ${name} `, "m"));
});

test("wrong calls exit 2, say what is near, and leave stdout empty", () => {
  for (const [args, message] of [
    [[], /Usage/],
    [["initt"], /Did you mean init/],
    [["init", "sft", "--out", "new.yaml", "--modl"], /Did you mean --model/],
  ] as const) {
    const { code, out, err } = run(...args);
    assert.deepEqual([code, out], [2, ""], args.join(" "));
    assert.match(err, message);
  }
});

test("an objective without a config, with a broken one, or with flags for keys exits 2 with the next step", async (t) => {
  const name = [...(await loadRegistries()).objectives.keys()][0];
  if (name === undefined) return t.skip("no objective is installed");
  assert.deepEqual([run(name).code, run(name, "--config", "none.yaml").code], [2, 2]);
  const path = join(dir, "bad.yaml");
  writeFileSync(path, "model: m\ntrainig: 1\nseed: x\n");
  const bad = run(name, "--config", path, "--dry-run", "evaluation.episodes=0");
  assert.equal(bad.code, 2);
  assert.match(
    bad.err,
    /3 problems[\s\S]*trainig \(line 2\)[\s\S]*seed \(line 3\)[\s\S]*command line: evaluation\.episodes=0[\s\S]*next: /,
  );
  const dashes = run(name, "--config", path, "--training.steps=3");
  assert.equal(dashes.code, 2);
  assert.match(dashes.err, /take no dashes: training\.steps=3/);
  const port = run(name, "--config", path, "--ui", "training.steps=3");
  assert.equal(port.code, 2);
  assert.match(port.err, /--ui \[port\].*Expected a port, 0 to 65535; key=value arguments go before/);
  // by the name that the documentation calls it by, from any folder
  const shipped = run(
    name,
    "--config",
    "configs/tiny/quickstart.yaml",
    `objective.kind=${name}`,
    "evaluation.episodes=0",
  );
  assert.match(shipped.err, /quickstart\.yaml has a problem:\n {2}evaluation\.episodes/);
  const help = run(name, "--help");
  assert.equal(help.code, 0);
  assert.match(help.out, /training\.steps=20 +optimizer steps/);
});
