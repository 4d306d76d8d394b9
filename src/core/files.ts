import { createHash } from "node:crypto";
import {
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import writeFileAtomic from "write-file-atomic";
import { fail, messageOf, UserError } from "./errors.js";

/**
 * Writes a temporary file beside the target, syncs and renames it: a reader sees the old file or the new one.
 * @param mode of the file; by default that of the file that was there, else the usual one.
 * @throws UserError that names the file and the next step.
 */
export async function writeAtomic(path: string, data: string | Uint8Array, mode?: number): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFileAtomic(
      path,
      data instanceof Uint8Array ? Buffer.from(data.buffer, data.byteOffset, data.byteLength) : data,
      mode === undefined ? {} : { mode },
    );
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

/**
 * Creates a directory atomically: `write` fills a temporary one beside it, which is then renamed.
 * @throws UserError where the file system refuses, or the error of `write`. Nothing is left behind then.
 */
export async function writeDirectory<T>(path: string, write: (aside: string) => Promise<T>): Promise<T> {
  const target = resolve(path);
  const aside = `${target}.tmp-${process.pid}`;
  try {
    rmSync(aside, { recursive: true, force: true });
    mkdirSync(aside, { recursive: true });
    const result = await write(aside);
    renameSync(aside, target);
    return result;
  } catch (error) {
    try {
      rmSync(aside, { recursive: true, force: true });
    } catch {
      // the first error is the one to report
    }
    // only an error of the file system is rewritten
    throw (error as NodeJS.ErrnoException).syscall === undefined ? error : cannotWrite(path, error);
  }
}

/** Waits until a file's bytes, or a directory's entries, are on the disk and survive a loss of power. */
export function syncToDisk(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Converts a failed write to a UserError with the next step. A UserError is returned unchanged. */
export function cannotWrite(path: string, error: unknown): UserError {
  if (error instanceof UserError) return error;
  return new UserError(`Cannot write ${path}: ${messageOf(error)}`, { hint: writeHint(error), cause: error });
}

const NO_SPACE = "free some space on that disk, then run the command again (a training run: with --resume)";
const NO_PERMISSION = "give a place that can be written, or correct its permissions";
/** Hints for the errors by which a file system refuses a write. */
const REFUSED_WRITES: ReadonlyMap<string, string> = new Map([
  ["ENOSPC", NO_SPACE],
  ["EDQUOT", NO_SPACE],
  ["EFBIG", "this file system or shell (`ulimit -f`) allows no file of that size"],
  ["EROFS", NO_PERMISSION],
  ["EACCES", NO_PERMISSION],
  ["EPERM", NO_PERMISSION],
]);

/** Returns the hint for a failed write, by the system error behind it. */
export function writeHint(error: unknown): string {
  if (error instanceof UserError && error.cause !== undefined) return writeHint(error.cause);
  const { code = "" } = error as NodeJS.ErrnoException;
  return REFUSED_WRITES.get(code) ?? "check that the directory can be written and its disk is in order";
}

/** Tells whether the file system refused a write: no permission, or no space. */
export function isWriteRefused(error: unknown): boolean {
  const { code = "", path } = error as NodeJS.ErrnoException;
  return path !== undefined && REFUSED_WRITES.has(code);
}

/**
 * Reads a small text file. Refuses a device, which may have no end, and a file over `mostBytes` before reading it.
 * @throws Error that says so.
 */
export function readSmall(path: string, mostBytes = 16 << 20): string {
  const stat = statSync(path);
  if (!stat.isFile() && !stat.isFIFO()) throw new Error("it is no file");
  if (stat.size > mostBytes) throw new Error(`${stat.size} bytes; at most ${mostBytes} are read`);
  return readFileSync(path, "utf8");
}

/** Parses a JSON file. @throws UserError naming a missing or malformed one. */
export function readJson(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    fail(`Cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    fail(`${path} is not valid JSON: ${messageOf(error)}`, { cause: error });
  }
}

/** Returns the SHA-256 of a string or bytes, in hex. */
export const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");

/** Returns the SHA-256 of a file of any size, in hex. */
export async function sha256File(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

/** Returns the user's folder for what is fetched once: `REFUSION_HOME`, else `~/.cache/refusion-train`. */
export const userFolder = (): string => process.env.REFUSION_HOME ?? join(homedir(), ".cache", "refusion-train");

/** Returns the folder of this package's own package.json (with models/ and configs/). */
export function packageRoot(): string {
  let dir = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(dir, "package.json"))) {
    const up = dirname(dir);
    if (up === dir) throw new Error("package.json not found above the sources");
    dir = up;
  }
  return dir;
}
