import type { Call, Fill, Filled, Many, Opened, Rated, Reply, ShownTask } from "./messages.js";

/** The page's interface to the demo's worker. */
export class DemoClient {
  private readonly pending = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  private next = 0;
  private readonly worker: Worker;

  /** @param address URL of the worker's file. @param onLoaded called with the bytes that have arrived so far. */
  constructor(address: string, onLoaded: (bytes: number) => void) {
    this.worker = new Worker(address, { type: "module" });
    this.worker.onmessage = ({ data }: MessageEvent<Reply>) => {
      if ("loadedBytes" in data) return onLoaded(data.loadedBytes);
      const call = this.pending.get(data.id);
      this.pending.delete(data.id);
      if ("error" in data) call?.reject(new Error(data.error));
      else call?.resolve(data.result as never);
    };
    this.worker.onerror = (event) => {
      for (const call of this.pending.values()) call.reject(new Error(event.message || "the demo's thread failed"));
      this.pending.clear();
    };
  }

  open(): Promise<Opened> {
    return this.ask({ kind: "open" });
  }

  /** Asks for the n-th letter of a form. */
  task(form: string, n: number): Promise<ShownTask> {
    return this.ask({ kind: "task", form, n });
  }

  fill(what: Fill): Promise<Filled> {
    return this.ask({ kind: "fill", what });
  }

  /** Fills in many letters at once, without and with the trained adapter. */
  many(what: Many): Promise<Rated> {
    return this.ask({ kind: "many", what });
  }

  close(): void {
    this.worker.terminate();
  }

  private ask<T>(call: Call): Promise<T> {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      this.worker.postMessage({ id, call });
    });
  }
}
