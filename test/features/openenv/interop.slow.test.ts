import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { packageRoot } from "../../../src/core/files.js";
import type { Environment } from "../../../src/env/environment.js";
import { environment as openenv } from "../../../src/features/openenv/environments/openenv.js";
import { serveOpenEnv } from "../../../src/features/openenv/server.js";
import { train } from "../../../src/library/programs.js";
import { echoEnvironment } from "../../support/echo.js";

const run = promisify(execFile);
const VERSION = "0.10.0";
const PORT = 18_431;

/** A Python with PyPI's openenv: the one that OPENENV_PYTHON names, else a virtual environment of its own. */
async function installed(dir: string): Promise<string> {
  const named = process.env.OPENENV_PYTHON;
  if (named !== undefined) return named;
  await run("python3", ["-m", "venv", join(dir, "venv")]);
  const python = join(dir, "venv", process.platform === "win32" ? "Scripts" : "bin", "python");
  await run(python, ["-m", "pip", "install", "--quiet", `openenv==${VERSION}`], { maxBuffer: 2 ** 26 });
  return python;
}

/** The wheel's own template of a server, with its names filled in. */
async function fromTemplate(python: string, dir: string): Promise<string> {
  const found = await run(python, ["-c", "import openenv.cli.templates as t; print(t.__path__[0])"]);
  const to = join(dir, "echo_env");
  cpSync(join(found.stdout.trim(), "openenv_env"), to, { recursive: true });
  const names = { CLASS_NAME: "Echo", TITLE_NAME: "Echo", NAME: "echo_env", IMAGE_NAME: "echo_env" };
  const fill = (text: string): string =>
    Object.entries(names).reduce((filled, [key, name]) => filled.replaceAll(`__ENV_${key}__`, name), text);
  for (const file of readdirSync(to, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".py"))) {
    const path = join(to, file);
    writeFileSync(path, fill(readFileSync(path, "utf8")));
    if (fill(file) !== file) renameSync(path, join(to, fill(file)));
  }
  return to;
}

async function until(answers: () => Promise<boolean>): Promise<void> {
  for (;;) {
    if (await answers().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

describe(`PyPI's openenv ${VERSION}`, { timeout: 1_800_000 }, () => {
  let dir: string;
  let python: string | undefined;
  let why = "";
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), "openenv-"));
    try {
      python = await installed(dir);
    } catch (error) {
      why = `openenv ${VERSION} cannot be installed here: ${(error as Error).message.split("\n")[0]}`;
    }
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  it("drives our server: reset, step, state, and an error where the environment fails", async (t) => {
    if (python === undefined) return t.skip(why);
    const options = { host: "127.0.0.1", port: 0, sessions: 1, idle: 600 };
    const server = await serveOpenEnv(echoEnvironment(), options);
    try {
      const script = join(packageRoot(), "scripts", "golden", "openenv_client.py");
      const { stdout } = await run(python, [script, server.baseUrl]);
      const told = JSON.parse(stdout) as {
        observation?: { text: string };
        reward?: number;
        done?: boolean;
        error?: string;
      }[];
      assert.equal(told[0]?.observation?.text, "form: library\n Name | library\n\n");
      assert.deepEqual(told[2], { episode_id: "one", step_count: 1, task_id: "echo/val/1", done: false });
      assert.deepEqual([told[4]?.reward, told[4]?.done], [2 / 3, true]);
      assert.match(told[9]?.error ?? "", /turn 1 broke off \(code: EXECUTION_ERROR\)/);
      assert.equal(told[9]?.reward, undefined);
    } finally {
      await server.stop();
    }
  });

  it("serves an environment from its own template: we train on it", async (t) => {
    if (python === undefined) return t.skip(why);
    const cwd = await fromTemplate(python, dir);
    const url = `http://127.0.0.1:${PORT}`;
    const args = ["-m", "uvicorn", "server.app:app", "--port", String(PORT)];
    const server: ChildProcess = spawn(python, args, { cwd, stdio: "ignore" });
    try {
      await until(async () => (await fetch(`${url}/health`)).ok);
      const environment: Environment = await openenv.open({ environment: { kind: "openenv", url, turns: 2 } });
      const texts = ["hi", "a longer message"];
      const [task] = environment.tasks as [Environment["tasks"][number]];
      const outcome = await environment.play(task, async () => ({ text: texts.shift() ?? "" }), new Map());
      assert.deepEqual(outcome.turnRewards, [0.2, 1]);
      const result = await train(join(packageRoot(), "configs", "openenv", "flow-grpo.yaml"), {
        overrides: [`environment.url=${url}`, "training.steps=2", "evaluation.episodes=4"],
        runDir: join(dir, "run"),
      });
      assert.deepEqual([result.steps, result.interrupted], [2, false]);
      assert.ok(existsSync(join(dir, "run", "metrics.jsonl")));
      assert.ok(result.before.every(({ faults, episodes }) => faults === 0 && episodes === 4));
    } finally {
      server.kill();
    }
  });
});
