/** CPU time of this process and of those that it has started, from /proc: on Linux only. */
import { readdirSync, readFileSync } from "node:fs";

/** Milliseconds of a tick of /proc (`getconf CLK_TCK` is 100 on Linux). */
const TICK_MS = 10;

/** Reads a process. @returns undefined if it has ended. */
function read(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [, parent, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { parent, ms: TICK_MS * (Number(rest[9]) + Number(rest[10])) };
  } catch {
    return undefined;
  }
}

function kindOf(pid) {
  if (pid === String(process.pid)) return "node";
  const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  const kind = / --type=([\w-]+)/.exec(command)?.[1] ?? "browser";
  return kind === "utility" ? (/ --utility-sub-type=(\w+)/.exec(command)?.[1] ?? kind) : kind;
}

/** Finds this process and its descendants. @returns their kinds by process id. */
export function findProcesses() {
  const all = new Map();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const found = read(pid);
    if (found !== undefined) all.set(pid, found.parent);
  }
  const isOurs = (pid) => pid === String(process.pid) || (all.has(pid) && isOurs(all.get(pid)));
  return new Map([...all.keys()].filter(isOurs).map((pid) => [pid, kindOf(pid)]));
}

/** Sums the CPU milliseconds of processes so far, by kind; those of this one are exact. */
export function cpuByKind(processes) {
  const { user, system } = process.cpuUsage();
  const sums = { node: (user + system) / 1000 };
  for (const [pid, kind] of processes) if (kind !== "node") sums[kind] = (sums[kind] ?? 0) + (read(pid)?.ms ?? 0);
  return sums;
}
