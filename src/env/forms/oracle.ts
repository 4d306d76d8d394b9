import type { Observation } from "../../core/interaction.js";
import type { Rng } from "../../core/rng.js";
import { type Control, controlNamed } from "../browser/controls.js";
import type { FixedPolicy } from "../environment.js";
import type { FieldKind, FieldValue, Task } from "../site.js";
import { isNoFile, matchValue } from "./normalize.js";
import { type Action, renderPlan } from "./plan.js";

type Kinds = Readonly<Record<string, FieldKind>>;

/**
 * The plan that a perfect policy writes: one action a field whose default is not already right, then the submit.
 * @param kinds the page's controls, or each label's kind where no browser is at hand (targets of supervised training).
 * A field that the untouched page does not show may come with what is filled in before it: its action is told by its
 * value. Without a browser it gets none.
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

/** The kind of control that a value suits, for one that is not shown yet; texts as file names, since "none" is nothing to fill in. */
function unseenKind(truth: FieldValue): FieldKind {
  if (typeof truth === "boolean") return { kind: "checkbox", default: false };
  return Array.isArray(truth) ? { kind: "checkbox-group", default: [] } : { kind: "file", default: "" };
}

/** The controls of a task's labels as a page shows them, by label; those that it does not show are left out. */
export function kindsOn(controls: readonly Control[], labels: readonly string[]): Record<string, FieldKind> {
  const known = labels.map((label) => [label, kindOf(label, controls)] as const);
  return Object.fromEntries(known.filter((entry): entry is [string, FieldKind] => entry[1] !== undefined));
}

function kindOf(label: string, controls: readonly Control[]): FieldKind | undefined {
  const control = controlNamed(controls, label);
  return control === undefined ? undefined : asKind(control);
}

/** A control as a task has it: its options by their texts. */
export function asKind({ kind, default: preset, options }: Control): FieldKind {
  return { kind, default: preset, options: options.map(({ text }) => text) };
}

function isControls(kinds: Kinds | readonly Control[]): kinds is readonly Control[] {
  return Array.isArray(kinds);
}

/** The actions that give a control a value; none where it holds it already. */
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

/** A list is the whole choice; a single item only adds, so a preset choice is taken back first. */
function groupActions(label: string, truth: FieldValue, preset: FieldValue): Action[] {
  const items = Array.isArray(truth) ? truth : [spoken(truth)];
  const clear: Action[] = Array.isArray(preset) && preset.length > 0 ? [{ kind: "uncheck", label }] : [];
  if (items.length === 0) return clear;
  if (items.length > 1 && !items.some((item) => /[,;]/.test(item)))
    return [{ kind: "select", label, value: items.join(", ") }];
  return [...clear, ...items.map((value): Action => ({ kind: "select", label, value }))];
}

/** A value as plans and instructions say it. */
export function spoken(value: FieldValue): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/** Policies that know nothing of the task: a fair reward gives them next to nothing. */
export const NULL_POLICIES = ["empty", "submit-only", "random"] as const;
export type NullPolicy = (typeof NULL_POLICIES)[number];

/** The plan of a null policy. `random` clicks as many random controls and options as the page has controls, then submits. */
export function nullPlan(policy: NullPolicy, controls: readonly Control[], rng: Rng): Action[] {
  switch (policy) {
    case "empty":
      return [];
    case "submit-only":
      return [{ kind: "submit" }];
    case "random":
      return [...controls.map(() => randomClick(controls, rng)), { kind: "submit" }];
  }
}

function randomClick(controls: readonly Control[], rng: Rng): Action {
  const control = rng.pick(controls);
  const grouped = control.kind === "radio" || control.kind === "checkbox-group";
  return {
    kind: "click",
    label: grouped && control.options.length > 0 ? rng.pick(control.options).text : control.label,
  };
}

/** The null policies. @param controlsOf the controls that a policy is shown; undefined: it says nothing. */
export function nullPolicies(
  controlsOf: (task: Task, observation: Observation) => Promise<readonly Control[] | undefined>,
): Record<string, FixedPolicy> {
  const act =
    (name: NullPolicy): FixedPolicy =>
    async (task, rng) =>
    async (observation) => {
      const controls = await controlsOf(task as Task, observation);
      return { text: controls === undefined ? "" : renderPlan(nullPlan(name, controls, rng)) };
    };
  return Object.fromEntries(NULL_POLICIES.map((name) => [name, act(name)]));
}
