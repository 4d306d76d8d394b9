import type { Control } from "../browser/controls.js";
import type { Wire } from "./contract.js";
import { spaced } from "./plan-parts.js";

/**
 * Finds the fields that a site names: a text is the key of a field, or contains its label as whole words. The longest
 * label comes first, so that "Patient Name" does not name "Name" too.
 * @param texts what the site wrote, as "Reason does not fit our records".
 */
export function refusedFields(
  controls: readonly Pick<Control, "label" | "name">[],
  wires: Readonly<Record<string, { readonly wire?: Wire | undefined }>>,
  texts: readonly string[],
): string[] {
  const longestFirst = controls
    .map(({ label, name }) => ({ label, words: spaced(label), keys: [name, wires[label]?.wire?.key] }))
    .filter(({ words }) => words.trim() !== "")
    .sort((a, b) => b.words.length - a.words.length);
  const named = new Set<string>();
  for (const text of texts) {
    const byKey = longestFirst.filter(({ keys }) => keys.includes(text));
    for (const { label } of byKey) named.add(label);
    let words = spaced(text);
    for (const { label, words: of } of byKey.length > 0 ? [] : longestFirst) {
      if (!words.includes(of)) continue;
      named.add(label);
      words = words.replaceAll(of, " | ");
    }
  }
  return [...named];
}
