import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { positiveInteger, runnable, shellWord } from "../../src/cli/shared.js";
import { temporaryFolder } from "../support/temporary.js";

const shared = new URL("../../src/cli/shared.js", import.meta.url).href;
const errors = new URL("../../src/core/errors.js", import.meta.url).href;

/** A program whose one action is `body`; it sees `context`, `UserError` and `flags`. */
function script(body: string): string[] {
  const source = `
    import { Command } from "commander";
    import { runProgram, setUpProgram } from ${JSON.stringify(shared)};
    import { UserError } from ${JSON.stringify(errors)};
    await runProgram(async (context) => setUpProgram(new Command("demo")).option("--debug", "stack")
      .action(async (flags) => { ${body} }), ["node", "demo", ...process.argv.slice(1)]);`;
  return ["--input-type=module", "-e", source, "--"];
}

function run(body: string, ...args: string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...script(body), ...args], { encoding: "utf8" });
  return { code: status, out: stdout, err: stderr };
}

test("results go to stdout, and the exit code is the program's", () => {
  assert.deepEqual(run(`context.print("a"); context.log("b");`), { code: 0, out: "a\n", err: "b\n" });
  assert.equal(run("context.exitWith(1);").code, 1);
});

test("a user's error is its message and hint, with its own exit code", () => {
  const body = `throw new UserError("no such thing", { hint: "look elsewhere", exitCode: 2 });`;
  assert.deepEqual(run(body), { code: 2, out: "", err: "error: no such thing\n  next: look elsewhere\n" });
});

test("any other error is called a bug; the stack comes with --debug only", () => {
  const body = `throw new TypeError("x is not a function");`;
  const plain = run(body);
  assert.equal(plain.code, 1);
  assert.match(plain.err, /^error: x is not a function\n {2}this is a bug/);
  assert.ok(!/\n\s+at /.test(plain.err));
  assert.match(run(body, "--debug").err, /\n\s+at /);
});

test("an array that is too large is a lack of memory, not a bug", () => {
  const { code, err } = run("new Float32Array(2 ** 53 - 1);");
  assert.equal(code, 1);
  assert.match(err, /^error: out of memory: .*\n {2}next: `refusion-train doctor --config FILE`/);
});

test("a reader of the progress that leaves early does not end the program", async () => {
  const body = `
    for (let i = 0; i < 20; i++) { context.log("step"); await new Promise((done) => setImmediate(done)); }
    context.print("result");`;
  const child = spawn(process.execPath, script(body), { stdio: ["ignore", "pipe", "pipe"] });
  child.stderr.destroy();
  let out = "";
  child.stdout.on("data", (data: Buffer) => {
    out += data;
  });
  const [code] = (await once(child, "close")) as [number | null];
  assert.deepEqual([code, out], [0, "result\n"]);
});

async function interrupted(body: string, signals: number, which: NodeJS.Signals = "SIGINT") {
  const child = spawn(process.execPath, script(body), { stdio: ["ignore", "pipe", "pipe"] });
  const said = { out: "", err: "" };
  let sent = 0;
  for (const [name, stream] of [["out", child.stdout] as const, ["err", child.stderr] as const])
    stream.on("data", (data: Buffer) => {
      said[name] += data;
      if (sent++ < signals) child.kill(which);
    });
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  return { code, signal, ...said };
}

test("the first Ctrl-C lets the work end and be saved, the second ends at once", async () => {
  const wait = `context.print("ready"); const alive = setInterval(() => {}, 1000);`;
  const deaf = await interrupted(`${wait} await new Promise(() => {});`, 1);
  assert.deepEqual([deaf.signal, deaf.out], ["SIGINT", "ready\n"], "nobody would save anything");
  const saved = `context.afterInterrupt = "saving first"; context.signal; ${wait} await new Promise((done) => context.signal.addEventListener("abort", done)); clearInterval(alive); context.print("saved"); context.exitWith(130);`;
  const one = await interrupted(saved, 1);
  assert.deepEqual([one.code, one.out], [130, "ready\nsaved\n"]);
  assert.match(one.err, /interrupted: saving first \(once more/);
  for (const signal of ["SIGTERM", "SIGHUP"] as const) {
    const { code, out } = await interrupted(saved, 1, signal);
    assert.deepEqual([code, out], [130, "ready\nsaved\n"], signal);
  }
  const two = await interrupted(`context.signal; ${wait} await new Promise(() => {});`, 2);
  assert.deepEqual([two.signal, two.out], ["SIGINT", "ready\n"], "which a shell shows as 130");
  const throws = `await new Promise((_, fail) => context.signal.addEventListener("abort", () => fail(context.signal.reason)));`;
  assert.equal((await interrupted(`context.signal; ${wait} ${throws}`, 1)).code, 130);
});

test("a printed word is read back by a shell", () => {
  assert.equal(shellWord("runs/quick-start_2"), "runs/quick-start_2");
  for (const word of ["a b", "it's", "$HOME", "", "*"])
    assert.equal(spawnSync("sh", ["-c", `printf %s ${shellWord(word)}`], { encoding: "utf8" }).stdout, word);
});

test("a printed command runs where it is read: by name, by npx, or by its file", () => {
  const dir = temporaryFolder("commands");
  const bin = join(dir, "node_modules", ".bin");
  mkdirSync(bin, { recursive: true });
  const name = process.platform === "win32" ? "refusion-eval.cmd" : "refusion-eval";
  const text = "next: refusion-eval --run runs/a\n  refusion-eval compare a b; refusion-eval is a program";
  const as = (call: string): string =>
    text.replace("refusion-eval --run", `${call} --run`).replace("refusion-eval compare", `${call} compare`);
  assert.match(runnable("next: refusion-eval --run a", { PATH: "" }, dir), /^next: node \S*eval\.js --run a$/);
  writeFileSync(join(bin, name), "");
  assert.ok(runnable(text, { PATH: "" }, dir).startsWith(as("npx refusion-eval").split(";")[0] as string));
  assert.equal(runnable(text, { PATH: bin }, dir), text);
});

test("a count on the command line is a whole number from 1 to a million", () => {
  assert.equal(positiveInteger("1000000"), 1_000_000);
  for (const text of ["0", "-1", "1.5", "1e6", "1000001", "1000000000000", ""])
    assert.throws(() => positiveInteger(text), /from 1 to 1000000/, text);
});
