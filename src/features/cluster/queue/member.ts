import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import type { Queue, QueueEvents, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { messageOf } from "../../../core/errors.js";
import { printable } from "../../../core/shown.js";
import { type BlobStore, openBlobs } from "./blobs.js";
import { type Connections, errorText, openConnections, type RedisAddress } from "./connection.js";
import {
  type Announcement,
  announcementSchema,
  BEAT_MS,
  type Beat,
  isMalformed,
  type JobKind,
  type JobResult,
  jobSchema,
  keyOfCopy,
  Malformed,
  MOST_TEXT,
  QUESTIONS,
  RUNS,
  received,
  receivedText,
  runKey,
  WORKER_LIFETIME_S,
  workerKey,
  workersKey,
} from "./protocol.js";
import { type Later, openQueues, type Queues } from "./queues.js";

/** Most attempts at a question whose answer is malformed. */
const ANSWERS = 3;
/** Interval in which a question is looked up, in case its event was lost, in milliseconds. */
const LOOK_UP_MS = 1000;
/** Pause before a job with missing blobs is tried again, in milliseconds. */
const BLOB_PAUSE_MS = 1000;

/** A part of a run is not in Redis yet; the run is examined again later. */
export class NotYet extends Error {}

/** Executes the jobs of one run. */
export interface JobRunner {
  /** Number of concurrent jobs of a kind; absent: 1. */
  readonly concurrency?: Partial<Record<JobKind, number>>;
  /** Executes one job of a kind. @param blob reads a blob that the job names. @returns the result as bytes or text. */
  readonly work: Partial<
    Record<JobKind, (payload: unknown, blob: (address: string) => Buffer, ask: Ask) => Promise<Uint8Array | string>>
  >;
  close(): Promise<void>;
}

/** Asks the coordinator; equal ids get equal answers. @param read throws for a malformed one, which is asked again. */
export type Ask = <T>(id: string, question: unknown, read: (answer: unknown) => T) => Promise<T>;

export interface MemberOptions {
  readonly address: RedisAddress;
  /** Name of the worker, unique among all workers. */
  readonly name: string;
  /** Kinds of jobs that the worker accepts. */
  readonly jobs: readonly JobKind[];
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
  /**
   * Prepares the worker for a run.
   * @throws Error if this worker must not work for it: another version, another model. The coordinator gets the text,
   * which therefore should not quote files of this machine.
   */
  open(announcement: Announcement, blob: (address: string) => Promise<Buffer | undefined>): Promise<JobRunner>;
}

/** Runs a worker: joins the runs announced on a Redis, until it is stopped. It stores nothing. */
export async function serve(options: MemberOptions): Promise<void> {
  const { signal, say } = options;
  const connections = await openConnections(options.address, say);
  const redis = connections.connect();
  const joined = new Map<string, Membership>();
  const refused = new Map<string, string>();
  const ended = signal.aborted ? Promise.resolve() : once(signal, "abort");
  say(`worker ${options.name}: waiting for runs on ${options.address.shown}`);
  try {
    while (!signal.aborted) {
      // an unreachable Redis must not delay the stop
      const looked = look(options, connections, redis, joined, refused).catch((error: unknown) => {
        if (!signal.aborted) say(`worker ${options.name}: ${errorText(error, options.address)}`);
      });
      await Promise.race([ended, looked]);
      await setTimeout(BEAT_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    // running jobs are finished first, if Redis can take their results
    if (redis.status === "ready") for (const membership of joined.values()) await membership.leave("finish");
    connections.close();
  }
}

async function look(
  options: MemberOptions,
  connections: Connections,
  redis: Redis,
  joined: Map<string, Membership>,
  refused: Map<string, string>,
): Promise<void> {
  const announced = new Map<string, string>();
  for (const run of await redis.smembers(RUNS)) {
    const text = await redis.getrange(runKey(run), 0, MOST_TEXT).catch((error: unknown) => {
      if (!isMalformed(error)) throw error;
      return "null";
    });
    if (text === "") await redis.srem(RUNS, run);
    else announced.set(run, text);
  }
  for (const [run, membership] of joined) {
    if (announced.get(run) === membership.announced) continue;
    await membership.leave("at once");
    joined.delete(run);
    options.say(`worker ${options.name}: left ${membership.name}`);
  }
  for (const [run, text] of announced) {
    if (joined.has(run) || refused.get(run) === text) continue;
    try {
      const announcement = receivedText(`the announcement of ${printable(run, 100)}`, announcementSchema, text);
      if (announcement.run !== run) throw new Error(`the announcement of ${printable(run, 100)} is another run's`);
      joined.set(run, await Membership.join(options, connections, redis, announcement, text));
    } catch (error) {
      if (error instanceof NotYet) continue;
      // reported once, and tried again if the announcement changes
      refused.set(run, text);
      options.say(`worker ${options.name}: refused: ${messageOf(error)}`);
    }
  }
  for (const run of refused.keys()) if (!announced.has(run)) refused.delete(run);
  for (const membership of joined.values()) await membership.beat();
}

/** A worker's membership in one run. */
class Membership {
  private readonly began = performance.now();
  private workers: Worker[] = [];
  private questions: { queue: Queue; events: QueueEvents } | undefined;
  private runner: JobRunner | undefined;
  private refused: string | undefined;
  private active = 0;
  private busySince = 0;
  private busy = 0;
  private left: Promise<void> | undefined;

  private constructor(
    private readonly options: MemberOptions,
    private readonly redis: Redis,
    private readonly blobs: BlobStore,
    private readonly announcement: Announcement,
    /** The announcement's original text. */
    readonly announced: string,
  ) {}

  get name(): string {
    return this.announcement.name;
  }

  /** Joins a run; a refusal is reported to the coordinator through the heartbeat. */
  static async join(
    options: MemberOptions,
    connections: Connections,
    redis: Redis,
    announcement: Announcement,
    announced: string,
  ): Promise<Membership> {
    const blobs = openBlobs(announcement.blobs, redis);
    const membership = new Membership(options, redis, blobs, announcement, announced);
    const mine = `worker ${options.name}`;
    try {
      membership.runner = await options.open(announcement, (address) => blobs.get(address));
      await membership.start(await openQueues(connections, announcement.run));
      options.say(`${mine}: works for ${announcement.name}`);
    } catch (error) {
      if (error instanceof NotYet) throw error;
      membership.refused = errorText(error, options.address);
      options.say(`${mine}: does not work for ${announcement.name}: ${membership.refused}`);
    }
    return membership;
  }

  private async start(queues: Queues): Promise<void> {
    const { announcement, options } = this;
    const kinds = options.jobs.filter((kind) => announcement.jobs.includes(kind));
    if (kinds.includes("episodes")) {
      this.questions = { queue: queues.queue(QUESTIONS, true), events: queues.events(QUESTIONS) };
      // each open question listens
      this.questions.queue.setMaxListeners(0);
    }
    this.workers = kinds.map((kind) => {
      const concurrency = this.runner?.concurrency?.[kind] ?? 1;
      return queues.worker(kind, { concurrency, lease: announcement.lease, name: options.name }, (id, data, later) =>
        this.take(kind, id, data, later),
      );
    });
  }

  /** Fetches a job's blobs, and executes it. */
  private async take(kind: JobKind, id: string, data: unknown, later: Later): Promise<JobResult> {
    if (this.active++ === 0) this.busySince = performance.now();
    const key = keyOfCopy(id);
    try {
      const job = received(`the job ${kind} ${printable(id, 200)}`, jobSchema, data);
      const blobs = new Map<string, Buffer>();
      for (const address of job.blobs) {
        const bytes = await this.blobs.get(address);
        if (bytes === undefined) {
          // lost or damaged: the coordinator restores dropped blobs
          await this.blobs.drop(address);
          return later(BLOB_PAUSE_MS);
        }
        blobs.set(address, bytes);
      }
      const blob = (address: string): Buffer => {
        const bytes = blobs.get(address);
        if (bytes === undefined) throw new Error(`the job does not name the blob ${address}`);
        return bytes;
      };
      const result = await this.runner?.work[kind]?.(job.payload, blob, this.ask);
      if (result === undefined) throw new Error(`this worker does no ${kind}`);
      return { blob: await this.blobs.put(Buffer.from(result)), worker: this.options.name };
    } catch (error) {
      this.say(error instanceof Malformed ? `refused: ${error.message}` : `${kind} ${key} failed: ${messageOf(error)}`);
      throw error;
    } finally {
      if (--this.active === 0) this.busy += performance.now() - this.busySince;
    }
  }

  private say(text: string): void {
    this.options.say(`worker ${this.options.name}: ${errorText(text, this.options.address)}`);
  }

  private readonly ask: Ask = async (id, question, read) => {
    if (this.questions === undefined) throw new Error("only episodes may ask");
    const { queue, events } = this.questions;
    for (let tries = 1; ; tries++) {
      const answer = await answerTo(id, question, queue, events);
      try {
        return read(answer);
      } catch (error) {
        this.say(`refused: the answer to ${id}: ${messageOf(error)}`);
        if (tries === ANSWERS) throw error;
        await queue.remove(id);
      }
    }
  };

  /** Writes the worker's heartbeat. */
  async beat(): Promise<void> {
    const now = performance.now();
    const beat: Beat = {
      ...(this.refused === undefined ? {} : { refused: this.refused }),
      jobs: [...this.options.jobs],
      up: (now - this.began) / 1000,
      busy: (this.busy + (this.active > 0 ? now - this.busySince : 0)) / 1000,
    };
    const { run } = this.announcement;
    const { name } = this.options;
    if (this.left !== undefined) return;
    const keys = this.redis.multi().set(workerKey(run, name), JSON.stringify(beat), "EX", WORKER_LIFETIME_S);
    await keys.sadd(workersKey(run), name).expire(workersKey(run), 3600).exec();
  }

  /** Leaves the run and closes its resources. @param how `finish` if the coordinator still needs the running jobs. */
  leave(how: "finish" | "at once"): Promise<void> {
    // a stopped worker may be leaving already
    this.left ??= this.close(how);
    return this.left;
  }

  private async close(how: "finish" | "at once"): Promise<void> {
    const { run } = this.announcement;
    // its open questions fail
    if (how === "at once") await this.questions?.queue.close();
    await Promise.all(this.workers.map((worker) => worker.close()));
    await this.questions?.events.close();
    await this.questions?.queue.close();
    await this.runner?.close();
    await this.redis.del(workerKey(run, this.options.name)).catch(() => 0);
    await this.redis.srem(workersKey(run), this.options.name).catch(() => 0);
  }
}

/** Asks a question, and waits for its answer, also if the event of the answer was lost. @throws Error if there is none. */
async function answerTo(id: string, question: unknown, queue: Queue, events: QueueEvents): Promise<unknown> {
  const kept = { removeOnComplete: { age: 3600 }, removeOnFail: true, stackTraceLimit: 1 };
  const job = await queue.add(QUESTIONS, question, { jobId: id, ...kept });
  for (;;)
    try {
      return await job.waitUntilFinished(events, LOOK_UP_MS);
    } catch (error) {
      if (queue.closing !== undefined || ["failed", "unknown"].includes(await job.getState())) throw error;
    }
}
