import { z } from "zod";
import { sha256 } from "../core/files.js";

/** What coordinator and workers agree on: names in Redis, jobs, and who may work for a run. */

/** `episodes` need a browser, `rollouts` a model and a browser, `gradients` a model. */
export const JOB_KINDS = ["episodes", "rollouts", "gradients"] as const;
export type JobKind = (typeof JOB_KINDS)[number];
/** What an episode's worker asks the coordinator: the policy's answer to a turn. */
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

const announcement = z.object({
  run: z.string(),
  /** The run's name, for people. */
  name: z.string(),
  versions: z.record(z.string(), z.string()),
  hashes: z.record(z.string(), z.string()),
  jobs: z.array(z.enum(JOB_KINDS)),
  /** Address of the run's config. */
  config: z.string(),
  /** Folder of the blobs; null: in Redis. */
  blobs: z.string().nullable(),
  /** Seconds without a sign of life after which a worker's job goes to another. */
  lease: z.number(),
});
/** What a coordinator says of its run. */
export type Announcement = z.infer<typeof announcement>;

/** Undefined for what another version wrote in another form. */
export function parseAnnouncement(text: string): Announcement | undefined {
  const result = announcement.safeParse(JSON.parse(text));
  return result.success ? result.data : undefined;
}

const beat = z.object({
  /** Why the worker does nothing for the run. */
  refused: z.string().optional(),
  jobs: z.array(z.enum(JOB_KINDS)),
  /** Seconds since it joined, and those in which it worked. */
  up: z.number(),
  busy: z.number(),
  done: z.number(),
});
/** A worker's sign of life. */
export type Beat = z.infer<typeof beat>;

export function parseBeat(text: string): Beat | undefined {
  const result = beat.safeParse(JSON.parse(text));
  return result.success ? result.data : undefined;
}

export interface JobData {
  /** Plain JSON; anything large is a blob that it names. */
  readonly payload: unknown;
  /** Addresses of the blobs that it reads. */
  readonly blobs: readonly string[];
}

export interface JobResult {
  /** Address of the result. */
  readonly blob: string;
  readonly worker: string;
  readonly seconds: number;
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
 * Why a worker may not work for a run, naming every difference; undefined where it may.
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
