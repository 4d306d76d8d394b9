import { type Control, controlNamed, findControl } from "../browser/controls.js";
import type { ActionRecord } from "../browser/fill.js";
import type { FieldValue, Task } from "../site.js";
import { isNoFile, matchValue, matchWritten } from "./normalize.js";
import type { Action } from "./plan.js";

/** Result of an episode, the input of the reward. */
export interface Outcome {
  /** One value for each control: as the server received it, or as the page holds it if nothing was posted. */
  readonly values: readonly FieldValue[];
  readonly accepted: boolean;
  readonly actions: readonly ActionRecord[];
  /** Number of lines of the plan that are not actions. */
  readonly unresolved: number;
  /** Tells whether file fields can be filled in at all; if not, they do not count. */
  readonly uploads: boolean;
}

export interface Score {
  /** .4 taskCompletion + .4 fieldAccuracy + .2 executionCompleteness */
  readonly reward: number;
  readonly taskCompletion: number;
  readonly fieldAccuracy: number;
  readonly executionCompleteness: number;
  /** Set if the form was accepted and every true field is exactly right. */
  readonly success: boolean;
  /** Score of each true field; 1 if its default is right and unchanged. */
  readonly perField: Readonly<Record<string, number>>;
  /** The final value of each true field's control; null if the page has no such control. */
  readonly received: Readonly<Record<string, FieldValue | null>>;
}

type FieldResult = ReturnType<typeof judgeField>;

/**
 * Compares one true field with its control's final value.
 * @returns `counted`: it counts in the mean, as its default is wrong, or was right and has been spoilt. `needed`: its
 * default has to be changed.
 */
function judgeField(label: string, truth: FieldValue, controls: readonly Control[], outcome: Outcome) {
  const control = controlNamed(controls, label);
  if (control === undefined)
    return { label, control, counted: true, needed: true, changed: false, score: 0, exact: false, actual: null };
  const actual = outcome.values[control.index] ?? "";
  const changed = control.kind === "file" ? !isNoFile(actual) : matchValue(control, control.default, actual) < 1;
  if (control.kind === "file" && (isNoFile(truth) || !outcome.uploads))
    return { label, control, counted: false, needed: false, changed, score: 1, exact: true, actual };
  const score = matchValue(control, truth, actual);
  const exact = score === 1;
  if (matchValue(control, truth, control.default) === 1) {
    // a right default does not count if it is unchanged, and scores 0 if it is spoilt
    return { label, control, counted: !exact, needed: false, changed, score: exact ? 1 : 0, exact, actual };
  }
  // an unchanged wrong default scores 0, even if it resembles the truth
  return { label, control, counted: true, needed: true, changed, score: changed ? score : 0, exact, actual };
}

/**
 * Computes execution_completeness: actions that took effect on an intended control / max(actions planned, needed).
 *
 * A control is intended if a true field needs a change of it. An action takes effect if it was done, no later action
 * overwrote it, and the control no longer holds its default. It counts as much as its field's value is right: putting
 * in anything is no part of any task. The submit counts as much as all sent values are right
 * (accepted x field accuracy): sending an empty form is no part of any task. Neutral steps (going to the same page,
 * clicking into a text field) do not count at all. Needed are one action for each field, and the submit.
 */
function executionCompleteness(fields: readonly FieldResult[], outcome: Outcome, fieldAccuracy: number): number {
  // a policy cannot know that a field that it has not seen is right already
  const unseen = new Set(fields.filter((f) => !f.needed && f.exact && f.control?.late).map((f) => f.control?.index));
  const wanted = new Map(fields.filter((f) => f.needed && f.changed).map((f) => [f.control?.index, f]));
  const lastOn = new Map<number, number>();
  outcome.actions.forEach((record, i) => {
    if (record.fate === "done" && record.control !== undefined && record.neutral !== true)
      lastOn.set(record.control, i);
  });
  let planned = outcome.unresolved;
  let effective = 0;
  const submitted = outcome.accepted ? outcome.actions.findIndex((r) => r.submitted === true) : -1;
  const perControl = new Map<number, Set<string>>();
  outcome.actions.forEach((record, i) => {
    if (record.neutral === true) return;
    if (record.fate === "done" && record.control !== undefined && unseen.has(record.control)) return;
    planned++;
    if (i === submitted) {
      effective += fieldAccuracy;
      return;
    }
    if (record.fate !== "done" || record.control === undefined) return;
    const field = wanted.get(record.control);
    if (field === undefined) return;
    if (field.control?.kind === "checkbox-group") {
      // a plan may have one line for each item: every different one takes effect
      const seen = perControl.get(record.control) ?? new Set<string>();
      perControl.set(record.control, seen);
      const key = actionKey(record.action);
      if (!seen.has(key)) effective += field.score;
      seen.add(key);
    } else if (lastOn.get(record.control) === i) {
      effective += field.score;
    }
  });
  const needed = 1 + fields.filter((field) => field.needed).length;
  return effective / Math.max(planned, needed);
}

const actionKey = (action: Action): string =>
  "label" in action ? `${action.label}|${"value" in action ? action.value : ""}` : "";

/** Computes the default reward from the values that the server received. */
export function score(task: Pick<Task, "fields">, controls: readonly Control[], outcome: Outcome): Score {
  const fields = Object.entries(task.fields).map(([label, truth]) => judgeField(label, truth, controls, outcome));
  const counted = fields.filter((field) => field.counted);
  const fieldAccuracy =
    counted.length === 0 ? 1 : counted.reduce((sum, field) => sum + field.score, 0) / counted.length;
  const taskCompletion = outcome.accepted ? fieldAccuracy : 0;
  const execution = executionCompleteness(fields, outcome, fieldAccuracy);
  return {
    reward: 0.4 * taskCompletion + 0.4 * fieldAccuracy + 0.2 * execution,
    taskCompletion,
    fieldAccuracy,
    executionCompleteness: execution,
    success: outcome.accepted && fields.every((field) => field.exact),
    perField: Object.fromEntries(fields.map((field) => [field.label, field.score])),
    received: Object.fromEntries(fields.map((field) => [field.label, field.actual])),
  };
}

/**
 * Computes the formula of the design documents, for comparison only: .4 accepted + .4 share of true fields that the
 * plan's TEXT names with the right value + .2 executed / planned. A plan that only submits scores .60 on a form without
 * required fields, and a checkbox that has to stay empty never counts as right.
 */
export function documentsReward(
  task: Pick<Task, "fields">,
  controls: readonly Control[],
  outcome: Pick<Outcome, "accepted" | "actions" | "unresolved">,
): number {
  const labels = Object.entries(task.fields);
  const right = labels.filter(([label, truth]) => {
    const target = findControl(controls, label);
    if (typeof target === "string") return false;
    return outcome.actions.some(({ action, control }) => {
      if (control !== target.control.index) return false;
      if (action.kind === "check" || action.kind === "click") return truth === true;
      return "value" in action && matchWritten(target.control, truth, action.value) === 1;
    });
  });
  const planned = outcome.actions.length + outcome.unresolved;
  const executed = outcome.actions.filter((record) => record.fate === "done").length;
  return (
    0.4 * Number(outcome.accepted) +
    0.4 * (labels.length === 0 ? 0 : right.length / labels.length) +
    0.2 * (planned === 0 ? 0 : executed / planned)
  );
}
