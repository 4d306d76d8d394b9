import type { Proof } from "../../../../src/features/verify/proof.js";
import { proof as objectiveFormula } from "./proofs/objective-formula.js";
import { proof as objectiveGradient } from "./proofs/objective-gradient.js";
import { proof as optimizer } from "./proofs/optimizer.js";
import { proof as sandwich } from "./proofs/sandwich.js";
import { proof as supervised } from "./proofs/supervised.js";

/**
 * Proofs that compare this project's formulas with their documentation: credit, losses, gradients, updates and bounds,
 * each computed a second time in float64. No user's model or config can break them, so that \`verify\` does not run them.
 */
export const formulaProofs: ReadonlyMap<string, Proof> = new Map([
  ["objective-formula", objectiveFormula],
  ["objective-gradient", objectiveGradient],
  ["optimizer", optimizer],
  ["sandwich", sandwich],
  ["supervised", supervised],
]);
