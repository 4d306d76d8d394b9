import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { DEFAULT_PROOFS, FAULTS } from "./planted-faults.js";
import { misfitOf, type Outcome, verifyPlanted } from "./planted-run.js";

/** Share of the planted faults that the proofs must find. */
const CAUGHT = 0.95;
const PROCESSES = 2;
/** Every second fault, as each takes two seconds; PLANTED_FAULTS=all plants all of them. */
const SHARE = process.env.PLANTED_FAULTS === "all" ? PROCESSES : 2 * PROCESSES;

test("the sources as they are miss no limit", async () => {
  for (const sampler of [undefined, "jump", "next-token"] as const) {
    const runs = FAULTS.filter((fault) => fault.sampler === sampler);
    const proofs = [...new Set(runs.flatMap((fault) => fault.proofs ?? DEFAULT_PROOFS))];
    // of a flow, that objective alone which a fault is planted for
    const objectives = sampler === "jump" ? [...new Set(runs.map(({ objective }) => objective))] : [undefined];
    for (const objective of objectives) {
      const name = `${sampler ?? "unmask"}: ${objective ?? "all objectives"}`;
      const outcome = await verifyPlanted({
        name,
        proofs,
        ...(sampler && { sampler }),
        ...(objective && { objective }),
      });
      assert.equal(outcome.caughtBy, undefined, name);
    }
  }
});

test("every planted fault fits the sources", () => {
  assert.deepEqual(
    FAULTS.map((fault) => [fault.name, misfitOf(fault)]).filter(([, misfit]) => misfit !== undefined),
    [],
    "faults that no longer fit the sources: write them anew",
  );
});

test("the proofs find planted faults", async (t) => {
  const planted = FAULTS.filter((_, i) => i % SHARE < PROCESSES).length;
  assert.ok(planted >= 40);
  const run = fileURLToPath(new URL("./planted-run.js", import.meta.url));
  const parts = await Promise.all(
    Array.from({ length: PROCESSES }, (_, i) =>
      promisify(execFile)(process.execPath, [run, String(i), String(SHARE)], { maxBuffer: 2 ** 24 }),
    ),
  );
  const outcomes = parts.flatMap(({ stdout }) =>
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Outcome),
  );
  for (const { name, caughtBy } of outcomes) t.diagnostic(`${name}: ${caughtBy ?? "NOT FOUND"}`);
  assert.equal(outcomes.length, planted);
  const missed = outcomes.filter(({ caughtBy }) => caughtBy === undefined).map(({ name }) => name);
  assert.ok(1 - missed.length / planted >= CAUGHT, `not found: ${missed.join("; ")}`);
});
