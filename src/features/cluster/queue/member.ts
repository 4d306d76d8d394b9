import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import type { Queue, QueueEvents, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { messageOf } from "../../../core/errors.js";
import { printable } from "../../../core/shown.js";
import { type BlobStore, openBlobs } from "./blobs.js";
import { type Connections, openConnections, type RedisAddress, saidOf } from "./connection.js";
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
import { type Waiter, waiterOf } from "./waiter.js";

/** Times that a malformed answer is asked for again. */
const ANSWERS = 3;
/** After which a job is asked for again whose blobs were not there. */
const BLOB_PAUSE_MS = 1000;

/** Something of a run is not in Redis yet: the run is looked at again. */
export class NotYet extends Error {}

/** A worker's abilities for one run. */
export interface Hands {
  /** Jobs of a kind at once; absent: 1. */
  readonly concurrency?: Partial<Record<JobKind, number>>;
  /** Does one job of a kind. @param blob the blobs that it names. @returns the result's bytes, or its text. */
  readonly work: Partial<
    Record<JobKind, (payload: unknown, blob: (address: string) => Buffer, ask: Ask) => Promise<Uint8Array | string>>
  >;
  close(): Promise<void>;
}

/** Asks the coordinator. The same id gets the same answer. @param read throws for a malformed one, which is asked for again. */
export type Ask = <T>(id: string, question: unknown, read: (answer: unknown) => T) => Promise<T>;

export interface MemberOptions {
  readonly address: RedisAddress;
  /** Its own name: unique among the workers. */
  readonly name: string;
  /** Kinds of jobs that it takes. */
  readonly jobs: readonly JobKind[];
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
  /**
   * Gets ready for a run.
   * @throws Error where this worker must not work for it: another version, another model. The coordinator hears the
   * message: it should quote nothing that lies on this machine.
   */
  open(announcement: Announcement, blob: (address: string) => Promise<Buffer | undefined>): Promise<Hands>;
}

/** A worker: joins the runs that are announced on a Redis, until it is told to end. It keeps nothing. */
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
      // a Redis that is away must not keep a worker that is told to end
      const looked = look(options, connections, redis, joined, refused).catch((error: unknown) => {
        if (!signal.aborted) say(`worker ${options.name}: ${saidOf(error, options.address)}`);
      });
      await Promise.race([ended, looked]);
      await setTimeout(BEAT_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    // jobs that are under way are finished first, where there is somebody to hand them to
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
      // it is said once, and read again when it has changed
      refused.set(run, text);
      options.say(`worker ${options.name}: refused: ${messageOf(error)}`);
    }
  }
  for (const run of refused.keys()) if (!announced.has(run)) refused.delete(run);
  for (const membership of joined.values()) await membership.beat();
}

/** A worker's part in one run. */
class Membership {
  private readonly began = performance.now();
  private workers: Worker[] = [];
  private questions: { queue: Queue; events: QueueEvents; waiter: Waiter } | undefined;
  private hands: Hands | undefined;
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
    /** As it was written. */
    readonly announced: string,
  ) {}

  get name(): string {
    return this.announcement.name;
  }

  /** A run that it must not work for is joined too, so that its coordinator hears why. */
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
      membership.hands = await options.open(announcement, (address) => blobs.get(address));
      await membership.start(await openQueues(connections, announcement.run));
      options.say(`${mine}: works for ${announcement.name}`);
    } catch (error) {
      if (error instanceof NotYet) throw error;
      membership.refused = saidOf(error, options.address);
      options.say(`${mine}: does not work for ${announcement.name}: ${membership.refused}`);
    }
    return membership;
  }

  private async start(queues: Queues): Promise<void> {
    const { announcement, options } = this;
    const kinds = options.jobs.filter((kind) => announcement.jobs.includes(kind));
    if (kinds.includes("episodes")) {
      const [queue, events] = [queues.queue(QUESTIONS, true), queues.events(QUESTIONS)];
      this.questions = { queue, events, waiter: waiterOf(queue, events) };
    }
    this.workers = kinds.map((kind) => {
      const concurrency = this.hands?.concurrency?.[kind] ?? 1;
      return queues.worker(kind, { concurrency, lease: announcement.lease, name: options.name }, (id, data, later) =>
        this.take(kind, id, data, later),
      );
    });
  }

  /** Fetches what a job reads, and does it. */
  private async take(kind: JobKind, id: string, data: unknown, later: Later): Promise<JobResult> {
    if (this.active++ === 0) this.busySince = performance.now();
    const key = keyOfCopy(id);
    try {
      const job = received(`the job ${kind} ${printable(id, 200)}`, jobSchema, data);
      const blobs = new Map<string, Buffer>();
      for (const address of job.blobs) {
        const bytes = await this.blobs.get(address);
        if (bytes === undefined) {
          // lost, or damaged: the coordinator puts it there again where it is not
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
      const result = await this.hands?.work[kind]?.(job.payload, blob, this.ask);
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
    this.options.say(`worker ${this.options.name}: ${saidOf(text, this.options.address)}`);
  }

  private readonly ask: Ask = async (id, question, read) => {
    if (this.questions === undefined) throw new Error("only episodes may ask");
    const { waiter } = this.questions;
    for (let tries = 1; ; tries++) {
      const answer = await waiter.ask(id, QUESTIONS, question);
      try {
        return read(answer);
      } catch (error) {
        this.say(`refused: the answer to ${id}: ${messageOf(error)}`);
        if (tries === ANSWERS) throw error;
        await waiter.forget(id);
      }
    }
  };

  /** Says that it is there. */
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

  /** Closes what was opened. @param how whether somebody still waits for what is under way. */
  leave(how: "finish" | "at once"): Promise<void> {
    // a worker that is told to end may be leaving already
    this.left ??= this.close(how);
    return this.left;
  }

  private async close(how: "finish" | "at once"): Promise<void> {
    const { run } = this.announcement;
    if (how === "at once") this.questions?.waiter.close();
    await Promise.all(this.workers.map((worker) => worker.close()));
    this.questions?.waiter.close();
    await this.questions?.events.close();
    await this.questions?.queue.close();
    await this.hands?.close();
    await this.redis.del(workerKey(run, this.options.name)).catch(() => 0);
    await this.redis.srem(workersKey(run), this.options.name).catch(() => 0);
  }
}
