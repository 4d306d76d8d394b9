import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * Returns the start of a process, as the system writes it. Pids are reused, after a reboot or in a new container at
 * once; a pid with its start identifies one process for good.
 * @returns undefined where no such process runs, or where the system does not tell (Windows).
 */
export function processStart(pid: number): string | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  if (process.platform === "linux") {
    const fields = linuxStat(pid);
    return fields === undefined ? undefined : `${bootId()}/${fields[19]}`;
  }
  return ps("lstart", pid);
}

/** Returns the process group of a process, the target of a terminal's signals and `kill -PGID`. Undefined as above. */
export function processGroup(pid: number): number | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  const text = process.platform === "linux" ? linuxStat(pid)?.[2] : ps("pgid", pid);
  return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text);
}

/** Reads /proc/PID/stat from its third field on (proc(5)): state, parent, group ...; undefined for an ended process. */
function linuxStat(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // the second field is the name, in parentheses, and may contain any character
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields;
  } catch {
    return undefined;
  }
}

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}

function ps(column: string, pid: number): string | undefined {
  if (process.platform === "win32") return undefined;
  const { stdout } = spawnSync("ps", ["-o", `${column}=`, "-p", String(pid)], {
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C", TZ: "UTC" },
  });
  const text = (stdout ?? "").trim();
  return text === "" ? undefined : text;
}

/** Tells whether the process of this pid and start still runs; by the pid alone where no start is known. */
export function isSameProcess(pid: number, start: string | undefined): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  if (start !== undefined) return processStart(pid) === start;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
