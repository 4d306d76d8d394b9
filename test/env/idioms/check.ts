import assert from "node:assert/strict";
import type { Idioms } from "./idiom.js";
import { playIdioms } from "./play.js";

/** The oracle earns all that a page can give, a bare submit next to nothing; what the server refuses is not accepted. */
export async function checkIdioms(idioms: Idioms): Promise<void> {
  for (const { name, idiom, oracle, nothing } of await playIdioms(idioms)) {
    assert.equal(oracle.fault, undefined, `${name}: ${oracle.fault}`);
    const why = `${name}: ${JSON.stringify([oracle.received, oracle.refusal, oracle.posted, oracle.actions])}`;
    assert.equal(oracle.accepted, idiom.accepted !== false, why);
    if (idiom.accepted !== false) assert.ok(oracle.reward > 0.999, why);
    assert.ok(!(nothing.reward > 0.05), `${name}: a bare submit earns ${nothing.reward}`);
  }
}
