import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { fail, messageOf } from "../core/errors.js";
import { sizeOf } from "../onnx/shapes.js";
import { BYTES, type DType, type Tensor } from "../onnx/types.js";

/** Names of the element types in the format. */
export const DTYPE_NAMES: Readonly<Record<DType, string>> = {
  float64: "F64",
  float32: "F32",
  float16: "F16",
  bfloat16: "BF16",
  int64: "I64",
  int32: "I32",
  int8: "I8",
  uint8: "U8",
  uint32: "U32",
  bool: "BOOL",
};

/** Alignment of the data in bytes, so that every element is aligned when the file is mapped as ONNX external data. */
const MAPPED_ALIGNMENT = 64;
/** Most bytes per read or write call: larger calls abort the process in Node. */
export const MAX_CHUNK = 2 ** 30;

export interface WriteOptions {
  /** Alignment of the data in bytes: 64 by default, 8 as the reference writer (PEFT's files). */
  readonly alignment?: 8 | 64;
}

/** A tensor to write: type, shape and bytes. */
export interface TensorSpec {
  readonly dtype: DType;
  readonly shape: readonly number[];
}

/**
 * Writes a temporary file piece by piece and renames it when it is complete. Tensors are sorted by name; where element
 * sizes differ, larger elements come first (as in the reference writer), so that every tensor is aligned to its own
 * element size.
 */
export class SafetensorsWriter {
  /** First byte in the file, and length, of each tensor. */
  private readonly places = new Map<string, { offset: number; length: number }>();
  private readonly temporary: string;
  private readonly fd: number;
  /** Bytes of the whole file. */
  readonly size: number;

  constructor(
    readonly path: string,
    specs: ReadonlyMap<string, TensorSpec>,
    metadata?: Readonly<Record<string, string>>,
    { alignment = MAPPED_ALIGNMENT }: WriteOptions = {},
  ) {
    const order = [...specs].sort(
      ([a, { dtype: da }], [b, { dtype: db }]) => BYTES[db] - BYTES[da] || (a < b ? -1 : a > b ? 1 : 0),
    );
    const entries: [string, unknown][] = metadata === undefined ? [] : [["__metadata__", metadata]];
    let end = 0;
    for (const [name, { dtype, shape }] of order) {
      if (name === "__metadata__") throw new RangeError(`a tensor cannot be called ${name}`);
      const length = sizeOf(shape) * BYTES[dtype];
      entries.push([name, { dtype: DTYPE_NAMES[dtype], shape, data_offsets: [end, end + length] }]);
      this.places.set(name, { offset: end, length });
      end += length;
    }
    // fromEntries: a tensor called __proto__ is an ordinary name
    const json = Buffer.from(JSON.stringify(Object.fromEntries(entries)), "utf8");
    const padded = Math.ceil((8 + json.length) / alignment) * alignment - 8;
    const head = Buffer.alloc(8 + padded, " ");
    head.writeBigUInt64LE(BigInt(padded), 0);
    json.copy(head, 8);
    for (const place of this.places.values()) place.offset += head.length;
    this.size = head.length + end;

    this.temporary = `${path}.${process.pid}.tmp`;
    this.fd = this.guarded(() => {
      mkdirSync(dirname(path), { recursive: true });
      return openSync(this.temporary, "w");
    });
    this.put(0, head);
  }

  /** Writes bytes of a tensor from its byte `from` on. */
  write(name: string, from: number, data: ArrayBufferView): void {
    const place = this.places.get(name);
    if (place === undefined || from + data.byteLength > place.length)
      throw new RangeError(`${data.byteLength} bytes at ${from} are not inside the tensor ${name} of ${this.path}`);
    this.put(place.offset + from, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  }

  /** Syncs the file and renames it to its path. */
  finish(): void {
    this.guarded(() => {
      fsyncSync(this.fd);
      closeSync(this.fd);
      renameSync(this.temporary, this.path);
    });
  }

  /** Removes the temporary file. */
  abort(): void {
    try {
      closeSync(this.fd);
    } catch {
      // closed already
    }
    rmSync(this.temporary, { force: true });
  }

  private put(position: number, bytes: Uint8Array): void {
    this.guarded(() => {
      for (let done = 0; done < bytes.length; )
        done += writeSync(this.fd, bytes, done, Math.min(MAX_CHUNK, bytes.length - done), position + done);
    });
  }

  private guarded<T>(write: () => T): T {
    try {
      return write();
    } catch (error) {
      if (this.fd !== undefined) this.abort();
      fail(`Cannot write ${this.path}: ${messageOf(error)}`, { cause: error });
    }
  }
}

/** Writes tensors in memory to a file, atomically. */
export function writeSafetensors(
  path: string,
  tensors: ReadonlyMap<string, Tensor>,
  metadata?: Readonly<Record<string, string>>,
  options?: WriteOptions,
): void {
  for (const [name, { dtype, shape, data }] of tensors) {
    const bytes = sizeOf(shape) * BYTES[dtype];
    if (data.byteLength !== bytes) {
      throw new RangeError(
        `tensor "${name}": ${dtype} [${shape.join(", ")}] is ${bytes} bytes, got ${data.byteLength}`,
      );
    }
  }
  const writer = new SafetensorsWriter(path, tensors, metadata, options);
  for (const [name, { data }] of tensors) writer.write(name, 0, data);
  writer.finish();
}
