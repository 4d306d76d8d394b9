import type { Action } from "../../core/interaction.js";
import type { AnswerPart } from "../environment.js";
import type { FieldValue } from "../site.js";
import { blankParts, type TemplateControl } from "./blanks.js";
import { looseLabel, normalizeLabel } from "./normalize.js";
import { parsePlan } from "./plan.js";

/** A turn's answer, with the controls of its template. */
export interface TurnAnswer extends Action {
  readonly controls: readonly TemplateControl[];
}

/** Returns the blanks or lines of an episode's answers as attempts at the task's fields, one list for each turn. */
export function answerParts(
  answers: readonly TurnAnswer[],
  fields: Readonly<Record<string, FieldValue>>,
  scores: Readonly<Record<string, number>>,
): AnswerPart[][] {
  if (answers.every(({ values }) => values === undefined))
    return planParts(
      answers.map(({ text = "" }) => text),
      fields,
      scores,
    );
  const overwritten = new Set<string>();
  const partsOf = ({ text = "", values, controls }: TurnAnswer): AnswerPart[] => {
    const parts =
      values === undefined ? (planParts([text], fields, scores)[0] ?? []) : blankParts(controls, values, scores);
    const counted = parts.map((part) => (overwritten.has(part.name) ? { ...part, reward: 0 } : part));
    // a blank with only an end mark overwrites nothing
    for (const { name, start, end } of parts) if (end > start + 1) overwritten.add(name);
    return counted;
  };
  return [...answers].reverse().map(partsOf).reverse();
}

/**
 * Returns the lines of an episode's plans as attempts at the task's fields. The last action on a field earns the
 * field's score; earlier ones earn 0, since they are overwritten (except for lists, with their line for each item). A
 * line that names a field but is no action earns 0. A line that names no field, such as the submit, is no attempt.
 * @param plans one plan for each turn.
 * @param fields true values by label.
 * @param scores scores of the fields by label, 0 to 1.
 * @returns one list for each turn, in the order of the lines.
 */
export function planParts(
  plans: readonly string[],
  fields: Readonly<Record<string, FieldValue>>,
  scores: Readonly<Record<string, number>>,
): AnswerPart[][] {
  // the longest label first: `Secondary Email Address` contains `Email Address`
  const labels = Object.keys(fields)
    .map((label) => ({ label, loose: looseLabel(label), words: spaced(label) }))
    .filter(({ loose }) => loose !== "")
    .sort((a, b) => b.loose.length - a.loose.length);
  const overwritten = new Set<string>();
  const attempt = ({ line, start, end }: Line): AnswerPart[] => {
    const [action] = parsePlan(line).actions;
    if (action?.kind === "submit") return [];
    const loose = action !== undefined && "label" in action ? looseLabel(action.label) : "";
    const words = spaced(line);
    const named = labels.find((of) => (action === undefined ? words.includes(of.words) : of.loose === loose));
    if (named === undefined) return [];
    const { label } = named;
    const counts = action !== undefined && (Array.isArray(fields[label]) || !overwritten.has(label));
    if (action !== undefined) overwritten.add(label);
    return [{ name: label, start, end, reward: counts ? (scores[label] ?? 0) : 0 }];
  };
  // backwards, so that overwriting actions are known before overwritten ones
  const partsOf = (plan: string): AnswerPart[] => linesOf(plan).reverse().flatMap(attempt).reverse();
  return [...plans].reverse().map(partsOf).reverse();
}

/** Puts words between single spaces, so that a label is not found inside a longer word. */
export const spaced = (text: string): string =>
  ` ${
    normalizeLabel(text)
      .match(/[\p{L}\p{N}]+/gu)
      ?.join(" ") ?? ""
  } `;

type Line = ReturnType<typeof linesOf>[number];

/** Splits a text into lines; the end of each is the position after its line break. */
function linesOf(text: string) {
  return [...text.matchAll(/[^\n]*\n|[^\n]+$/g)].map(({ 0: line, index }) => ({
    line,
    start: index,
    end: index + line.length,
  }));
}
