import type { Job, Queue, QueueEvents, Worker } from "bullmq";
import { optional } from "../../../core/optional.js";
import { type Connections, NEEDED } from "./connection.js";
import { PREFIX, type QueueName, queueName } from "./protocol.js";

/** Number of lost workers after which a job fails: one that crashes every worker must not go on for ever. */
const LOST_WORKERS = 10;
/** Length of a queue's event stream; entries are small. */
const EVENTS = 1000;
const EVENTS_PAUSE_MS = 500;

export type Queues = Awaited<ReturnType<typeof openQueues>>;

/** Opens the BullMQ queues of one run. */
export async function openQueues(connections: Connections, run: string) {
  const bull = await optional(NEEDED, "bullmq", () => import("bullmq"));
  const common = () => ({ connection: connections.connect(), prefix: PREFIX });
  return {
    /** @param guest true for a queue of another process: its metadata are not written, as it may be deleted already. */
    queue(kind: QueueName, guest = false): Queue {
      const streams = { events: { maxLen: EVENTS } };
      return silenced(new bull.Queue(queueName(run, kind), { ...common(), streams, skipMetasUpdate: guest }));
    },

    /** Reads events of a queue. A malformed event interrupts it for a moment: listeners must also poll the queue. */
    events(kind: QueueName): QueueEvents {
      const events = silenced(new bull.QueueEvents(queueName(run, kind), { ...common(), autorun: false }));
      const follow = (): void => {
        events.run().catch(() => {
          if (events.closing === undefined) setTimeout(follow, EVENTS_PAUSE_MS).unref();
        });
      };
      follow();
      return events;
    },

    /** @param lease seconds without a renewal after which a worker's job goes to another worker. */
    worker(
      kind: QueueName,
      { lease, ...options }: { readonly concurrency: number; readonly lease: number; readonly name: string },
      process: (id: string, data: unknown, later: Later) => Promise<unknown>,
    ): Worker {
      const take = async (job: Job, token?: string): Promise<unknown> =>
        process(job.id ?? "", job.data, async (ms) => {
          await job.moveToDelayed(Date.now() + ms, token);
          throw new bull.DelayedError();
        });
      const worker = new bull.Worker(queueName(run, kind), take, {
        ...common(),
        ...options,
        lockDuration: lease * 1000,
        stalledInterval: (lease * 1000) / 2,
        maxStalledCount: LOST_WORKERS,
        // after an outage of Redis, the queue is polled again soon
        drainDelay: 2,
      });
      return silenced(worker);
    },
  };
}

/** Delays a job by some milliseconds; this does not count as an attempt. */
export type Later = (ms: number) => Promise<never>;

/** Ignores errors of an emitter: the connection reports them, and without a listener they would end the process. */
function silenced<T extends { on(event: "error", listener: (error: Error) => void): unknown }>(emitter: T): T {
  emitter.on("error", () => undefined);
  return emitter;
}
