import { mkdir, readFile, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { sha256, writeAtomic } from "../../../core/files.js";
import { address as addressSchema, isMalformed, PREFIX, received } from "./protocol.js";

/**
 * Stores bytes under their SHA-256: adapters, batches and results, which are too large for a queue.
 * @throws Error for an address that is not a SHA-256.
 */
export interface BlobStore {
  /** @returns the address. Putting the same bytes again changes nothing. */
  put(bytes: Uint8Array): Promise<string>;
  /** Reads a blob; undefined if it does not exist, or if its bytes do not match the address. */
  get(address: string): Promise<Buffer | undefined>;
  has(address: string): Promise<boolean>;
  drop(address: string): Promise<void>;
}

/**
 * Seconds after which Redis deletes a blob that is not checked. A coordinator checks its own blobs every second; a
 * result that it does not fetch in time is computed again.
 */
const LIFETIME_S = 900;

const checked = (address: string, bytes: Buffer | null): Buffer | undefined =>
  bytes !== null && sha256(bytes) === address ? bytes : undefined;

function redisBlobs(redis: Redis): BlobStore {
  const key = (address: string): string => `${PREFIX}:blob:${received("a blob's address", addressSchema, address)}`;
  return {
    async put(bytes) {
      const address = sha256(bytes);
      await redis.set(key(address), Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), "EX", LIFETIME_S);
      return address;
    },
    async get(address) {
      const bytes = await redis.getBuffer(key(address)).catch((error: unknown) => {
        // a key of another type is not a blob
        if (isMalformed(error)) return null;
        throw error;
      });
      return checked(address, bytes);
    },
    // each check extends the lifetime
    has: async (address) => (await redis.expire(key(address), LIFETIME_S)) === 1,
    async drop(address) {
      await redis.del(key(address));
    },
  };
}

/** Keeps blobs in a folder that coordinator and workers share. */
export function folderBlobs(folder: string): BlobStore {
  /** The extension protects other files named by a hash: only blobs are replaced or removed. */
  const pathOf = (address: string): string =>
    join(folder, `${received("a blob's address", addressSchema, address)}.blob`);
  return {
    async put(bytes) {
      const address = sha256(bytes);
      await mkdir(folder, { recursive: true });
      await writeAtomic(pathOf(address), bytes);
      return address;
    },
    async get(address) {
      const path = pathOf(address);
      return checked(address, await readFile(path).catch(() => null));
    },
    async has(address) {
      const [path, now] = [pathOf(address), new Date()];
      const touched = utimes(path, now, now).then(() => true);
      return touched.catch(() => false);
    },
    drop: async (address) => rm(pathOf(address), { force: true }),
  };
}

/** Opens the blob store of a run. @param folder shared by coordinator and workers; null: Redis holds the blobs. */
export const openBlobs = (folder: string | null, redis: Redis): BlobStore =>
  folder === null ? redisBlobs(redis) : folderBlobs(folder);
