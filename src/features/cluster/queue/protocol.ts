import { z } from "zod";
import { messageOf } from "../../../core/errors.js";
import { sha256 } from "../../../core/files.js";
import { problemsOf } from "../../../core/problems.js";
import { printable } from "../../../core/shown.js";

/**
 * Protocol between coordinator and workers: names in Redis, jobs, and admission of workers. Others may write to Redis:
 * all data read from it is validated by {@link received} first.
 */

/** `episodes` need a browser, `rollouts` a model and a browser, `gradients` a model. */
export const JOB_KINDS = ["episodes", "rollouts", "gradients"] as const;
export type JobKind = (typeof JOB_KINDS)[number];
/** Queue of the questions from workers to the coordinator: a question asks for the policy's answer to a turn. */
export const QUESTIONS = "questions";
export type QueueName = JobKind | typeof QUESTIONS;

/** Prefix of every key. */
export const PREFIX = "refusion";
export const RUNS = `${PREFIX}:runs`;
/** Seconds without an announcement or heartbeat after which a run or a worker counts as gone. */
export const RUN_LIFETIME_S = 60;
export const WORKER_LIFETIME_S = 12;
export const BEAT_MS = 2000;

export const queueName = (run: string, kind: QueueName): string => `${run}-${kind}`;
export const runKey = (run: string): string => `${PREFIX}:run:${run}`;
export const workersKey = (run: string): string => `${PREFIX}:run:${run}:workers`;
export const workerKey = (run: string, worker: string): string => `${PREFIX}:run:${run}:worker:${worker}`;

/** Most characters read of an announcement or a heartbeat; longer ones are cut, and thereby malformed. */
export const MOST_TEXT = 1 << 16;

/** Address of a blob, in Redis or as a file: only a SHA-256 may become part of a key or a path. */
export const address = z.string().regex(/^[0-9a-f]{64}$/, "is no SHA-256 in hex");
/** Name of a worker: it is part of keys, and is printed. */
export const workerName = z.string().regex(/^[\w.-]{1,100}$/, "is no worker's name");
const runName = z.string().regex(/^[A-Za-z0-9][\w.-]{0,199}$/, "is no run's name");
const facts = z.record(z.string().max(1000), z.string().max(1000));
const jobs = z.array(z.enum(JOB_KINDS)).max(JOB_KINDS.length);
const seconds = z.number().nonnegative().max(1e9);

/** A coordinator's announcement of its run. */
export const announcementSchema = z.object({
  run: runName,
  /** Readable name of the run. */
  name: runName,
  versions: facts,
  hashes: facts,
  /** SHA-256 of the modules that the coordinator has loaded, by their paths in the config. */
  modules: facts,
  jobs,
  /** Blob address of the run's config. */
  config: address,
  /** Folder of the blobs; null: in Redis. */
  blobs: z.string().startsWith("/").max(4096).nullable(),
  /** Seconds without a renewal after which a worker's job goes to another worker. */
  lease: z.number().min(1).max(3600),
});
export type Announcement = z.infer<typeof announcementSchema>;

/** A worker's heartbeat. */
export const beatSchema = z.object({
  /** Reason why the worker does not work for the run. */
  refused: z.string().optional(),
  jobs,
  /** Seconds since the worker joined, and seconds in which it was busy. */
  up: seconds,
  busy: seconds,
});
export type Beat = z.infer<typeof beatSchema>;

export const jobSchema = z.object({
  /** Plain JSON; large data is in blobs. */
  payload: z.unknown(),
  /** Addresses of the job's blobs. */
  blobs: z.array(address).max(100).readonly(),
});
export type JobData = z.infer<typeof jobSchema>;

export const resultSchema = z.object({
  /** Address of the result. */
  blob: address,
  worker: workerName,
});
export type JobResult = z.infer<typeof resultSchema>;

/** Data in Redis that does not follow this protocol. */
export class Malformed extends Error {}

/** Tells whether an error is due to malformed data, not to Redis itself: BullMQ parses jobs, and keys have types. */
export function isMalformed(error: unknown): boolean {
  return error instanceof Malformed || error instanceof SyntaxError || isReply(error, "WRONGTYPE");
}

/** Tells whether an error is Redis's reply with one of these codes, which a reply begins with, or a script's. */
export function isReply(error: unknown, ...codes: readonly string[]): boolean {
  return (
    error instanceof Error && error.name === "ReplyError" && error.message.split(/\W+/).some((w) => codes.includes(w))
  );
}

/**
 * Reads data from Redis or from another machine.
 * @param what names the data in the error.
 * @throws Malformed if `read` throws, with one line that names the problem and does not quote the data.
 */
function readAs<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    // the JSON parser's message quotes its input
    const other = error instanceof SyntaxError ? " it is no JSON" : ` ${messageOf(error)}`;
    const why = error instanceof z.ZodError ? problemsOf(error) : other;
    throw new Malformed(printable(`${what} is malformed:${why}`, 500));
  }
}

/** Validates a message by its schema. @throws Malformed */
export function received<T>(what: string, schema: z.ZodType<T>, value: unknown): T {
  return readAs(what, () => schema.parse(value));
}

/** Parses JSON, and validates it as {@link received} does. @throws Malformed */
export function receivedText<T>(what: string, schema: z.ZodType<T>, text: string): T {
  return readAs(what, () => schema.parse(JSON.parse(text)));
}

/** Parses bytes with `read`. @throws Malformed */
export function receivedBytes<T>(what: string, bytes: Uint8Array, read: (bytes: Buffer) => T): T {
  return readAs(what, () => read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)));
}

/**
 * Returns the name of a job: equal for equal work, so that duplicates are recognised. Colons are special in BullMQ.
 * @param place of the job within its run, for example `s3.a0.c1`.
 */
export function jobKey(place: string, data: JobData): string {
  const digest = sha256(JSON.stringify([data.payload, data.blobs])).slice(0, 12);
  return `${place.replace(/[^\w.-]+/g, "_")}.${digest}`;
}

/** Returns the id of a job's copy: a copy for a second worker has the same key and a higher number. */
export const copyId = (key: string, copy: number): string => `${key}.n${copy}`;
export const keyOfCopy = (id: string): string => id.replace(/\.n\d+$/, "");

/**
 * Lists all differences that exclude a worker from a run; undefined if there are none.
 * @param what is compared: versions, or hashes.
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
