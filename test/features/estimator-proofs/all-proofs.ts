import assert from "node:assert/strict";
import { holds, type Proof, type VerifyContext } from "../../../src/features/verify/proof.js";
import { loadProofs } from "../../../src/features/verify/verify.js";
import { formulaProofs } from "./formulas/all.js";

/** Returns the proofs that `verify` runs, and those of this project's formulas. */
export async function allProofs(): Promise<Map<string, Proof>> {
  return new Map([...(await loadProofs()), ...formulaProofs]);
}

/** Lists the proofs without those over hundreds of rollouts: these are run on one model of each architecture. */
export async function briefProofs(): Promise<string[]> {
  return [...(await allProofs()).keys()].filter((proof) => !["signal", "zero-score"].includes(proof));
}

/** Asserts that the named proofs hold, or all but the flow's. @returns the number of figures that were checked. */
export async function assertHolds(context: VerifyContext, only?: readonly string[]): Promise<number> {
  let figures = 0;
  for (const [name, proof] of await allProofs()) {
    if (proof.sampler === "jump" || only?.includes(name) === false) continue;
    for (const m of await proof.run(context)) {
      assert.ok(holds(m), `${name}: ${m.name} ${m.measured} > ${m.limit} (${m.detail})`);
      figures++;
    }
  }
  return figures;
}
