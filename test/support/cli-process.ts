import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../src/core/files.js";

/** How a program ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/** The real program in a separate process and process group. */
export class CliProcess {
  out = "";
  err = "";
  readonly ended: Promise<Ending>;
  private readonly child: ChildProcess;
  private listeners: (() => void)[] = [];

  /** @param options.root folder of another copy of this package. */
  constructor(
    args: readonly string[],
    options: { cwd?: string; env?: NodeJS.ProcessEnv; program?: string; root?: string } = {},
  ) {
    const program = join(options.root ?? packageRoot(), "dist", "src", "cli", `${options.program ?? "train"}.js`);
    this.child = spawn(process.execPath, [program, ...args], {
      cwd: options.cwd ?? packageRoot(),
      env: { ...process.env, ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    this.child.stdout?.on("data", (data: Buffer) => this.heard(() => (this.out += data)));
    this.child.stderr?.on("data", (data: Buffer) => this.heard(() => (this.err += data)));
    this.ended = new Promise((resolve, reject) => {
      this.child.on("error", reject);
      this.child.on("close", (code, signal) => {
        this.heard(() => undefined);
        resolve({ code, signal, out: this.out, err: this.err });
      });
    });
  }

  get pid(): number {
    return this.child.pid as number;
  }

  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Waits until the text on stderr matches a pattern. @returns false where the program ended before. */
  async says(pattern: RegExp): Promise<boolean> {
    while (!pattern.test(this.err)) {
      if (!this.running) return false;
      await new Promise<void>((resolve) => this.listeners.push(resolve));
    }
    return true;
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** Sends SIGKILL to the whole process group. */
  killGroup(): void {
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // the process group has already ended
    }
  }

  private heard(note: () => void): void {
    note();
    const { listeners } = this;
    this.listeners = [];
    for (const listener of listeners) listener();
  }
}

/** Lists the ids of the running processes whose command line contains a path; empty outside of Linux. */
export function processesNaming(path: string): number[] {
  const ids = existsSync("/proc") ? readdirSync("/proc").filter((entry) => /^\d+$/.test(entry)) : [];
  return ids.map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(path);
    } catch {
      // it ended meanwhile
      return false;
    }
  });
}
