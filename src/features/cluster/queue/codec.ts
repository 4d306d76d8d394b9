/**
 * Plain data with typed arrays as bytes, exactly: what travels between coordinator and workers, and what adapters are
 * hashed as. Layout: uint32 length of the header, the header (JSON, UTF-8), the arrays one after the other.
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

/** Stands for a typed array of the body (type, bytes from its start, elements), or for a number that JSON has no word for. */
const markerSchema = z.union([
  z.tuple([
    z.literal("array"),
    z.enum(Object.keys(ARRAYS) as [ArrayName, ...ArrayName[]]),
    z.int().nonnegative(),
    z.int().nonnegative(),
  ]),
  z.tuple([z.literal("number"), z.string()]),
]);
type Marker = z.infer<typeof markerSchema>;
const MARKER = "$";
/** Every typed array may be read in place from a multiple of this. */
const ALIGN = 8;

/** Writes a value as bytes. @throws TypeError for a value that is no plain data. */
export function encode(value: unknown): Buffer {
  const parts: Uint8Array[] = [];
  let length = 0;
  const walk = (v: unknown, path: string): unknown => {
    if (typeof v === "number")
      return Number.isFinite(v) && !Object.is(v, -0) ? v : marked(["number", Object.is(v, -0) ? "-0" : String(v)]);
    if (v === null || typeof v === "string" || typeof v === "boolean") return v;
    if (ArrayBuffer.isView(v)) {
      const name = v.constructor.name as ArrayName;
      if (!(name in ARRAYS)) throw new TypeError(`${path}: a ${name} cannot be sent`);
      const marker = marked(["array", name, length, (v as Float32Array).length]);
      const padding = (ALIGN - (v.byteLength % ALIGN)) % ALIGN;
      parts.push(new Uint8Array(v.buffer, v.byteOffset, v.byteLength), new Uint8Array(padding));
      length += v.byteLength + padding;
      return marker;
    }
    if (Array.isArray(v)) return v.map((item, i) => walk(item, `${path}[${i}]`));
    if (typeof v === "object" && Object.getPrototypeOf(v) === Object.prototype) {
      if (MARKER in v) throw new TypeError(`${path}: a key may not be called ${MARKER}`);
      return Object.fromEntries(
        Object.entries(v).flatMap(([key, item]) => (item === undefined ? [] : [[key, walk(item, `${path}.${key}`)]])),
      );
    }
    throw new TypeError(`${path}: ${typeof v} cannot be sent`);
  };
  const header = Buffer.from(JSON.stringify(walk(value, "value")));
  const start = 4 + header.length;
  const size = Buffer.alloc(4);
  size.writeUInt32LE(header.length);
  return Buffer.concat([size, header, new Uint8Array((ALIGN - (start % ALIGN)) % ALIGN), ...parts]);
}

/** Reads bytes of {@link encode}. @throws Error where the bytes are none of {@link encode}'s. */
export function decode(bytes: Uint8Array): unknown {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = 4 + buffer.readUInt32LE(0);
  const body = end + ((ALIGN - (end % ALIGN)) % ALIGN);
  const restore = (v: unknown): unknown => {
    if (v === null || typeof v !== "object") return v;
    if (Array.isArray(v)) return v.map(restore);
    if (!Object.hasOwn(v, MARKER))
      return Object.fromEntries(Object.entries(v).map(([key, item]) => [key, restore(item)]));
    const marker = markerSchema.parse((v as { [MARKER]: unknown })[MARKER]);
    if (marker[0] === "number") return Number(marker[1]);
    const [, name, offset, count] = marker;
    const kind = ARRAYS[name];
    const size = count * kind.BYTES_PER_ELEMENT;
    if (body + offset + size > buffer.length) throw new RangeError("the message was cut off");
    // a copy: the source may lie at any address, and may be large
    const copy = new Uint8Array(size);
    copy.set(buffer.subarray(body + offset, body + offset + size));
    return new kind(copy.buffer);
  };
  return restore(JSON.parse(buffer.toString("utf8", 4, end)));
}

function marked(marker: Marker): Record<string, Marker> {
  return { [MARKER]: marker };
}
