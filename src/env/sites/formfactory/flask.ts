import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf, UserError } from "../../../core/errors.js";

/** FormFactory's own application, in processes of our own. */
export interface FlaskOptions {
  readonly python: string;
  /** The checkout's app.py. */
  readonly app: string;
}

/**
 * Runs `flask run` and ends with us: when the pipe on stdin closes, whatever the reason, the process takes its working
 * directory away and ends. argv: app.py, port.
 */
const LAUNCHER = `
import os, shutil, sys, threading
def end():
    sys.stdin.buffer.read()
    shutil.rmtree(os.getcwd(), ignore_errors=True)
    os._exit(0)
threading.Thread(target=end, daemon=True).start()
from flask.cli import main
sys.argv = ["flask", "--app", sys.argv[1], "run", "--host", "127.0.0.1", "--port", sys.argv[2]]
main()
`;
/** Importing Flask takes half a second, on a machine with nothing else to do. */
const START_PATIENCE_MS = 120_000;
const STOP_PATIENCE_MS = 3000;
/** Another program may take the port between our look and Flask's. */
const PORT_TRIES = 3;

/** One Flask process: it writes what is posted into its working directory, which is a temporary one of its own. */
export class FlaskWorker {
  private constructor(
    private readonly child: ChildProcess,
    private readonly dir: string,
    readonly baseUrl: string,
  ) {}

  /** @throws UserError where Python or Flask are missing, or the application does not start. */
  static async start(options: FlaskOptions): Promise<FlaskWorker> {
    for (let tries = 1; ; tries++) {
      const dir = await mkdtemp(join(tmpdir(), "refusion-flask-"));
      const port = await freePort();
      const child = spawn(options.python, ["-c", LAUNCHER, options.app, String(port)], {
        cwd: dir,
        stdio: ["pipe", "ignore", "pipe"],
        // no __pycache__ in the checkout, no reloader
        env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1", FLASK_DEBUG: "0" },
      });
      const worker = new FlaskWorker(child, dir, `http://127.0.0.1:${port}`);
      const problem = await worker.ready();
      if (problem === undefined) return worker;
      await worker.stop();
      if (/address already in use/i.test(problem) && tries < PORT_TRIES) continue;
      throw new UserError(`FormFactory's own server does not start (${options.python}): ${problem}`, {
        hint: "Install Flask for that Python (pip install flask), set site.python=PATH, or use site.server=node, which needs no Python.",
      });
    }
  }

  /** Whether the process runs. */
  get alive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null && this.child.pid !== undefined;
  }

  /** Ends the process by its own id and takes its working directory away. */
  async stop(): Promise<void> {
    if (this.alive) {
      const ended = once(this.child, "exit");
      this.child.kill("SIGTERM");
      if ((await Promise.race([ended, sleep(STOP_PATIENCE_MS, "late", { ref: false })])) === "late") {
        this.child.kill("SIGKILL");
        await ended;
      }
    }
    await rm(this.dir, { recursive: true, force: true });
  }

  /** Waits until it answers. @returns what went wrong, or undefined. */
  private async ready(): Promise<string | undefined> {
    let said = "";
    this.child.on("error", () => undefined); // told by `once` below; later ones by its exit
    const failed = await once(this.child, "spawn").then(() => undefined, messageOf);
    if (failed !== undefined) return failed;
    // read to the end: a full pipe would stop it
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-4000);
    });
    const end = performance.now() + START_PATIENCE_MS;
    while (performance.now() < end) {
      if (!this.alive) return said.trim().split("\n").at(-1) || `it ended with ${this.child.exitCode}`;
      const answers = await fetch(this.baseUrl, { signal: AbortSignal.timeout(2000) }).then(
        (response) => response.body?.cancel().then(() => true) ?? true,
        () => false,
      );
      if (answers && this.alive) return undefined;
      await sleep(50);
    }
    return `no answer after ${START_PATIENCE_MS / 1000} s`;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
