import type { Queue, QueueEvents, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { messageOf, UserError } from "../../../core/errors.js";
import { sha256 } from "../../../core/files.js";
import { within } from "../../../core/within.js";
import { type BlobStore, openBlobs } from "./blobs.js";
import { type Connections, errorText, openConnections, type RedisAddress } from "./connection.js";
import {
  type Announcement,
  copyId,
  isMalformed,
  type JobData,
  type JobKind,
  jobKey,
  keyOfCopy,
  QUESTIONS,
  type QueueName,
  RUN_LIFETIME_S,
  RUNS,
  received,
  receivedBytes,
  resultSchema,
  runKey,
  WORKER_LIFETIME_S,
  workersKey,
} from "./protocol.js";
import { type Later, openQueues, type Queues } from "./queues.js";
import { stragglersOf } from "./stragglers.js";
import { readBeats, WorkerMeter } from "./workers.js";

/** Interval of the sweep that finds missed events, in milliseconds. */
const SWEEP_MS = 1000;
/** Most attempts at a job whose worker reports an error. */
const ATTEMPTS = 3;
/** Most malformed results of a job; the pause before the next attempt doubles each time. */
const REFUSALS = 10;
const REFUSAL_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
/** Number of messages that are remembered, so that each is reported once. */
const MOST_NOTED = 1000;
/** Time without workers after which a note is written, and the interval of repeated notes, in milliseconds. */
const NO_WORKER_MS = 15_000;
/** Time limit of the cleanup, in milliseconds. */
const CLOSE_MS = 20_000;
/** Seconds for which a finished job is kept for its coordinator. */
const KEEP_S = 24 * 3600;

/** A job whose result is awaited. */
class Pending {
  copies = 1;
  settled = false;
  /** Copies whose result was malformed. */
  readonly refused = new Set<string>();
  resolve: (value: unknown) => void = () => undefined;
  reject: (error: unknown) => void = () => undefined;
  readonly result = new Promise<unknown>((resolve, reject) => {
    Object.assign(this, { resolve, reject });
  });

  /** @param read parses the bytes of the result. @throws Error if they are malformed. */
  constructor(
    readonly key: string,
    readonly kind: JobKind,
    readonly data: JobData,
    readonly read: (bytes: Buffer) => unknown,
  ) {}
}

export interface DispatcherOptions {
  readonly address: RedisAddress;
  readonly announcement: Announcement;
  /** A job is given to a second worker after this multiple of its kind's median time; 0: never. */
  readonly slow: number;
  /** Stops the wait for jobs without a worker once it is aborted. */
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
}

/**
 * The coordinator's side of the queues: announces a run, hands out jobs, waits for their results. A lost event, job,
 * blob or worker is found by a sweep every second, and the job is repeated: it computes the same result on any worker,
 * however often it runs.
 */
export class Dispatcher {
  private readonly pending = new Map<string, Pending>();
  private readonly queues = new Map<QueueName, Queue>();
  private readonly events: QueueEvents[] = [];
  private readonly kept = new Map<string, { readonly bytes: Uint8Array; users: number }>();
  private readonly stragglers: ReturnType<typeof stragglersOf>;
  private readonly noted = new Set<string>();
  private answering: Worker | undefined;
  private sweeping: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private withoutWorkerSince = performance.now();
  /** Time when a worker for the pending jobs was last seen, in milliseconds. */
  private lastWorkerAt = Number.NEGATIVE_INFINITY;
  private leaving: NodeJS.Timeout | undefined;
  private closed = false;
  /** Counts the run's workers and waiting jobs. */
  readonly meter = new WorkerMeter();

  private constructor(
    private readonly options: DispatcherOptions,
    private readonly connections: Connections,
    private readonly redis: Redis,
    private readonly blobs: BlobStore,
    private readonly made: Queues,
  ) {
    this.stragglers = stragglersOf(options.slow);
  }

  /** @throws UserError if Redis cannot be used. */
  static async open(options: DispatcherOptions): Promise<Dispatcher> {
    const { address, announcement, note } = options;
    const connections = await openConnections(address, note);
    try {
      const redis = connections.connect();
      const blobs = openBlobs(announcement.blobs, redis);
      const made = await openQueues(connections, announcement.run);
      const dispatcher = new Dispatcher(options, connections, redis, blobs, made);
      await dispatcher.begin();
      return dispatcher;
    } catch (error) {
      connections.close();
      throw error;
    }
  }

  private async begin(): Promise<void> {
    for (const kind of [QUESTIONS, ...this.options.announcement.jobs] as const) {
      const queue = this.made.queue(kind);
      // removes jobs of an earlier process of this run: their episodes wait for answers that will not come
      await queue.obliterate({ force: true });
      this.queues.set(kind, queue);
      if (kind === QUESTIONS) continue;
      const events = this.made.events(kind);
      events.on("active", ({ jobId }) => this.stragglers.began(jobId));
      // an event only names the job to look at: its contents are not trusted
      const onEnd = ({ jobId }: { jobId: string }): void =>
        void this.look(jobId).catch((error: unknown) => this.noteOnce(messageOf(error)));
      events.on("completed", onEnd).on("failed", onEnd);
      this.events.push(events);
    }
    await this.announce();
    const next = (): void => {
      this.timer = setTimeout(() => {
        this.sweeping = this.sweep()
          .catch(() => undefined)
          .finally(() => (this.closed ? undefined : next()));
      }, SWEEP_MS);
    };
    next();
    const { signal } = this.options;
    if (signal.aborted) this.leave();
    else signal.addEventListener("abort", this.leave);
  }

  /** After an interrupt, rejects the pending jobs if no worker is there, without waiting for Redis. */
  private readonly leave = (): void => {
    const end = (): void => {
      const noWorker = performance.now() - this.lastWorkerAt > WORKER_LIFETIME_S * 1000;
      if (!noWorker || this.pending.size === 0) return;
      this.options.note("interrupted, and no worker is there: --resume goes on from the last checkpoint");
      for (const job of this.pending.values()) job.reject(this.options.signal.reason);
      this.pending.clear();
    };
    this.leaving = setInterval(end, SWEEP_MS);
    end();
  };

  /** Reports malformed data in Redis and refused workers, each message once. */
  private noteOnce(text: string): void {
    const line = errorText(text, this.options.address);
    if (this.noted.has(line)) return;
    if (this.noted.size >= MOST_NOTED) this.noted.clear();
    this.noted.add(line);
    this.options.note(line);
  }

  private async announce(): Promise<void> {
    const { announcement } = this.options;
    await this.redis.set(runKey(announcement.run), JSON.stringify(announcement), "EX", RUN_LIFETIME_S);
    await this.redis.sadd(RUNS, announcement.run);
  }

  /** Stores a blob, also if Redis loses it, until it is dropped as often as it was kept. @returns its address. */
  async keep(bytes: Uint8Array): Promise<string> {
    const address = sha256(bytes);
    const known = this.kept.get(address);
    if (known !== undefined) known.users++;
    else {
      this.kept.set(address, { bytes, users: 1 });
      await this.blobs.put(bytes);
    }
    return address;
  }

  async drop(address: string): Promise<void> {
    const known = this.kept.get(address);
    if (known === undefined || --known.users > 0) return;
    this.kept.delete(address);
    await this.blobs.drop(address);
  }

  /**
   * Runs a job on a worker. Equal jobs are run once.
   * @param place identifies the job within its run.
   * @param read parses the bytes of the result; if it throws, the result is refused and the job is run again.
   * @throws UserError if all attempts failed; the signal's AbortError if it was aborted and no worker
   * is there.
   */
  run<T>(
    kind: JobKind,
    place: string,
    payload: unknown,
    blobs: readonly string[],
    read: (bytes: Buffer) => T,
  ): Promise<T> {
    const queue = this.queues.get(kind);
    if (queue === undefined) throw new Error(`the run announced no ${kind}`);
    const data: JobData = { payload, blobs };
    const key = jobKey(place, data);
    const twin = this.pending.get(key);
    if (twin !== undefined) return twin.result as Promise<T>;
    const job = new Pending(key, kind, data, read);
    this.pending.set(key, job);
    this.add(job, 0).catch(job.reject);
    return job.result as Promise<T>;
  }

  private async add(job: Pending, copy: number, delay = 0): Promise<void> {
    await this.queues.get(job.kind)?.add(job.kind, job.data, {
      jobId: copyId(job.key, copy),
      delay,
      attempts: ATTEMPTS,
      backoff: { type: "fixed", delay: 1000 },
      removeOnComplete: { age: KEEP_S },
      removeOnFail: { age: KEEP_S },
      stackTraceLimit: 1,
      keepLogs: 0,
    });
  }

  /** Answers the workers' questions during their jobs. */
  answer(process: (data: unknown, later: Later) => Promise<unknown>): void {
    const { lease } = this.options.announcement;
    // questions are answered in batches: all of a batch must be open at once
    this.answering ??= this.made.worker(
      QUESTIONS,
      { concurrency: 100_000, lease, name: "coordinator" },
      (_id, data, later) => process(data, later),
    );
  }

  /** Checks the state of a copy of a job, and processes its result. @returns its state in the queue. */
  private async look(id: string): Promise<string | undefined> {
    const key = keyOfCopy(String(id));
    const job = this.pending.get(key);
    // the late result of a slow copy, or an unknown job
    if (job === undefined) return this.dropLate(String(id));
    if (job.settled || job.refused.has(id)) return undefined;
    try {
      const queue = this.queues.get(job.kind) as Queue;
      const state = await queue.getJobState(id);
      if (state === "active") this.stragglers.began(id);
      if (state === "completed") await this.completed(job, id, (await queue.getJob(id))?.returnvalue);
      if (state === "failed") this.failed(job, (await queue.getJob(id))?.failedReason ?? "unknown");
      return state;
    } catch (error) {
      if (!isMalformed(error)) throw error;
      await this.refused(job, id, error);
      return undefined;
    }
  }

  private async dropLate(id: string): Promise<undefined> {
    for (const queue of this.queues.values()) {
      const unclaimed = resultSchema.safeParse((await queue.getJob(id))?.returnvalue);
      if (unclaimed.success) await this.blobs.drop(unclaimed.data.blob);
    }
  }

  private async completed(job: Pending, id: string, returned: unknown): Promise<void> {
    if (job.settled) return;
    job.settled = true;
    const { blob, worker } = received(`the result of ${job.kind} ${id}`, resultSchema, returned);
    const bytes = await this.blobs.get(blob);
    if (bytes === undefined) return this.retry(job, id, 0);
    await this.blobs.drop(blob);
    const value = receivedBytes(`what ${worker} computed for ${job.kind} ${id}`, bytes, job.read);
    this.stragglers.ended(id, job.kind);
    this.pending.delete(job.key);
    job.resolve(value);
    this.stragglers.forget(job.key);
    await this.remove(job);
  }

  /** Drops a copy of a job that cannot be read from Redis, or whose result is malformed. */
  private async refused(job: Pending, id: string, error: unknown): Promise<void> {
    if (!this.pending.has(job.key) || this.closed) return;
    job.refused.add(id);
    this.noteOnce(`refused: ${messageOf(error)}; it is done again`);
    const last = job.refused.size >= REFUSALS;
    if (last) this.failed(job, `${REFUSALS} results were refused, the last one as ${messageOf(error)}`);
    else await this.retry(job, id, Math.min(REFUSAL_PAUSE_MS * 2 ** job.refused.size, LONGEST_PAUSE_MS));
  }

  /** Runs a job again after a lost or refused result, under the id of a new copy. */
  private async retry(job: Pending, id: string, delay: number): Promise<void> {
    await this.queues
      .get(job.kind)
      ?.remove(id)
      .catch(() => 0);
    await this.add(job, job.copies++, delay);
    job.settled = false;
  }

  private failed(job: Pending, reason: string): void {
    job.settled = true;
    this.pending.delete(job.key);
    const text = errorText(reason, this.options.address);
    job.reject(
      new UserError(`The workers failed at ${job.kind} ${job.key}: ${text}`, {
        hint: "their own output says more; mend it, then resume the run",
      }),
    );
    void this.remove(job);
  }

  /** Removes the copies of a job; one that is being executed stays, and expires after KEEP_S. */
  private async remove(job: Pending): Promise<void> {
    const queue = this.queues.get(job.kind);
    for (let copy = 0; copy < job.copies; copy++) await queue?.remove(copyId(job.key, copy)).catch(() => 0);
  }

  private async sweep(): Promise<void> {
    await this.announce();
    for (const [address, { bytes }] of this.kept) if (!(await this.blobs.has(address))) await this.blobs.put(bytes);
    let active = 0;
    for (const job of [...this.pending.values()]) {
      let gone = 0;
      for (let copy = 0; copy < job.copies && !job.settled; copy++) {
        const id = copyId(job.key, copy);
        const state = await this.look(id);
        if (state === "active") active++;
        if (state === "unknown" || job.refused.has(id)) gone++;
      }
      // all copies are lost
      if (!job.settled && gone === job.copies) await this.add(job, job.copies - 1);
      if (!job.settled && job.copies === 1 && this.stragglers.isSlow(copyId(job.key, 0), job.kind)) {
        this.options.note(`${job.kind} ${job.key} takes long: it is given to another worker too`);
        await this.add(job, job.copies++);
      }
    }
    await this.countWorkers(active);
  }

  private async countWorkers(active: number): Promise<void> {
    const { run, name } = this.options.announcement;
    const beats = await readBeats(this.redis, run, (why) => this.noteOnce(why));
    this.meter.look(beats, this.pending.size - active);
    const now = performance.now();
    const wanted = new Set([...this.pending.values()].map(({ kind }) => kind));
    const hasWorker = [...beats.values()].some(({ jobs }) => jobs.some((kind) => wanted.has(kind)));
    if (hasWorker) this.lastWorkerAt = now;
    if (hasWorker || this.pending.size === 0) this.withoutWorkerSince = now;
    else if (now - this.withoutWorkerSince > NO_WORKER_MS) {
      this.withoutWorkerSince = now;
      this.options.note(
        `${name}: no worker is there; start some with: refusion-train worker --redis URL (Redis is at ${this.options.address.shown})`,
      );
    }
  }

  /** Removes the run's announcement and its remaining data from Redis. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    clearInterval(this.leaving);
    this.options.signal.removeEventListener("abort", this.leave);
    const { run } = this.options.announcement;
    const tidy = async (): Promise<void> => {
      await this.sweeping;
      await this.answering?.close(true);
      for (const events of this.events) await events.close();
      await this.redis.srem(RUNS, run);
      await this.redis.del(runKey(run), workersKey(run));
      for (const queue of this.queues.values()) {
        await queue.obliterate({ force: true });
        await queue.close();
      }
      for (const address of this.kept.keys()) await this.blobs.drop(address);
    };
    // if Redis is unreachable, the cleanup ends after its time limit
    await within(tidy(), CLOSE_MS);
    this.connections.close();
  }
}
