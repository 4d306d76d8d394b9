import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { loadRegistries } from "../../src/config/registries.js";
import { callProgram } from "../support/call-program.js";

const dir = mkdtempSync(join(tmpdir(), "cli-train-"));
after(() => rmSync(dir, { recursive: true, force: true }));

const run = (...args: string[]) => callProgram("train", dir, args);

test("help lists a subcommand for each objective and each file in commands/", async () => {
  const { code, out, err } = await run("--help");
  assert.equal(code, 0, err);
  for (const name of [...(await loadRegistries()).objectives.keys(), "train"])
    assert.match(out, new RegExp(`^  ${name} `, "m"));
});

test("wrong calls exit 2, say what is near, and leave stdout empty", async () => {
  for (const [args, message] of [
    [[], /Usage/],
    [["trian"], /Did you mean train/],
    [["train", "--config", "new.yaml", "--quite"], /Did you mean --quiet/],
  ] as const) {
    const { code, out, err } = await run(...args);
    assert.deepEqual([code, out], [2, ""], args.join(" "));
    assert.match(err, message);
  }
});

test("an objective without a config, with a broken one, or with flags for keys exits 2 with the next step", async (t) => {
  const name = [...(await loadRegistries()).objectives.keys()][0];
  if (name === undefined) return t.skip("no objective is installed");
  assert.deepEqual([(await run(name)).code, (await run(name, "--config", "none.yaml")).code], [2, 2]);
  const path = join(dir, "bad.yaml");
  writeFileSync(path, "model: m\ntrainig: 1\nseed: x\n");
  const bad = await run(name, "--config", path, "--dry-run", "evaluation.episodes=0");
  assert.equal(bad.code, 2);
  assert.match(
    bad.err,
    /3 problems[\s\S]*trainig \(line 2\)[\s\S]*seed \(line 3\)[\s\S]*command line: evaluation\.episodes=0[\s\S]*next: /,
  );
  const dashes = await run(name, "--config", path, "--training.steps=3");
  assert.equal(dashes.code, 2);
  assert.match(dashes.err, /take no dashes: training\.steps=3/);
  const port = await run(name, "--config", path, "--ui", "training.steps=3");
  assert.equal(port.code, 2);
  assert.match(port.err, /--ui \[port\].*Expected a port, 0 to 65535; key=value arguments go before/);
  // by the name that the documentation calls it by, from any folder
  const shipped = await run(
    name,
    "--config",
    "configs/tiny/quickstart.yaml",
    `objective.kind=${name}`,
    "evaluation.episodes=0",
  );
  assert.match(shipped.err, /quickstart\.yaml has a problem:\n {2}evaluation\.episodes/);
  const help = await run(name, "--help");
  assert.equal(help.code, 0);
  assert.match(help.out, /training\.steps=20 +optimizer steps/);
});
