import type { Queue, QueueEvents } from "bullmq";
import { isMalformed } from "./protocol.js";

/** Between two looks at what events may have missed. */
const SWEEP_MS = 1000;

/** Waits for jobs of one queue, also over events that a lost link has swallowed. */
export class Waiter {
  private readonly waiting = new Map<string, { resolve(value: unknown): void; reject(error: Error): void }>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly queue: Queue,
    events: QueueEvents,
  ) {
    events.on("completed", ({ jobId, returnvalue }) => this.end(jobId, (w) => w.resolve(returnvalue)));
    events.on("failed", ({ jobId, failedReason }) => this.end(jobId, (w) => w.reject(new Error(String(failedReason)))));
    this.timer = setInterval(() => void this.sweep().catch(() => undefined), SWEEP_MS);
  }

  /** @returns what the job returned. @throws Error with the reason where it failed. */
  ask(id: string, name: string, data: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      const kept = { removeOnComplete: { age: 3600 }, removeOnFail: true, stackTraceLimit: 1 };
      this.queue.add(name, data, { jobId: id, ...kept }).catch(reject);
    });
  }

  /** Takes a job out of the queue, so that it can be asked for anew. */
  async forget(id: string): Promise<void> {
    await this.queue.remove(id);
  }

  private end(id: string, how: (waiting: { resolve(value: unknown): void; reject(error: Error): void }) => void): void {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (waiting !== undefined) how(waiting);
  }

  private async sweep(): Promise<void> {
    for (const id of [...this.waiting.keys()]) {
      const state = await this.queue.getJobState(id);
      if (state === "completed") {
        const job = await this.queue.getJob(id).catch((error: unknown) => {
          if (!isMalformed(error)) throw error;
          return { returnvalue: undefined };
        });
        if (job !== undefined) this.end(id, (w) => w.resolve(job.returnvalue));
      } else if (state === "unknown") this.end(id, (w) => w.reject(new Error(`${id} is no longer there`)));
    }
  }

  close(): void {
    clearInterval(this.timer);
    for (const id of [...this.waiting.keys()]) this.end(id, (w) => w.reject(new Error("the worker ends")));
  }
}
