import { misuse } from "../../core/errors.js";
import { type Control, findControl } from "../../env/browser/controls.js";
import { matchWritten, parseBoolean } from "../../env/forms/normalize.js";
import { asKind, fieldActions, spoken } from "../../env/forms/oracle.js";
import type { Action } from "../../env/forms/plan.js";
import type { FieldValue } from "../../env/site.js";
import { type PromptStyle, type PromptValue, reads, renderValue } from "../../text/prompt.js";

/** Parses the values of a record, where the model reads values; undefined where the model reads the text itself. */
export function recordOf(text: string, style: PromptStyle): Record<string, string> | undefined {
  if (reads(style)) return undefined;
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const pairs = lines.flatMap((line) => [...line.matchAll(/^([^:|]+)[:|](.*)$/gs)]);
  if (lines.length === 0 || pairs.length < lines.length)
    misuse(`This model reads values by label (prompt.style=${style}), and the text is no record.`, {
      hint: "give values, or a text with a line `Label: value` a field; a run with prompt.style=page reads prose",
    });
  return Object.fromEntries(pairs.map(([, label = "", value = ""]) => [label.trim(), value.trim()]));
}

/** Formats values as a record, for a model that reads texts. */
export function recordText(values: Readonly<Record<string, PromptValue>>): string {
  return Object.entries(values)
    .map(([label, value]) => `${label}: ${renderValue(value)}`)
    .join("\n");
}

/** Least similarity at which the model's text counts as a copy of a value with mistakes. */
const ALIKE = 0.5;

/**
 * Restricts actions to a record. A field that a key names gets the key's value unchanged. Another field gets a value
 * only where the model wrote the value of a key that names no field, as `Given Name` for `First name`: no other values
 * are written.
 * @param actions that the model wrote.
 */
export function asRecorded(
  actions: readonly Action[],
  controls: readonly Control[],
  record: Readonly<Record<string, FieldValue>>,
): Action[] {
  const named = new Set<Control>();
  const unnamed: FieldValue[] = [];
  const own = Object.entries(record).flatMap(([label, truth]): Action[] => {
    const target = findControl(controls, label);
    if (typeof target === "string") {
      unnamed.push(truth);
      return [];
    }
    named.add(target.control);
    const { control, option } = target;
    if (option !== undefined) return [{ kind: (parseBoolean(truth) ?? true) ? "check" : "uncheck", label }];
    return fieldActions(label, truth, asKind(control));
  });
  const converted = (action: Action): Action[] => {
    if (!("label" in action)) return [];
    const target = findControl(controls, action.label);
    if (typeof target === "string") return [action];
    if (named.has(target.control)) return [];
    const written = "value" in action ? action.value : action.kind !== "uncheck";
    const meant = unnamed
      .map((truth) => ({ truth, score: matchWritten(target.control, truth, written) }))
      .sort((a, b) => b.score - a.score)[0];
    if (meant === undefined || meant.score < ALIKE) return [];
    // in the control's own notation the same value may look different
    return meant.score === 1 || !("value" in action) ? [action] : [{ ...action, value: spoken(meant.truth) }];
  };
  return [...own, ...actions.flatMap(converted)];
}
