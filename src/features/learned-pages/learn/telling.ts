import { AGAIN } from "../../../env/forms/answer.js";
import type { FieldValue } from "../../../env/site.js";

/** Kinds of features, most reliable first. Only the first kind that separates accepted from refused answers is kept. */
const STRENGTH = [/^status/, /^leads/, /^the form/, /^json has/, /^json/, /^at /, /^says/, /^shows/];
const MOST_KEPT = 4;

type Answers = readonly (readonly string[])[];

/** Lists the features that all answers have. */
const constantIn = ([first = [], ...rest]: Answers): string[] =>
  first.filter((feature) => rest.every((other) => other.includes(feature)));

/** Lists the features that all answers have and no other one. */
export const apart = (answers: Answers, others: Answers): string[] =>
  constantIn(answers).filter((feature) => !others.some((other) => other.includes(feature)));

/** Finds the features that tell accepted answers from refused ones; with swapped arguments, the reverse. */
export function telling(accepted: Answers, refused: Answers): string[] {
  const differs = apart(accepted, refused);
  for (const kind of STRENGTH) {
    const kept = differs.filter((feature) => kind.test(feature));
    if (kept.length > 0) return kept.slice(0, MOST_KEPT);
  }
  // without a refused answer, any answer of this status is taken for acceptance, unless it is the form again
  return refused.length > 0
    ? []
    : constantIn(accepted).filter((feature) => feature.startsWith("status") || feature === AGAIN);
}

/** Drops features that contain one of the entered values: they differ from person to person. */
export function withoutValues(features: readonly string[], fields: Readonly<Record<string, FieldValue>>): string[] {
  const values = Object.values(fields)
    .flatMap((value) => (Array.isArray(value) ? value : [String(value)]))
    .filter((text) => text.length > 2 && text !== "true" && text !== "false");
  return features.filter(
    (feature) => !/^(?:says|shows|json .* = )/.test(feature) || !values.some((text) => feature.includes(text)),
  );
}
