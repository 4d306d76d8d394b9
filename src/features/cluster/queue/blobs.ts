import { mkdir, readFile, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { sha256, writeAtomic } from "../../../core/files.js";
import { address as addressSchema, isMalformed, PREFIX, received } from "./protocol.js";

/**
 * Bytes by their SHA-256: adapters, batches and results, which are too large for a queue.
 * @throws Error for an address that is no SHA-256.
 */
export interface BlobStore {
  /** @returns the address. Putting the same bytes again changes nothing. */
  put(bytes: Uint8Array): Promise<string>;
  /** Undefined where there is no such blob, or where its bytes are not those of its address. */
  get(address: string): Promise<Buffer | undefined>;
  has(address: string): Promise<boolean>;
  drop(address: string): Promise<void>;
}

/**
 * Seconds after which Redis forgets a blob that nobody dropped nor asked for. A coordinator asks for its own every second;
 * a result that it does not fetch in time is computed again.
 */
const LIFETIME_S = 900;

function checked(address: string, bytes: Buffer | null): Buffer | undefined {
  return bytes !== null && sha256(bytes) === address ? bytes : undefined;
}

class RedisBlobs implements BlobStore {
  constructor(private readonly redis: Redis) {}

  async put(bytes: Uint8Array): Promise<string> {
    const address = sha256(bytes);
    await this.redis.set(key(address), Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), "EX", LIFETIME_S);
    return address;
  }

  async get(address: string): Promise<Buffer | undefined> {
    const bytes = await this.redis.getBuffer(key(address)).catch((error: unknown) => {
      // a key of another type is no blob
      if (isMalformed(error)) return null;
      throw error;
    });
    return checked(address, bytes);
  }

  /** Asking for it keeps it. */
  async has(address: string): Promise<boolean> {
    return (await this.redis.expire(key(address), LIFETIME_S)) === 1;
  }

  async drop(address: string): Promise<void> {
    await this.redis.del(key(address));
  }
}

function key(address: string): string {
  return `${PREFIX}:blob:${received("a blob's address", addressSchema, address)}`;
}

/** A folder that coordinator and workers share. */
export class FolderBlobs implements BlobStore {
  constructor(private readonly folder: string) {}

  async put(bytes: Uint8Array): Promise<string> {
    const address = sha256(bytes);
    await mkdir(this.folder, { recursive: true });
    await writeAtomic(this.path(address), bytes);
    return address;
  }

  async get(address: string): Promise<Buffer | undefined> {
    const path = this.path(address);
    return checked(address, await readFile(path).catch(() => null));
  }

  async has(address: string): Promise<boolean> {
    const now = new Date();
    const path = this.path(address);
    return utimes(path, now, now).then(
      () => true,
      () => false,
    );
  }

  async drop(address: string): Promise<void> {
    await rm(this.path(address), { force: true });
  }

  /** The ending keeps other files that are named after their hash apart: only a blob is ever replaced or removed. */
  private path(address: string): string {
    return join(this.folder, `${received("a blob's address", addressSchema, address)}.blob`);
  }
}

/** Opens the store of a run's blobs. @param folder one that coordinator and workers share; null: Redis holds them. */
export function openBlobs(folder: string | null, redis: Redis): BlobStore {
  return folder === null ? new RedisBlobs(redis) : new FolderBlobs(folder);
}
