/**
 * Kills a process in the middle of a write. Loaded before the program (`node --import`), it sends SIGKILL to the
 * process group during the N-th call that writes to a path, or some time after it. Such a call wrote half its bytes.
 *
 * The variable DIE_IN_WRITE holds a `Death` as JSON.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

export interface Death {
  /** Regular expression that the path matches. */
  readonly path: string;
  readonly nth: number;
  /** Milliseconds between the call and the kill; without it, the kill comes during the call. */
  readonly delay?: number;
}

const death = JSON.parse(process.env.DIE_IN_WRITE as string) as Death;
const pattern = new RegExp(death.path);
let left = death.nth;
const paths = new Map<number, string>();
const die = (): void => void process.kill(-process.pid, "SIGKILL");

/** Counts a call; at the N-th call it carries out half of it and kills the process group. */
function count(target: unknown, half: () => unknown = () => undefined): void {
  const path = typeof target === "number" ? paths.get(target) : String(target);
  if (path === undefined || !pattern.test(path) || --left !== 0) return;
  if (death.delay !== undefined) {
    setTimeout(die, death.delay);
    return;
  }
  half();
  die();
}

const { openSync, writeSync, writeFileSync, fsyncSync, renameSync, rename } = fs;
Object.assign(fs, {
  openSync(...args: Parameters<typeof openSync>) {
    const file = openSync(...args);
    paths.set(file, String(args[0]));
    return file;
  },
  writeSync(file: number, data: NodeJS.ArrayBufferView, offset: number, length: number, position: number) {
    count(file, () => writeSync(file, data, offset, Math.floor(length / 2), position));
    return writeSync(file, data, offset, length, position);
  },
  writeFileSync(...args: Parameters<typeof writeFileSync>) {
    const [path, data] = args;
    count(path, () => writeFileSync(path, String(data).slice(0, String(data).length / 2)));
    writeFileSync(...args);
  },
  fsyncSync(file: number) {
    count(file);
    fsyncSync(file);
  },
  renameSync(...args: Parameters<typeof renameSync>) {
    count(args[0]);
    renameSync(...args);
  },
  rename(...args: Parameters<typeof rename>) {
    count(args[0]);
    rename(...args);
  },
});
syncBuiltinESMExports();
