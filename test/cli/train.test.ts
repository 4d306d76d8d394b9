import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadRegistries } from "../../src/config/registries.js";
import { callProgram } from "../support/call-program.js";
import { temporaryFolder } from "../support/temporary.js";

const dir = temporaryFolder("cli-train");

const run = (...args: string[]) => callProgram("train", dir, args);

const tooLong = (text: string): string[] => text.split("\n").filter(({ length }) => length > 100);

test("help begins with what to do first, names each objective and each file in commands/, and fits a terminal", async () => {
  const { code, out, err } = await run("--help");
  assert.equal(code, 0, err);
  const start = /^Trains [^\n]*\n\nStart here:\n {2}refusion-train try .*\n {2}npm start .*\n {2}refusion-train init /;
  assert.match(out, start);
  for (const name of [...(await loadRegistries()).objectives.keys(), "train"])
    assert.match(out, new RegExp(`^  (?:.*  )?${name}(?: |$)`, "m"));
  assert.deepEqual(tooLong(out), []);
});

test("a training command's help is an overview; a section, a key or all of them are explained when named", async (t) => {
  const name = [...(await loadRegistries()).objectives.keys()][0];
  if (name === undefined) return t.skip("no objective is installed");
  const overview = (await run(name, "--help")).out;
  assert.ok(overview.split("\n").length < 40, overview);
  assert.match(overview, /^ {2}lora +rank alpha targets/m);
  const all = (await run(name, "--help", "all")).out;
  assert.match(all, /^ {2}training\.steps=20 +optimizer steps/m);
  assert.deepEqual(tooLong(`${overview}${all}`), []);
  const section = (await run(name, "--help", "lora")).out;
  assert.match(section, /^ {2}lora\.rank=8 .*\n {2}lora\.alpha=16 /);
  assert.ok(all.includes(section.trimEnd()));
  // by its last word too, or as it is given
  const key = await run(name, "--help", "warmup_steps");
  const given = await run(name, "--help", "training.warmup_steps=40");
  assert.match(key.out, /^ {2}training\.warmup_steps=0 [^\n]*\n$/);
  assert.equal(given.out, key.out);
  const wrong = await run(name, "--help", "trainig");
  assert.deepEqual([wrong.code, wrong.err], [2, "error: There is no config key trainig.\n  next: --help training\n"]);
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
  const wrong = [`objective.kind=${name}`, "evaluation.episodes=0"];
  const shipped = await run(name, "--config", "configs/tiny/quickstart.yaml", ...wrong);
  assert.match(shipped.err, /quickstart\.yaml has a problem:\n {2}evaluation\.episodes/);
});
