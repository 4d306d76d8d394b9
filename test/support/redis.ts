import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { type AddressInfo, createServer } from "node:net";
import { temporaryFolder } from "./temporary.js";

/** Returns the reason why no Redis can start, after an attempt to install Debian's; undefined where one can. */
export function noRedis(): string | undefined {
  const there = (): boolean => spawnSync("redis-server", ["--version"]).status === 0;
  if (there()) return undefined;
  if (process.platform === "linux" && process.getuid?.() === 0) {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const install = ["install", "-y", "-qq", "--no-install-recommends", "redis-server"];
    spawnSync("apt-get", install, { env, timeout: 180_000 });
  }
  return there() ? undefined : "redis-server is not installed here, and apt-get cannot install it";
}

/** A Redis server for one test, on a free loopback port, with its append-only file in a separate folder. */
export class TestRedis {
  private child: ChildProcess | undefined;
  private constructor(
    private readonly dir: string,
    readonly port: number,
    private readonly args: readonly string[],
  ) {}

  static async start(...args: string[]): Promise<TestRedis> {
    const redis = new TestRedis(temporaryFolder("redis"), await freePort(), args);
    await redis.up();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async up(): Promise<void> {
    const port = this.args.includes("--tls-port") ? [] : ["--port", String(this.port)];
    const kept = ["--appendonly", "yes", "--appendfsync", "always", "--save", "", "--maxmemory-policy", "noeviction"];
    const own = this.args.map((arg) => arg.replace("PORT", String(this.port)));
    this.child = spawn("redis-server", [...port, "--bind", "127.0.0.1", "--dir", this.dir, ...kept, ...own], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const { child } = this;
    await new Promise<void>((resolve, reject) => {
      let text = "";
      child.on("error", reject);
      child.on("exit", () => reject(new Error(`redis-server ended: ${text}`)));
      child.stdout?.on("data", (data: Buffer) => {
        text += data;
        if (text.includes("Ready to accept connections")) resolve();
      });
    });
  }

  /** Stops the server; {@link up} restores the contents of its file. */
  async down(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await gone;
  }

  /** Runs redis-cli. */
  cli(...args: string[]): string {
    return spawnSync("redis-cli", ["-p", String(this.port), ...args], { encoding: "utf8" }).stdout;
  }

  stop(): Promise<void> {
    return this.down();
  }
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
