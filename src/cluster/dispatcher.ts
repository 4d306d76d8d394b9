import type { Queue, QueueEvents, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { UserError } from "../core/errors.js";
import { sha256 } from "../core/files.js";
import { within } from "../core/within.js";
import { type BlobStore, openBlobs } from "./blobs.js";
import { Connections, type RedisAddress, redact } from "./connection.js";
import { WorkerMeter } from "./meter.js";
import {
  type Announcement,
  type Beat,
  copyId,
  type JobData,
  type JobKind,
  type JobResult,
  jobKey,
  keyOfCopy,
  parseBeat,
  QUESTIONS,
  RUN_LIFETIME_S,
  RUNS,
  runKey,
  workerKey,
  workersKey,
} from "./protocol.js";
import { type Later, Queues } from "./queues.js";
import { Stragglers } from "./stragglers.js";

/** Between two looks at what events may have missed. */
const SWEEP_MS = 1000;
/** How often a job is tried where workers fail at it. */
const ATTEMPTS = 3;
/** How long nobody may work before it is said, and how often. */
const ALONE_MS = 15_000;
/** How long tidying up may take. */
const CLOSE_MS = 20_000;
/** Seconds that a finished job stays for its coordinator. */
const KEEP_S = 24 * 3600;

interface Pending {
  readonly key: string;
  readonly kind: JobKind;
  readonly data: JobData;
  readonly result: Promise<Buffer>;
  copies: number;
  settled: boolean;
  readonly resolve: (bytes: Buffer) => void;
  readonly reject: (error: unknown) => void;
}

export interface DispatcherOptions {
  readonly address: RedisAddress;
  readonly announcement: Announcement;
  /** A job that takes longer than so many times the median of its kind is given to another worker too; 0: never. */
  readonly slow: number;
  readonly note: (text: string) => void;
}

/**
 * The coordinator's side of the queues: announces a run, hands out jobs, waits for their results. Whatever is lost on the
 * way (an event, a job, a blob, a worker) is found by a sweep every second and made up for: a job computes the same
 * result wherever and however often it runs.
 */
export class Dispatcher {
  private readonly pending = new Map<string, Pending>();
  private readonly queues = new Map<JobKind, Queue>();
  private readonly events: QueueEvents[] = [];
  private readonly kept = new Map<string, Uint8Array>();
  private readonly stragglers: Stragglers;
  private readonly named = new Set<string>();
  private questions: Queue | undefined;
  private answering: Worker | undefined;
  private sweeping: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private alone = performance.now();
  private closed = false;
  /** Who works for the run, and what waits. */
  readonly meter = new WorkerMeter();

  private constructor(
    private readonly options: DispatcherOptions,
    private readonly connections: Connections,
    private readonly redis: Redis,
    private readonly blobs: BlobStore,
    private readonly made: Queues,
  ) {
    this.stragglers = new Stragglers(options.slow);
  }

  /** @throws UserError where Redis cannot be used. */
  static async open(options: DispatcherOptions): Promise<Dispatcher> {
    const { address, announcement, note } = options;
    const connections = await Connections.to(address, note);
    try {
      const redis = connections.connect();
      const blobs = openBlobs(announcement.blobs, redis);
      const made = await Queues.of(connections, announcement.run);
      const dispatcher = new Dispatcher(options, connections, redis, blobs, made);
      await dispatcher.begin();
      return dispatcher;
    } catch (error) {
      connections.close();
      throw error;
    }
  }

  private async begin(): Promise<void> {
    for (const kind of this.options.announcement.jobs) {
      const queue = this.made.queue(kind);
      // what an earlier process of this run left: its episodes wait for answers that nobody has
      await queue.obliterate({ force: true });
      this.queues.set(kind, queue);
      const events = this.made.events(kind);
      events.on("active", ({ jobId }) => this.stragglers.began(jobId));
      events.on("completed", ({ jobId, returnvalue }) => void this.completed(jobId, returnvalue));
      events.on("failed", ({ jobId, failedReason }) => this.failed(jobId, failedReason));
      this.events.push(events);
    }
    this.questions = this.made.queue(QUESTIONS);
    await this.questions.obliterate({ force: true });
    await this.announce();
    const next = (): void => {
      this.timer = setTimeout(() => {
        this.sweeping = this.sweep()
          .catch(() => undefined)
          .finally(() => (this.closed ? undefined : next()));
      }, SWEEP_MS);
    };
    next();
  }

  private async announce(): Promise<void> {
    const { announcement } = this.options;
    await this.redis.set(runKey(announcement.run), JSON.stringify(announcement), "EX", RUN_LIFETIME_S);
    await this.redis.sadd(RUNS, announcement.run);
  }

  /** Keeps a blob there, whatever Redis loses, until it is dropped. @returns its address. */
  async keep(bytes: Uint8Array): Promise<string> {
    const address = sha256(bytes);
    if (this.kept.has(address)) return address;
    this.kept.set(address, bytes);
    await this.blobs.put(bytes);
    return address;
  }

  async drop(address: string): Promise<void> {
    if (this.kept.delete(address)) await this.blobs.drop(address);
  }

  /**
   * Has a job done. The same job asked for twice is one.
   * @param place where it belongs in its run.
   * @throws UserError where every worker that tried it failed.
   */
  run(kind: JobKind, place: string, payload: unknown, blobs: readonly string[] = []): Promise<Buffer> {
    const queue = this.queues.get(kind);
    if (queue === undefined) throw new Error(`the run announced no ${kind}`);
    const data: JobData = { payload, blobs };
    const key = jobKey(place, data);
    const twin = this.pending.get(key);
    if (twin !== undefined) return twin.result;
    const { result, resolve, reject } = later<Buffer>();
    const job: Pending = { key, kind, data, result, copies: 1, settled: false, resolve, reject };
    this.pending.set(key, job);
    this.add(job, 0).catch(reject);
    return result;
  }

  private async add(job: Pending, copy: number): Promise<void> {
    await this.queues.get(job.kind)?.add(job.kind, job.data, {
      jobId: copyId(job.key, copy),
      attempts: ATTEMPTS,
      backoff: { type: "fixed", delay: 1000 },
      removeOnComplete: { age: KEEP_S },
      removeOnFail: { age: KEEP_S },
      stackTraceLimit: 1,
      keepLogs: 0,
    });
  }

  /** Answers what workers ask on the way. */
  answer(process: (data: unknown, later: Later) => Promise<unknown>): void {
    const { lease } = this.options.announcement;
    // a question waits for others that are generated with it: as many as there may be must be open at once
    this.answering ??= this.made.worker(
      QUESTIONS,
      { concurrency: 100_000, lease, name: "coordinator" },
      (_id, data, later) => process(data, later),
    );
  }

  private async completed(id: string, returned: unknown): Promise<void> {
    const result = (typeof returned === "string" ? JSON.parse(returned) : returned) as JobResult | undefined;
    if (result === undefined) return;
    const { blob } = result;
    const job = this.pending.get(keyOfCopy(id));
    // the result of a slow copy is nobody's
    if (job === undefined) return this.blobs.drop(blob);
    if (job.settled) return;
    job.settled = true;
    this.stragglers.ended(id, job.kind);
    const bytes = await this.blobs.get(blob);
    if (bytes === undefined) {
      // its result was lost: it is done again, as a copy that no old state stands for
      await this.queues.get(job.kind)?.remove(id);
      await this.add(job, job.copies++);
      job.settled = false;
      return;
    }
    this.pending.delete(job.key);
    job.resolve(bytes);
    this.stragglers.forget(job.key);
    await this.blobs.drop(blob);
    await this.remove(job);
  }

  private failed(id: string, reason: string): void {
    const job = this.pending.get(keyOfCopy(id));
    if (job === undefined || job.settled) return;
    job.settled = true;
    this.pending.delete(job.key);
    const text = redact(reason, this.options.address);
    job.reject(
      new UserError(`The workers failed at ${job.kind} ${job.key}: ${text}`, {
        hint: "their own output says more; mend it, then resume the run",
      }),
    );
    void this.remove(job);
  }

  /** A copy that a worker is at stays until it is done, and then for its time. */
  private async remove(job: Pending): Promise<void> {
    const queue = this.queues.get(job.kind);
    for (let copy = 0; copy < job.copies; copy++) await queue?.remove(copyId(job.key, copy)).catch(() => 0);
  }

  private async sweep(): Promise<void> {
    await this.announce();
    for (const [address, bytes] of this.kept) if (!(await this.blobs.has(address))) await this.blobs.put(bytes);
    let active = 0;
    for (const job of [...this.pending.values()]) {
      const queue = this.queues.get(job.kind) as Queue;
      let gone = 0;
      for (let copy = 0; copy < job.copies && !job.settled; copy++) {
        const id = copyId(job.key, copy);
        const state = await queue.getJobState(id);
        if (state === "active") active++;
        if (state === "active") this.stragglers.began(id);
        else if (state === "completed") await this.completed(id, (await queue.getJob(id))?.returnvalue);
        else if (state === "failed") this.failed(id, (await queue.getJob(id))?.failedReason ?? "unknown");
        else if (state === "unknown") gone++;
      }
      // Redis has lost it
      if (!job.settled && gone === job.copies) await this.add(job, job.copies - 1);
      if (!job.settled && job.copies === 1 && this.stragglers.isSlow(copyId(job.key, 0), job.kind)) {
        this.options.note(`${job.kind} ${job.key} takes long: it is given to another worker too`);
        await this.add(job, job.copies++);
      }
    }
    await this.look(active);
  }

  private async look(active: number): Promise<void> {
    const { run, name } = this.options.announcement;
    const beats = new Map<string, Beat>();
    for (const worker of await this.redis.smembers(workersKey(run))) {
      const text = await this.redis.get(workerKey(run, worker));
      const beat = text === null ? undefined : parseBeat(text);
      if (beat === undefined) {
        await this.redis.srem(workersKey(run), worker);
      } else if (beat.refused !== undefined) {
        if (!this.named.has(worker + beat.refused)) this.options.note(`worker ${worker} is refused: ${beat.refused}`);
        this.named.add(worker + beat.refused);
      } else beats.set(worker, beat);
    }
    this.meter.look(beats, this.pending.size - active);
    const now = performance.now();
    if (beats.size > 0 || this.pending.size === 0) this.alone = now;
    else if (now - this.alone > ALONE_MS) {
      this.alone = now;
      this.options.note(
        `${name}: no worker is there; start some with: refusion-train worker --redis URL (Redis is at ${this.options.address.shown})`,
      );
    }
  }

  /** Takes the run off the list, and what is left of it out of Redis. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    const { run } = this.options.announcement;
    const tidy = async (): Promise<void> => {
      await this.sweeping;
      await this.answering?.close(true);
      for (const events of this.events) await events.close();
      await this.redis.srem(RUNS, run);
      await this.redis.del(runKey(run), workersKey(run));
      for (const queue of [...this.queues.values(), ...(this.questions === undefined ? [] : [this.questions])]) {
        await queue.obliterate({ force: true });
        await queue.close();
      }
      for (const address of [...this.kept.keys()]) await this.drop(address);
    };
    // where Redis is away there is nothing to tidy, and nobody to wait for
    await within(tidy(), CLOSE_MS);
    this.connections.close();
  }
}

function later<T>(): { result: Promise<T>; resolve: (value: T) => void; reject: (error: unknown) => void } {
  let [resolve, reject]: [(value: T) => void, (error: unknown) => void] = [() => undefined, () => undefined];
  const result = new Promise<T>((yes, no) => {
    [resolve, reject] = [yes, no];
  });
  return { result, resolve, reject };
}
