import { fail, nearest } from "../../core/errors.js";
import { listed } from "../../core/problems.js";
import { type Control, findControl } from "../browser/controls.js";
import type { Task } from "../site.js";
import { looseLabel, normalizeLabel } from "./normalize.js";

/** Most labels of a page that are listed. */
const MOST_LISTED = 30;

/** Words of a label or of a column's name: `policyNo`, `policy_no` and "Policy No" have the same. */
export const wordsOf = (label: string): string[] =>
  normalizeLabel(label.replace(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, " "))
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
    .split(" ");

const numbersIn = (label: string): string => label.replace(/\D+/g, " ").trim();

/**
 * Finds the label that a missing one probably stands for: one with few other letters, or the only one with one of its
 * words. Labels with other numbers are other fields of a repeated group.
 */
export function meantBy(label: string, labels: readonly string[]): string | undefined {
  const candidates = labels.filter((one) => numbersIn(one) === numbersIn(label));
  const words = wordsOf(label).filter((word) => word.length > 2);
  const sharing = words
    .map((word) => candidates.filter((one) => wordsOf(one).includes(word)))
    .find(({ length }) => length === 1);
  const near = nearest(looseLabel(label), candidates.map(looseLabel));
  return sharing?.[0] ?? candidates.find((one) => looseLabel(one) === near);
}

/**
 * Refuses labels that an untouched page lacks where another of its labels was probably meant; others may be those of
 * fields that appear later. @returns the controls. @throws UserError that lists the page's labels.
 */
export function checkedLabels(controls: readonly Control[], tasks: readonly Task[]): readonly Control[] {
  const labels = controls.flatMap(({ label, present }) => (present && label.trim() !== "" ? [label] : []));
  const wanted = [...new Set(tasks.flatMap((task) => Object.keys(task.fields)))];
  const named = new Set(wanted.map(looseLabel));
  const free = labels.filter((label) => !named.has(looseLabel(label)));
  const wrong = wanted.flatMap((label) => {
    const meant = findControl(controls, label) === "none" ? meantBy(label, free) : undefined;
    return meant === undefined ? [] : [`no field ${JSON.stringify(label)}; did you mean ${meant}?`];
  });
  if (wrong.length === 0) return controls;
  return fail(`${tasks[0]?.url}:${listed(wrong)}\n  the page has: ${labelList(labels)}`, {
    hint: "name fields as the page does; one that appears later is shown by a recording (refusion-train learn --from)",
  });
}

/** Lists a page's labels in words. */
export function labelList(labels: readonly string[]): string {
  const more = labels.length - MOST_LISTED;
  const shown = labels.slice(0, MOST_LISTED).map((label) => label.slice(0, 60));
  return labels.length === 0 ? "no fields" : `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
