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

/** Weights of external files, each on a device once for all its sessions, for as long as one uses it. */
export class SharedWeights<T> {
  private readonly entries = new Map<string, { tensor: T; users: number }>();

  constructor(private readonly free: (tensor: T) => void) {}

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
      for (const { name, dtype, shape, data } of weights) {
        const path = join(dir, data.file);
        const key = JSON.stringify([provider, path, data.offset, data.length, dtype, shape]);
        let entry = this.entries.get(key);
        if (entry === undefined) {
          const at: ReadBytes = (from, length) => readRange(path, data.offset + from, length);
          entry = { tensor: place({ dtype, shape }, data.length, at), users: 0 };
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

  private leave(key: string): void {
    const entry = this.entries.get(key);
    if (entry === undefined || --entry.users > 0) return;
    this.entries.delete(key);
    this.free(entry.tensor);
  }
}
