import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { packageRoot } from "../../src/core/files.js";
import { freePort } from "../support/redis.js";
import { temporaryFolder } from "../support/temporary.js";

const RAY = "ray[default]==2.60.0";
/** Where it is installed once: the folder that npm leaves to tools. */
const VENV = join(packageRoot(), "node_modules", ".cache", "ray-2.60.0");
const INSTALL_MS = 240_000;
const START_MS = 60_000;

/** The program `ray`, installed by pip where it is not there; or why it cannot be had. */
export function findRay(): { program: string } | { missing: string } {
  const runs = (program: string, args = ["--version"]): boolean =>
    spawnSync(program, args, { stdio: "ignore", timeout: INSTALL_MS }).status === 0;
  const own = process.env.REFUSION_TEST_RAY;
  if (own !== undefined) return { program: own };
  const program = join(VENV, "bin", "ray");
  if (existsSync(join(VENV, "complete"))) return { program };
  if (process.platform !== "linux") return { missing: "its processes are found and ended as Linux does" };
  if (!runs("python3", ["-m", "venv", "--clear", VENV])) return { missing: "python3 with venv is not installed here" };
  if (!runs(join(VENV, "bin", "pip"), ["install", "-q", RAY])) return { missing: `pip cannot install ${RAY} here` };
  writeFileSync(join(VENV, "complete"), "");
  return { program };
}

/** A Ray head of the test's own, on free ports of the loopback interface. This package is installed on it, for npx. */
export class TestRay {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  static async start(program: string): Promise<TestRay> {
    // sockets lie in there: the path has to be short
    const dir = temporaryFolder("ray");
    const prefix = join(dir, "installed");
    mkdirSync(join(prefix, "bin"), { recursive: true });
    mkdirSync(join(prefix, "lib", "node_modules"), { recursive: true });
    symlinkSync(packageRoot(), join(prefix, "lib", "node_modules", "refusion-train"));
    for (const name of ["train", "eval"]) {
      const script = join(packageRoot(), "dist", "src", "cli", `${name}.js`);
      const shim = `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`;
      writeFileSync(join(prefix, "bin", `refusion-${name}`), shim, { mode: 0o755 });
    }
    const [head, client, dashboard, agent] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
    const options = {
      ...{ port: head, "ray-client-server-port": client, "min-worker-port": 0, "max-worker-port": 0 },
      ...{ "dashboard-port": dashboard, "dashboard-agent-listen-port": agent, "dashboard-host": "127.0.0.1" },
      // CPUs as the jobs ask for, whatever this machine has
      ...{ "node-ip-address": "127.0.0.1", "num-cpus": 8, "object-store-memory": 80_000_000, "temp-dir": dir },
    };
    const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    const child = spawn(program, ["start", "--head", "--block", "--disable-usage-stats", ...args], {
      env: { ...process.env, npm_config_prefix: prefix, npm_config_cache: join(dir, "npm") },
      stdio: ["ignore", "ignore", "pipe"],
      detached: true,
    });
    let err = "";
    child.stderr?.on("data", (data: Buffer) => {
      err = (err + data).slice(-2000);
    });
    const ray = new TestRay(child, `http://127.0.0.1:${dashboard}`);
    const began = performance.now();
    while (!(await ray.answers())) {
      if (child.exitCode !== null || performance.now() - began > START_MS) {
        await ray.stop();
        throw new Error(`the Ray head does not start: ${err}`);
      }
      await sleep(200);
    }
    return ray;
  }

  /** Whether jobs can be submitted. */
  private async answers(): Promise<boolean> {
    return fetch(`${this.url}/api/jobs/`).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once("close", resolve));
    if (this.child.exitCode === null && this.child.signalCode === null) {
      // the head ends its daemons; what does not listen is in its process group
      this.child.kill("SIGTERM");
      await Promise.race([ended, sleep(5000, undefined, { ref: false })]);
    }
    try {
      process.kill(-(this.child.pid as number), "SIGKILL");
    } catch {
      // nothing is left
    }
  }
}
