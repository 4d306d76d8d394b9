import assert from "node:assert/strict";
import { holds, type VerifyContext } from "../../../src/features/verify/proof.js";
import { loadProofs } from "../../../src/features/verify/verify.js";

/** Lists the proofs without those over hundreds of rollouts: these are run on one model of each architecture. */
export const briefProofs = async (): Promise<string[]> =>
  [...(await loadProofs()).keys()].filter((proof) => !["signal", "zero-score"].includes(proof));

/** Asserts that the named proofs hold, or all. @returns the proof of each figure. */
export async function assertHolds(context: VerifyContext, only?: readonly string[]): Promise<string[]> {
  const seen: string[] = [];
  for (const [name, proof] of await loadProofs()) {
    if (only?.includes(name) === false) continue;
    for (const m of await proof.run(context)) {
      assert.ok(holds(m), `${name}: ${m.name} ${m.measured} > ${m.limit} (${m.detail})`);
      seen.push(name);
    }
  }
  return seen;
}
