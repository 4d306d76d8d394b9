import type { Observation } from "../../core/interaction.js";
import type { Rng } from "../../core/rng.js";
import { type Control, controlNamed } from "../browser/controls.js";
import type { FixedPolicy } from "../environment.js";
import type { FieldKind, FieldValue, Task } from "../site.js";
import { isNoFile, matchValue } from "./normalize.js";
import { type Action, renderPlan } from "./plan.js";

type Kinds = Readonly<Record<string, FieldKind>>;

/**
 * Writes the plan of a perfect policy: one action for each field whose default is not right already, then the submit.
 * @param kinds the page's controls, or each label's kind without a browser (targets of supervised training). A field
 * that is not on the untouched page may appear later: its value determines its action. Without a browser it gets none.
 */
export function oracleActions(
  fields: Readonly<Record<string, FieldValue>>,
  kinds: Kinds | readonly Control[],
): Action[] {
  const actions = Object.entries(fields).flatMap(([label, truth]): Action[] => {
    const kind = isControls(kinds) ? (kindOf(label, kinds) ?? unseenKind(truth)) : kinds[label];
    return kind === undefined ? [] : fieldActions(label, truth, kind);
  });
  return [...actions, { kind: "submit" }];
}

/** Guesses the kind of a control that is not shown yet by its value; a text as a file, since "none" needs no action. */
function unseenKind(truth: FieldValue): FieldKind {
  if (typeof truth === "boolean") return { kind: "checkbox", default: false };
  return Array.isArray(truth) ? { kind: "checkbox-group", default: [] } : { kind: "file", default: "" };
}

/** Returns the controls of a task's labels on a page, by label; missing ones are left out. */
export function kindsOn(controls: readonly Control[], labels: readonly string[]): Record<string, FieldKind> {
  const known = labels.map((label) => [label, kindOf(label, controls)] as const);
  return Object.fromEntries(known.filter((entry): entry is [string, FieldKind] => entry[1] !== undefined));
}

function kindOf(label: string, controls: readonly Control[]): FieldKind | undefined {
  const control = controlNamed(controls, label);
  return control === undefined ? undefined : asKind(control);
}

/** Converts a control to a field kind, with the texts of its options. */
export const asKind = ({ kind, default: preset, options }: Control): FieldKind => ({
  kind,
  default: preset,
  options: options.map(({ text }) => text),
});

function isControls(kinds: Kinds | readonly Control[]): kinds is readonly Control[] {
  return Array.isArray(kinds);
}

/** Returns the actions that give a control a value; none if it holds the value already. */
export function fieldActions(label: string, truth: FieldValue, kind: FieldKind): Action[] {
  const space = { kind: kind.kind, options: (kind.options ?? []).map((text) => ({ text, value: text })) };
  if (kind.kind === "file") return isNoFile(truth) ? [] : [{ kind: "fill", label, value: spoken(truth) }];
  if (matchValue(space, truth, kind.default) === 1) return [];
  switch (kind.kind) {
    case "checkbox":
      return [{ kind: matchValue(space, truth, true) === 1 ? "check" : "uncheck", label }];
    case "select":
    case "radio":
      return [{ kind: "select", label, value: spoken(truth) }];
    case "checkbox-group":
      return groupActions(label, truth, kind.default);
    default:
      return [{ kind: "fill", label, value: spoken(truth) }];
  }
}

/** Returns the actions for a group. A list replaces the choice; one item only adds, so a preset is cleared first. */
function groupActions(label: string, truth: FieldValue, preset: FieldValue): Action[] {
  const items = Array.isArray(truth) ? truth : [spoken(truth)];
  const clear: Action[] = Array.isArray(preset) && preset.length > 0 ? [{ kind: "uncheck", label }] : [];
  if (items.length === 0) return clear;
  if (items.length > 1 && !items.some((item) => /[,;]/.test(item)))
    return [{ kind: "select", label, value: items.join(", ") }];
  return [...clear, ...items.map((value): Action => ({ kind: "select", label, value }))];
}

/** Writes a value as plans and instructions do. */
export function spoken(value: FieldValue): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/** Plans of policies that know nothing of the task: they earn almost nothing under a fair reward. */
export const NULL_PLANS = {
  empty: () => [],
  "submit-only": () => [{ kind: "submit" }],
  random: (controls, rng) => [...controls.map(() => randomClick(controls, rng)), { kind: "submit" }],
} satisfies Record<string, (controls: readonly Control[], rng: Rng) => Action[]>;

/** Clicks a random control, or a random option of a group. */
function randomClick(controls: readonly Control[], rng: Rng): Action {
  const control = rng.pick(controls);
  const grouped = control.kind === "radio" || control.kind === "checkbox-group";
  return {
    kind: "click",
    label: grouped && control.options.length > 0 ? rng.pick(control.options).text : control.label,
  };
}

/** Returns the null policies. @param controlsOf the controls on the page; undefined: the policy answers nothing. */
export function nullPolicies(
  controlsOf: (task: Task, observation: Observation) => Promise<readonly Control[] | undefined>,
): Record<string, FixedPolicy> {
  return Object.fromEntries(
    Object.entries(NULL_PLANS).map(([name, planOf]): [string, FixedPolicy] => [
      name,
      async (task, rng) => async (observation) => {
        const controls = await controlsOf(task as Task, observation);
        return { text: controls === undefined ? "" : renderPlan(planOf(controls, rng)) };
      },
    ]),
  );
}
