import type { Redis } from "ioredis";
import { messageOf } from "../../../core/errors.js";
import {
  type Beat,
  beatSchema,
  MOST_TEXT,
  received,
  receivedText,
  workerKey,
  workerName,
  workersKey,
} from "./protocol.js";

/**
 * The workers that are there for a run, by name. One that says nothing, or nothing that can be read, is taken off the list.
 * @param refuse hears why a worker does not work for the run, and what was malformed.
 */
export async function readBeats(redis: Redis, run: string, refuse: (why: string) => void): Promise<Map<string, Beat>> {
  const beats = new Map<string, Beat>();
  for (const worker of await redis.smembers(workersKey(run))) {
    const beat = await readBeat(redis, run, worker).catch((error: unknown) => refuse(messageOf(error)));
    if (beat === undefined) await redis.srem(workersKey(run), worker);
    else if (beat.refused !== undefined) refuse(`worker ${worker} is refused: ${beat.refused}`);
    else beats.set(worker, beat);
  }
  return beats;
}

/** @returns undefined of one that is gone. @throws Error for a malformed name or sign of life. */
async function readBeat(redis: Redis, run: string, worker: string): Promise<Beat | undefined> {
  received("the name of a worker", workerName, worker);
  const text = await redis.getrange(workerKey(run, worker), 0, MOST_TEXT);
  return text === "" ? undefined : receivedText(`the sign of life of worker ${worker}`, beatSchema, text);
}
