import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { listed } from "../support/boundary-run.js";

const TIMES = 30;
/** A case that takes as long as this is called a hang; the slowest took 3 s. */
const HANGS_MS = 60_000;

type Message = { readonly at?: string; readonly counts?: Record<string, number>; readonly error?: string };

/** Checks a module's boundaries in a thread, which can be ended where a case hangs. */
function checked(boundaries: string): Promise<Record<string, number>> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("../support/boundary-run.js", import.meta.url), {
      workerData: { boundaries, times: TIMES },
    });
    let at = "its start";
    const hangs = setTimeout(() => void end(() => reject(new Error(`hangs: ${at}`))), HANGS_MS);
    const end = async (then: () => void): Promise<void> => {
      clearTimeout(hangs);
      await worker.terminate();
      then();
    };
    worker.on("error", reject);
    worker.on("message", (message: Message) => {
      hangs.refresh();
      at = message.at ?? at;
      const { counts, error } = message;
      if (error !== undefined) void end(() => reject(new Error(`${at}: ${error}`)));
      if (counts !== undefined) void end(() => resolve(counts));
    });
  });
}

test("20,000 generated files and messages are read, or refused with a next step; none hangs", async (t) => {
  const counts: Record<string, number> = {};
  for (const path of listed()) Object.assign(counts, await checked(path));
  const all = Object.values(counts).reduce((sum, n) => sum + n, 0);
  t.diagnostic(`${all} cases: ${JSON.stringify(counts)}`);
  assert.ok(all >= 20_000, String(all));
});
