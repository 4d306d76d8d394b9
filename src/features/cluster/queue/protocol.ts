import { z } from "zod";
import { messageOf } from "../../../core/errors.js";
import { sha256 } from "../../../core/files.js";
import { problemsOf } from "../../../core/problems.js";
import { printable } from "../../../core/shown.js";

/**
 * Protocol between coordinator and workers: names in Redis, jobs, and who may work for a run. Redis is shared
 * ground: all that is read from it passes {@link received} first.
 */

/** `episodes` need a browser, `rollouts` a model and a browser, `gradients` a model. */
export const JOB_KINDS = ["episodes", "rollouts", "gradients"] as const;
export type JobKind = (typeof JOB_KINDS)[number];
/** Queue in which an episode's worker asks the coordinator: the policy's answer to a turn. */
export const QUESTIONS = "questions";
export type QueueName = JobKind | typeof QUESTIONS;

/** Of every key. */
export const PREFIX = "refusion";
export const RUNS = `${PREFIX}:runs`;
/** Seconds after which a run whose coordinator is silent, or a worker, no longer counts as there. */
export const RUN_LIFETIME_S = 60;
export const WORKER_LIFETIME_S = 12;
export const BEAT_MS = 2000;

export const queueName = (run: string, kind: QueueName): string => `${run}-${kind}`;
export const runKey = (run: string): string => `${PREFIX}:run:${run}`;
export const workersKey = (run: string): string => `${PREFIX}:run:${run}:workers`;
export const workerKey = (run: string, worker: string): string => `${PREFIX}:run:${run}:worker:${worker}`;

/** Characters of an announcement or a sign of life that are read; longer ones are cut off, and so malformed. */
export const MOST_TEXT = 1 << 16;

/** Names a blob, in Redis or as a file: nothing but a SHA-256 may become part of a key or a path. */
export const address = z.string().regex(/^[0-9a-f]{64}$/, "is no SHA-256 in hex");
/** Of a worker: a part of keys, and printed. */
export const workerName = z.string().regex(/^[\w.-]{1,100}$/, "is no worker's name");
const runName = z.string().regex(/^[A-Za-z0-9][\w.-]{0,199}$/, "is no run's name");
const facts = z.record(z.string().max(1000), z.string().max(1000));
const jobs = z.array(z.enum(JOB_KINDS)).max(JOB_KINDS.length);
const seconds = z.number().nonnegative().max(1e9);

/** A coordinator's announcement of its run. */
export const announcementSchema = z.object({
  run: runName,
  /** The run's name, for people. */
  name: runName,
  versions: facts,
  hashes: facts,
  /** SHA-256 of the modules that the coordinator has loaded, by the paths that its config names. */
  modules: facts,
  jobs,
  /** Address of the run's config. */
  config: address,
  /** Folder of the blobs; null: in Redis. */
  blobs: z.string().startsWith("/").max(4096).nullable(),
  /** Seconds without a sign of life after which a worker's job goes to another. */
  lease: z.number().min(1).max(3600),
});
export type Announcement = z.infer<typeof announcementSchema>;

/** A worker's sign of life. */
export const beatSchema = z.object({
  /** Reason why the worker does nothing for the run. */
  refused: z.string().optional(),
  jobs,
  /** Seconds since it joined, and those in which it worked. */
  up: seconds,
  busy: seconds,
});
export type Beat = z.infer<typeof beatSchema>;

export const jobSchema = z.object({
  /** Plain JSON; anything large is a blob that it names. */
  payload: z.unknown(),
  /** Addresses of the blobs that it reads. */
  blobs: z.array(address).max(100).readonly(),
});
export type JobData = z.infer<typeof jobSchema>;

export const resultSchema = z.object({
  /** Address of the result. */
  blob: address,
  worker: workerName,
});
export type JobResult = z.infer<typeof resultSchema>;

/** A message in Redis that is none of ours. */
export class Malformed extends Error {}

/** Tells whether something in Redis cannot be read, rather than Redis itself: BullMQ parses jobs, and keys have types. */
export function isMalformed(error: unknown): boolean {
  return error instanceof Malformed || error instanceof SyntaxError || /WRONGTYPE/.test(messageOf(error));
}

/**
 * Reads something of Redis, or of another machine.
 * @param what names it in the error.
 * @throws Malformed where `read` throws, in one line that names the problem and quotes nothing of the message.
 */
function readAs<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    // a parser of JSON quotes what it could not read
    const other = error instanceof SyntaxError ? " it is no JSON" : ` ${messageOf(error)}`;
    const why = error instanceof z.ZodError ? problemsOf(error) : other;
    throw new Malformed(printable(`${what} is malformed:${why}`, 500));
  }
}

/** Gives what a message says, as its schema has it. @throws Malformed */
export function received<T>(what: string, schema: z.ZodType<T>, value: unknown): T {
  return readAs(what, () => schema.parse(value));
}

/** As {@link received}, of JSON. */
export function receivedText<T>(what: string, schema: z.ZodType<T>, text: string): T {
  return readAs(what, () => schema.parse(JSON.parse(text)));
}

/** Gives what `read` makes of some bytes. @throws Malformed */
export function receivedBytes<T>(what: string, bytes: Uint8Array, read: (bytes: Buffer) => T): T {
  return readAs(what, () => read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)));
}

/**
 * The name of a job: equal for equal work, so that what is delivered twice is one. A colon has a meaning in the queue.
 * @param place where it belongs in its run: `s3.a0.c1`.
 */
export function jobKey(place: string, data: JobData): string {
  const digest = sha256(JSON.stringify([data.payload, data.blobs])).slice(0, 12);
  return `${place.replace(/[^\w.-]+/g, "_")}.${digest}`;
}

/** A job that was given to a second worker is the same job with a higher number. */
export const copyId = (key: string, copy: number): string => `${key}.n${copy}`;
export const keyOfCopy = (id: string): string => id.replace(/\.n\d+$/, "");

/**
 * Says why a worker may not work for a run, naming every difference; undefined where it may.
 * @param what the worker has: versions, or hashes.
 */
export function differences(
  what: string,
  run: Readonly<Record<string, string>>,
  worker: Readonly<Record<string, string>>,
): string | undefined {
  const wrong = Object.entries(run).flatMap(([name, value]) =>
    worker[name] === value ? [] : [`${name} ${worker[name] ?? "none"} instead of ${value}`],
  );
  return wrong.length === 0 ? undefined : `${what}: ${wrong.join(", ")}`;
}
