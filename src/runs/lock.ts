import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { isSameProcess, processStart } from "../core/processes.js";

/** Attempts to take a lock that vanishes or changes owner meanwhile. */
const ATTEMPTS = 5;

/** The process that a lock file names. */
interface Owner {
  readonly pid: number;
  readonly start: string | undefined;
}

/**
 * Takes a lock file that names this process. A lock of an ended process is taken over; this process's own lock is kept.
 * @returns a function that releases it, or the pid of the process that holds it.
 * @throws the file system's own error where the file cannot be written.
 */
export function acquireLock(path: string): { release(): void } | { heldBy: number } {
  const mine = `${path}.${process.pid}`;
  // written in full before it is linked: a reader never meets an empty lock
  writeFileSync(mine, `${process.pid} ${processStart(process.pid) ?? ""}`);
  const release = (): void => rmSync(path, { force: true });
  try {
    let heldBy = 0;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (place(mine, path)) return { release };
      const text = readText(path);
      if (text === undefined) continue;
      const owner = parse(text);
      heldBy = owner.pid;
      if (owner.pid === process.pid && isSameProcess(owner.pid, owner.start)) return { release };
      if (isSameProcess(owner.pid, owner.start)) return { heldBy };
      removeStale(path, text);
    }
    return { heldBy };
  } finally {
    rmSync(mine, { force: true });
  }
}

/** Tells whether a living process, this one included, holds a lock file. */
export function isLocked(path: string): boolean {
  const text = readText(path);
  if (text === undefined) return false;
  const { pid, start } = parse(text);
  return isSameProcess(pid, start);
}

/** Links a file to a name unless the name is taken. */
function place(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP" && code !== "ENOSYS") throw error;
  }
  // fallback for a file system without links
  try {
    writeFileSync(to, readFileSync(from), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Removes a stale lock. Two processes may see the same one: only the one that renames that very file removes it. */
function removeStale(path: string, text: string): void {
  const aside = `${path}.stale-${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  if (readText(aside) !== text) place(aside, path);
  rmSync(aside, { force: true });
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function parse(text: string): Owner {
  const [, pid = "0", start = ""] = /^(\d+)(?: (.*))?$/.exec(text.trim()) ?? [];
  return { pid: Number(pid), start: start === "" ? undefined : start };
}
