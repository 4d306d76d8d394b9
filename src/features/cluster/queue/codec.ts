/**
 * Encodes plain data with typed arrays as bytes, without loss: for messages between coordinator and workers, and for
 * hashing adapters. Layout: uint32 length of the header, the header (JSON, UTF-8), the arrays one after the other.
 */

import { z } from "zod";

const ARRAYS = {
  Float32Array,
  Float64Array,
  Uint16Array,
  BigInt64Array,
  Int32Array,
  Int8Array,
  Uint8Array,
  Uint32Array,
} as const;
type ArrayName = keyof typeof ARRAYS;

/** Replaces a typed array (type, offset in the body, number of elements), or a number that JSON cannot represent. */
const markerSchema = z.union([
  z.tuple([
    z.literal("array"),
    z.enum(Object.keys(ARRAYS) as [ArrayName, ...ArrayName[]]),
    z.int().nonnegative(),
    z.int().nonnegative(),
  ]),
  z.tuple([z.literal("number"), z.string()]),
]);
const MARKER = "$";
/** Alignment of the arrays in bytes: every typed array can be read in place. */
const ALIGN = 8;
const padding = (size: number): number => (ALIGN - (size % ALIGN)) % ALIGN;

/** Writes a value as bytes. @throws TypeError for a value that is not plain data. */
export function encode(value: unknown): Buffer {
  const parts: Uint8Array[] = [];
  let length = 0;
  function written(this: Readonly<Record<string, unknown>>, key: string): unknown {
    // the original value: JSON.stringify passes the result of toJSON
    const v = this[key];
    const marked = (...marker: z.infer<typeof markerSchema>): unknown => ({ [MARKER]: marker });
    if (typeof v === "number" && (!Number.isFinite(v) || Object.is(v, -0)))
      return marked("number", Object.is(v, -0) ? "-0" : String(v));
    if (ArrayBuffer.isView(v)) {
      const name = v.constructor.name as ArrayName;
      if (!(name in ARRAYS)) throw new TypeError(`${key}: a ${name} cannot be sent`);
      const offset = length;
      parts.push(new Uint8Array(v.buffer, v.byteOffset, v.byteLength), new Uint8Array(padding(v.byteLength)));
      length += v.byteLength + padding(v.byteLength);
      return marked("array", name, offset, (v as Float32Array).length);
    }
    const plain =
      typeof v === "object"
        ? v === null || Array.isArray(v) || Object.getPrototypeOf(v) === Object.prototype
        : ["undefined", "string", "number", "boolean"].includes(typeof v);
    if (!plain) throw new TypeError(`${key}: ${typeof v} cannot be sent`);
    if (Object.hasOwn(Object(v), MARKER)) throw new TypeError(`${key}: a key may not be called ${MARKER}`);
    return v;
  }
  const header = Buffer.from(JSON.stringify(value, written));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(header.length);
  return Buffer.concat([size, header, new Uint8Array(padding(4 + header.length)), ...parts]);
}

/** Reads bytes of {@link encode}. @throws Error for any other bytes. */
export function decode(bytes: Uint8Array): unknown {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = 4 + buffer.readUInt32LE(0);
  const body = end + padding(end);
  return JSON.parse(buffer.toString("utf8", 4, end), (_, v: unknown) => {
    if (v === null || typeof v !== "object" || !Object.hasOwn(v, MARKER)) return v;
    const marker = markerSchema.parse((v as { [MARKER]: unknown })[MARKER]);
    if (marker[0] === "number") return Number(marker[1]);
    const [, name, offset, count] = marker;
    const kind = ARRAYS[name];
    const size = count * kind.BYTES_PER_ELEMENT;
    if (body + offset + size > buffer.length) throw new RangeError("the message was cut off");
    // a copy, because the source may be unaligned, and may be large
    return new kind(new Uint8Array(buffer.subarray(body + offset, body + offset + size)).buffer);
  });
}
