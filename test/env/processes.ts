import { readdirSync, readFileSync } from "node:fs";

/** A process, told apart from a later one of the same id by when it started. */
export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly started: string;
  /** Resident memory in bytes. */
  readonly rss: number;
}

const PAGE_BYTES = 4096;

/** All processes of the machine that run (a dead one that waits for its parent does not); none without /proc. */
function processes(): Map<number, Process> {
  const found = new Map<number, Process>();
  let names: string[] = [];
  try {
    names = readdirSync("/proc");
  } catch {
    // not Linux
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
      // gone already
    }
  }
  return found;
}

/** A process and all that descend from it. */
export function processTree(root: number | undefined): Process[] {
  const all = processes();
  const under = (pid: number): boolean => {
    for (let id: number | undefined = pid; id !== undefined && id > 1; id = all.get(id)?.parent)
      if (id === root) return true;
    return false;
  };
  return [...all.values()].filter((process) => under(process.pid));
}

/** Which of these processes still run. */
export function stillRunning(known: readonly Process[]): Process[] {
  const all = processes();
  return known.filter((process) => all.get(process.pid)?.started === process.started);
}

/** Waits until none of these processes runs; a child of a killed Chromium ends as soon as it notices. */
export async function allEnded(known: readonly Process[], patienceMs = 20_000): Promise<boolean> {
  const end = performance.now() + patienceMs;
  while (performance.now() < end) {
    if (stillRunning(known).length === 0) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}
