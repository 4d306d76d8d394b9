import type { Queue, QueueEvents } from "bullmq";
import { isMalformed } from "./protocol.js";

/** Interval of the sweep that finds missed events, in milliseconds. */
const SWEEP_MS = 1000;

export type Waiter = ReturnType<typeof waiterOf>;

/** Waits for jobs of one queue, even if their events were lost with the connection. */
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
    /** Adds a job. @returns its return value. @throws Error with the reason of its failure. */
    ask: (id: string, name: string, data: unknown): Promise<unknown> =>
      new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        const kept = { removeOnComplete: { age: 3600 }, removeOnFail: true, stackTraceLimit: 1 };
        queue.add(name, data, { jobId: id, ...kept }).catch(reject);
      }),
    /** Removes a job from the queue, so that the question can be asked again. */
    async forget(id: string): Promise<void> {
      await queue.remove(id);
    },
    close(): void {
      clearInterval(timer);
      for (const id of [...waiting.keys()]) reject(id, "the worker ends");
    },
  };
}
