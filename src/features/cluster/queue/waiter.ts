import type { Queue, QueueEvents } from "bullmq";
import { isMalformed } from "./protocol.js";

/** Between two looks at what events may have missed. */
const SWEEP_MS = 1000;

export type Waiter = ReturnType<typeof waiterOf>;

/** Waits for jobs of one queue, also over events that a lost link has swallowed. */
export function waiterOf(queue: Queue, events: QueueEvents) {
  const waiting = new Map<string, { resolve(value: unknown): void; reject(error: Error): void }>();
  const resolve = (id: string, value: unknown): void => {
    waiting.get(id)?.resolve(value);
    waiting.delete(id);
  };
  const reject = (id: string, why: string): void => {
    waiting.get(id)?.reject(new Error(why));
    waiting.delete(id);
  };
  events.on("completed", ({ jobId, returnvalue }) => resolve(jobId, returnvalue));
  events.on("failed", ({ jobId, failedReason }) => reject(jobId, String(failedReason)));
  const sweep = async (): Promise<void> => {
    for (const id of [...waiting.keys()]) {
      const state = await queue.getJobState(id);
      if (state === "completed") {
        const job = await queue.getJob(id).catch((error: unknown) => {
          if (!isMalformed(error)) throw error;
          return { returnvalue: undefined };
        });
        if (job !== undefined) resolve(id, job.returnvalue);
      } else if (state === "unknown") reject(id, `${id} is no longer there`);
    }
  };
  const timer = setInterval(() => void sweep().catch(() => undefined), SWEEP_MS);
  return {
    /** @returns what the job returned. @throws Error with the reason where it failed. */
    ask: (id: string, name: string, data: unknown): Promise<unknown> =>
      new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        const kept = { removeOnComplete: { age: 3600 }, removeOnFail: true, stackTraceLimit: 1 };
        queue.add(name, data, { jobId: id, ...kept }).catch(reject);
      }),
    /** Takes a job out of the queue, so that it can be asked for anew. */
    async forget(id: string): Promise<void> {
      await queue.remove(id);
    },
    close(): void {
      clearInterval(timer);
      for (const id of [...waiting.keys()]) reject(id, "the worker ends");
    },
  };
}
