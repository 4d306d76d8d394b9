import type { Redis } from "ioredis";
import { messageOf } from "../../../core/errors.js";
import type { StepWorkers } from "../../../runs/metrics.js";
import {
  type Beat,
  beatSchema,
  MOST_TEXT,
  received,
  receivedText,
  workerKey,
  workerName,
  workersKey,
} from "./protocol.js";

/**
 * Reads the heartbeats of a run's workers, by name. Workers without a readable heartbeat are removed from the list.
 * @param refuse is called with the reason of a worker's refusal, and with malformed data.
 */
export async function readBeats(redis: Redis, run: string, refuse: (why: string) => void): Promise<Map<string, Beat>> {
  const beats = new Map<string, Beat>();
  for (const worker of await redis.smembers(workersKey(run))) {
    const beat = await readBeat(redis, run, worker).catch((error: unknown) => refuse(messageOf(error)));
    if (beat === undefined) await redis.srem(workersKey(run), worker);
    else if (beat.refused !== undefined) refuse(`worker ${worker} is refused: ${beat.refused}`);
    else beats.set(worker, beat);
  }
  return beats;
}

/** @returns undefined for a worker that is gone. @throws Error for a malformed name or heartbeat. */
async function readBeat(redis: Redis, run: string, worker: string): Promise<Beat | undefined> {
  received("the name of a worker", workerName, worker);
  const text = await redis.getrange(workerKey(run, worker), 0, MOST_TEXT);
  return text === "" ? undefined : receivedText(`the sign of life of worker ${worker}`, beatSchema, text);
}

/** Sums the workers' times from their heartbeats, each in seconds since the worker joined. */
export class WorkerMeter {
  private before = new Map<string, Beat>();
  private now = { workers: 0, waiting: 0 };
  private most = 0;
  private readonly whole = { up: 0, busy: 0 };
  private last = { up: 0, busy: 0 };

  look(beats: ReadonlyMap<string, Beat>, waiting: number): void {
    for (const [name, beat] of beats) {
      const last = this.before.get(name);
      // a restarted worker of the same name begins at 0
      const known = last !== undefined && last.up <= beat.up && last.busy <= beat.busy ? last : { up: 0, busy: 0 };
      this.whole.up += beat.up - known.up;
      this.whole.busy += beat.busy - known.busy;
    }
    this.before = new Map(beats);
    this.now = { workers: beats.size, waiting };
    this.most = Math.max(this.most, waiting);
  }

  /** Share of idle time in the whole run so far, and the current numbers of workers and waiting jobs. */
  get sofar(): StepWorkers {
    return { ...this.now, idle: idle(this.whole, { up: 0, busy: 0 }) };
  }

  /** The same since the previous call, with the most waiting jobs. */
  take(): StepWorkers {
    const figures = { ...this.now, waiting: this.most, idle: idle(this.whole, this.last) };
    this.last = { ...this.whole };
    this.most = this.now.waiting;
    return figures;
  }
}

function idle(to: { up: number; busy: number }, from: { up: number; busy: number }): number | null {
  const up = to.up - from.up;
  return up > 0 ? 1 - Math.min(1, (to.busy - from.busy) / up) : null;
}
