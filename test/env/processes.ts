import { readdirSync, readFileSync } from "node:fs";

/** A process, identified by its id and its start time, since ids are reused. */
export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly started: string;
  /** Resident memory in bytes. */
  readonly rss: number;
}

const PAGE_BYTES = 4096;

/** Lists the running processes of the machine, without zombies; none where there is no /proc. */
function processes(): Map<number, Process> {
  const found = new Map<number, Process>();
  let names: string[] = [];
  try {
    names = readdirSync("/proc");
  } catch {
    // this is not Linux
  }
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (fields[0] === "Z" || fields[0] === "X") continue;
      const pid = Number(name);
      found.set(pid, {
        pid,
        parent: Number(fields[1]),
        started: fields[19] ?? "",
        rss: Number(fields[21]) * PAGE_BYTES,
      });
    } catch {
      // the process has ended
    }
  }
  return found;
}

/** Lists a process and its descendants. */
export function processTree(root: number | undefined): Process[] {
  const all = processes();
  const under = (pid: number): boolean => {
    for (let id: number | undefined = pid; id !== undefined && id > 1; id = all.get(id)?.parent)
      if (id === root) return true;
    return false;
  };
  return [...all.values()].filter((process) => under(process.pid));
}

/** Selects the processes that still run. */
export function stillRunning(known: readonly Process[]): Process[] {
  const all = processes();
  return known.filter((process) => all.get(process.pid)?.started === process.started);
}

/** Waits until these processes have ended; the children of a killed Chromium end a little later. */
export async function allEnded(known: readonly Process[], patienceMs = 20_000): Promise<boolean> {
  const end = performance.now() + patienceMs;
  while (performance.now() < end) {
    if (stillRunning(known).length === 0) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}
