import { join } from "node:path";
import type { Held } from "../../onnx/runtimes/binding.js";
import type { ProviderName } from "../../onnx/runtimes/messages.js";
import type { DType, ExternalData } from "../../onnx/types.js";
import { readRange } from "../../weights/safetensors.js";

export interface ExternalWeight {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly data: ExternalData;
}

/** Reads `length` bytes of a weight from the offset `from`. */
export type ReadBytes = (from: number, length: number) => ArrayBuffer;

interface Entry<T> {
  readonly tensor: T;
  users: number;
  readonly key: string;
  /** The file and the device. */
  readonly place: string;
  readonly data: ExternalData;
  /** The larger weight whose memory it uses. */
  readonly within: Entry<T> | undefined;
}

/** Weights of external files, each on a device once for all its sessions, for as long as one uses it. */
export class SharedWeights<T> {
  private readonly entries = new Map<string, Entry<T>>();

  /** @param part makes a tensor of the memory of another one, from a byte on. */
  constructor(
    private readonly free: (tensor: T) => void,
    private readonly part: (whole: T, weight: Held, from: number) => T,
  ) {}

  /**
   * @param dir directory of the files.
   * @param place makes a persistent tensor from bytes that it reads.
   * @returns tensors by name, and a function that the session calls once when it is released.
   * @throws UserError if a file is missing or too short.
   */
  async take(
    dir: string,
    provider: ProviderName,
    weights: readonly ExternalWeight[],
    place: (weight: Held, bytes: number, read: ReadBytes) => T,
  ): Promise<{ tensors: ReadonlyMap<string, T>; forget: () => void }> {
    const tensors = new Map<string, T>();
    const taken: string[] = [];
    const forget = (): void => {
      for (const key of taken.splice(0)) this.leave(key);
    };
    try {
      // a block of a matrix comes after the whole
      for (const { name, dtype, shape, data } of [...weights].sort((a, b) => b.data.length - a.data.length)) {
        const path = join(dir, data.file);
        const where = `${provider} ${path}`;
        const key = JSON.stringify([where, placesOf(data).map((at) => [at.offset, at.length]), dtype, shape]);
        let entry = this.entries.get(key);
        if (entry === undefined) {
          const within = this.around(where, data);
          const at: ReadBytes = (from, length) => readParts(path, data, from, length);
          const tensor =
            within === undefined
              ? place({ dtype, shape }, data.length, at)
              : this.part(within.tensor, { dtype, shape }, placeIn(within.data, data) as number);
          if (within !== undefined) within.users++;
          entry = { tensor, users: 0, key, place: where, data, within };
          this.entries.set(key, entry);
        }
        entry.users++;
        taken.push(key);
        tensors.set(name, entry.tensor);
      }
      return { tensors, forget };
    } catch (error) {
      forget();
      throw error;
    }
  }

  /** Returns a weight whose bytes include these. */
  private around(place: string, part: ExternalData): Entry<T> | undefined {
    return [...this.entries.values()].find(
      ({ place: other, data, within }) => other === place && within === undefined && placeIn(data, part) !== undefined,
    );
  }

  private leave(key: string): void {
    const entry = this.entries.get(key);
    if (entry === undefined || --entry.users > 0) return;
    this.entries.delete(key);
    this.free(entry.tensor);
    if (entry.within !== undefined) this.leave(entry.within.key);
  }
}

const placesOf = (data: ExternalData): readonly ExternalData[] => data.parts ?? [data];

/** Returns the byte of a weight at which another one begins, if that is a part of it. */
function placeIn(whole: ExternalData, part: ExternalData): number | undefined {
  if (part.parts !== undefined) return undefined;
  let before = 0;
  for (const { offset, length } of placesOf(whole)) {
    if (offset <= part.offset && part.offset + part.length <= offset + length) return before + part.offset - offset;
    before += length;
  }
  return undefined;
}

/** Reads bytes of a weight, which may be in several places of a file. */
function readParts(path: string, data: ExternalData, from: number, length: number): ArrayBuffer {
  if (data.parts === undefined) return readRange(path, data.offset + from, length);
  const bytes = new Uint8Array(length);
  let before = 0;
  for (const part of data.parts) {
    const [begin, end] = [Math.max(from, before), Math.min(from + length, before + part.length)];
    if (begin < end)
      bytes.set(new Uint8Array(readRange(path, part.offset + begin - before, end - begin)), begin - from);
    before += part.length;
  }
  return bytes.buffer;
}
