import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/** Provides the part of Node's `createHash` that the seeded random streams use. */
export function createHash(_algorithm: "sha256"): { update(text: string): Digest } {
  return { update: (text) => new Digest(sha256(utf8ToBytes(text))) };
}

class Digest {
  constructor(private readonly bytes: Uint8Array) {}

  /** @param encoding `hex` returns a string; without it, the result has Node's `readInt32LE`. */
  digest(encoding?: "hex"): string | { readInt32LE(offset: number): number } {
    if (encoding === "hex") return bytesToHex(this.bytes);
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset);
    return { readInt32LE: (offset) => view.getInt32(offset, true) };
  }
}
