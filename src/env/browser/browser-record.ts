import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { isSameProcess, processGroup, processStart } from "../../core/processes.js";

/**
 * A browser ends with the process that drives it, as its pipe closes; a hanging browser does not. So each running
 * browser is recorded by process id and start time, and the next start ends those whose driver has ended.
 */

const processSchema = z.strictObject({ pid: z.int().positive(), start: z.string().min(1) });
const recordSchema = z.strictObject({
  driver: processSchema,
  browser: processSchema,
  /** The process group of the browser and its helpers; null if it is unknown, or the driver's group too. */
  group: z.int().positive().nullable(),
});

/** Returns the folder of this user's records. They hold only process ids, and a reboot deletes them. */
const defaultFolder = (): string => join(tmpdir(), `refusion-train-${process.getuid?.() ?? "user"}`);

/** Records a running browser that this process drives. @returns a function that deletes the record. */
export function recordBrowser(pid: number, folder = defaultFolder()): () => void {
  const [start, driverStart] = [processStart(pid), processStart(process.pid)];
  if (start === undefined || driverStart === undefined || !ownFolder(folder)) return () => undefined;
  const group = processGroup(pid);
  const path = join(folder, `browser-${pid}.json`);
  const record: z.infer<typeof recordSchema> = {
    driver: { pid: process.pid, start: driverStart },
    browser: { pid, start },
    group: group === undefined || group === processGroup(process.pid) ? null : group,
  };
  try {
    writeFileSync(path, JSON.stringify(record), { mode: 0o600 });
  } catch {
    // a full disk must not stop the browser
  }
  return () => rmSync(path, { force: true });
}

/** Ends recorded browsers whose driver has ended. @returns their process ids. */
export function endOrphanedBrowsers(folder = defaultFolder()): number[] {
  const ended: number[] = [];
  for (const entry of ownFolder(folder) ? readdirSync(folder) : []) {
    if (!/^browser-\d+\.json$/.test(entry)) continue;
    const path = join(folder, entry);
    const record = readRecord(path);
    if (record !== undefined && isSameProcess(record.driver.pid, record.driver.start)) continue;
    if (record !== undefined && isSameProcess(record.browser.pid, record.browser.start)) {
      try {
        process.kill(record.group === null ? record.browser.pid : -record.group, "SIGKILL");
        ended.push(record.browser.pid);
      } catch {
        // it ended in the meantime
      }
    }
    rmSync(path, { force: true });
  }
  return ended;
}

function readRecord(path: string): z.infer<typeof recordSchema> | undefined {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return undefined;
  }
}

/** Makes the folder. @returns whether this user owns it: records of another user must not end a browser. */
function ownFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const stat = lstatSync(folder);
    return stat.isDirectory() && (process.getuid === undefined || stat.uid === process.getuid());
  } catch {
    return false;
  }
}
