import type { Job, Queue, QueueEvents, Worker } from "bullmq";
import { optional } from "../../../core/optional.js";
import { spansAreOn } from "../../../core/spans.js";
import { type Connections, NEEDED } from "./connection.js";
import { PREFIX, type QueueName, queueName } from "./protocol.js";

/** Times that a job may lose its worker before it is given up: one that kills every worker should not do so for ever. */
const LOST_WORKERS = 10;
/** Entries of a queue's stream of events; each is small. */
const EVENTS = 1000;
const EVENTS_PAUSE_MS = 500;

export type Queues = Awaited<ReturnType<typeof openQueues>>;

/** BullMQ's queues of one run. */
export async function openQueues(connections: Connections, run: string) {
  const bull = await optional(NEEDED, "bullmq", () => import("bullmq"));
  /** Spans of jobs, which go on where a worker takes them. */
  const spans = spansAreOn() ? { telemetry: new (await import("bullmq-otel")).BullMQOtel() } : {};
  const common = () => ({ connection: connections.connect(), prefix: PREFIX });
  return {
    /** @param guest whether the queue is another's: nothing is written of it then, as it may be gone already. */
    queue(kind: QueueName, guest = false): Queue {
      const streams = { events: { maxLen: EVENTS } };
      return silenced(new bull.Queue(queueName(run, kind), { ...common(), streams, skipMetasUpdate: guest, ...spans }));
    },

    /** Events of a queue. A malformed one ends their reading, which begins again: whoever listens looks at the queue too. */
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

    /** @param lease seconds without a sign of life after which its job goes to another worker. */
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
        // a queue that was silent while Redis was away is asked again soon
        drainDelay: 2,
        ...spans,
      });
      return silenced(worker);
    },
  };
}

/** Puts a job off: it is not counted as tried. */
export type Later = (ms: number) => Promise<never>;

/** The connection says what is wrong with it; an emitter without a listener would end the process. */
function silenced<T extends { on(event: "error", listener: (error: Error) => void): unknown }>(emitter: T): T {
  emitter.on("error", () => undefined);
  return emitter;
}
