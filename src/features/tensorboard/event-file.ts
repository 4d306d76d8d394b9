import { appendFileSync } from "node:fs";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/**
 * TensorBoard's event files: tensorflow.Event messages (tensorboard/compat/proto/event.proto) in TFRecord frames
 *
 *   uint64 length | uint32 masked_crc32c(length) | bytes data | uint32 masked_crc32c(data)      little-endian
 *   masked(c) = rotate_right(c, 15) + 0xa282ead8
 */

const CRC32C_TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  // Castagnoli's polynomial, reflected
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? (c >>> 1) ^ 0x82f63b78 : c >>> 1;
  return c >>> 0;
});

/** CRC-32C (RFC 3720, appendix B.4). */
export function crc32c(data: Uint8Array): number {
  let c = 0xffffffff;
  for (const byte of data) c = (c >>> 8) ^ (CRC32C_TABLE[(c ^ byte) & 0xff] as number);
  return (c ^ 0xffffffff) >>> 0;
}

function masked(data: Uint8Array): number {
  const c = crc32c(data);
  return (((c >>> 15) | (c << 17)) + 0xa282ead8) >>> 0;
}

/** One TFRecord. */
export function frame(data: Uint8Array): Uint8Array {
  const out = new Uint8Array(8 + 4 + data.length + 4);
  const view = new DataView(out.buffer);
  view.setBigUint64(0, BigInt(data.length), true);
  view.setUint32(8, masked(out.subarray(0, 8)), true);
  out.set(data, 12);
  view.setUint32(12 + data.length, masked(data), true);
  return out;
}

/** Content of an event besides its time and step. */
export type EventContent =
  | { readonly version: string }
  | { readonly scalars: Readonly<Record<string, number>> }
  /** Marks the start of a process at `step`: readers drop later steps of earlier files. */
  | { readonly start: true };

/** Serializes a tensorflow.Event. @param seconds since 1970. */
export function encodeEvent(seconds: number, step: number, content: EventContent): Uint8Array {
  const event = new BinaryWriter().tag(1, WireType.Bit64).double(seconds);
  // proto3 omits zeros
  if (step !== 0) event.tag(2, WireType.Varint).int64(step);
  if ("version" in content) return event.tag(3, WireType.LengthDelimited).string(content.version).finish();
  if ("start" in content)
    return event.tag(7, WireType.LengthDelimited).fork().tag(1, WireType.Varint).int32(1).join().finish();
  event.tag(5, WireType.LengthDelimited).fork();
  for (const [tag, value] of Object.entries(content.scalars)) {
    event.tag(1, WireType.LengthDelimited).fork();
    event.tag(1, WireType.LengthDelimited).string(tag).tag(2, WireType.Bit32).float(value).join();
  }
  return event.join().finish();
}

/** Appends to one event file. */
export class EventFile {
  /** @param clock milliseconds since 1970. */
  constructor(
    private readonly path: string,
    firstStep: number,
    private readonly clock: () => number = Date.now,
  ) {
    this.append(0, { version: "brain.Event:2" });
    this.append(firstStep, { start: true });
  }

  scalars(step: number, scalars: Readonly<Record<string, number>>): void {
    this.append(step, { scalars });
  }

  private append(step: number, content: EventContent): void {
    appendFileSync(this.path, frame(encodeEvent(this.clock() / 1000, step, content)));
  }
}
