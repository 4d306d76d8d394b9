import { misuse } from "../core/errors.js";

/** A task's expected value. */
export type PromptValue = string | number | boolean | readonly string[];

/** The part of a task that a prompt reads (structurally a subset of env's Task). */
export interface PromptTask {
  readonly formTitle: string;
  readonly instruction: string;
  /** Expected values by visible label, in the order of the request. */
  readonly fields: Readonly<Record<string, PromptValue>>;
  /** The text with the expected values, and the options of choices by label: for the style `document`. */
  readonly document?: string;
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  /** A record's keys of its values, where these are not the labels. */
  readonly keys?: Readonly<Record<string, string>>;
}

/** A control as shown by the style `page`. */
export interface PageControl {
  readonly kind: string;
  readonly default: PromptValue;
  readonly options?: readonly string[];
  readonly name?: string;
  readonly required?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly longest?: number;
}

export const PROMPT_STYLES = ["compact", "instruction", "document", "page", "labels"] as const;
export type PromptStyle = (typeof PROMPT_STYLES)[number];

/** Tells whether a style shows a text in which values have to be found. */
export const reads = (style: PromptStyle): boolean => ["document", "page", "labels"].includes(style);

/** Separates a label from its value, in the prompt and in the plan alike: a small model can copy the line. */
export const SEPARATOR = " | ";

/**
 * Renders the prompt of a task: the one template of supervised training, reinforcement learning and evaluation.
 *
 * A label is indented by one space, as it follows a verb in the plan: its tokens are then the same in both.
 * `compact`, for tiny models, ends with an empty line; the plan follows:
 * ```
 * form: Contact us
 *  Full name | Ann Lee
 *  Newsletter | yes
 *
 * ```
 * `instruction`, for models that read prose, gives the task and its grammar first, then the same lines.
 * `document` gives the text that contains the values, and the labels alone (with the options of choices).
 * `page` gives the page as a person sees it, then the text: a letter, or a record under names of its own.
 * ```
 * page: Contact us
 *  Full name *
 *  Topic: Orders; Returns = Orders
 *  Newsletter (box)
 *
 * Dear team, I am Ann Lee ...
 *
 * ```
 * `labels` gives the title, the labels alone, and the text.
 * @param page the controls by label, for the style `page`; without them it shows the labels and choices of the task.
 * @throws UserError where the style is `document` and the task has none.
 */
export function renderPrompt(
  task: PromptTask,
  style: PromptStyle,
  page?: Readonly<Record<string, PageControl>>,
): string {
  const title = oneLine(task.formTitle);
  const fields = Object.entries(task.fields).map(
    ([label, value]) => ` ${oneLine(label)}${SEPARATOR}${renderValue(value)}\n`,
  );
  switch (style) {
    case "page":
      return `page: ${title}\n${pageLines(task, page)}\n${textOf(task, page)}`;
    case "labels":
      return `page: ${title}\n${pageLines({ ...task, choices: {} }, undefined)}\n${textOf(task)}`;
    case "compact":
      return `form: ${title}\n${fields.join("")}\n`;
    case "instruction":
      return `${task.instruction.trim()}\n\n${GRAMMAR}\n` + `Form: ${title}\n${fields.join("")}\nActions:\n`;
    case "document":
      return (
        `${task.instruction.trim()} What to enter is in this text:\n\n${documentOf(task)}\n\n${GRAMMAR}\n` +
        `Form: ${title}\n${Object.keys(task.fields)
          .map((label) => labelLine(label, task))
          .join("")}\nActions:\n`
      );
  }
}

const GRAMMAR = `Answer with one action a line and nothing else:
fill <label>${SEPARATOR}<value>
select <label>${SEPARATOR}<value>
check <label>
submit
`;

function documentOf({ document, formTitle }: PromptTask): string {
  const text = document?.trim().replace(/\n{3,}/g, "\n\n") ?? "";
  if (text !== "") return text;
  misuse(`The prompt style "document" needs a text that holds the values; a task of "${formTitle}" has none.`, {
    hint: "Use site.kind=formfactory, a tasks file with a document for every task, or prompt.style=instruction.",
  });
}

/** Kinds that a person recognises by the look of the control. */
const LOOKS: Readonly<Record<string, string>> = { text: "", textarea: "", select: "", radio: "", checkbox: "box" };

function pageLines(task: PromptTask, page: Readonly<Record<string, PageControl>> | undefined): string {
  if (page === undefined)
    return Object.keys(task.fields)
      .map((label) => labelLine(label, task))
      .join("");
  return Object.entries(page)
    .map(([label, { kind, default: preset, options = [], required, min, max, longest }]) => {
      const look = kind === "checkbox-group" ? "any of" : (LOOKS[kind] ?? kind);
      const limits = [
        min === undefined && max === undefined ? look : `${look} ${min ?? ""} to ${max ?? ""}`,
        longest === undefined ? "" : `at most ${longest} characters`,
      ].filter((text) => text !== "");
      const held = renderValue(preset);
      return (
        ` ${oneLine(label)}${required ? " *" : ""}${limits.length === 0 ? "" : ` (${limits.join(", ")})`}` +
        `${options.length === 0 || kind === "checkbox" ? "" : `: ${options.map(oneLine).join("; ")}`}` +
        `${held === "" || held === "no" ? "" : ` = ${held}`}\n`
      );
    })
    .join("");
}

/** Returns the text of a task with an empty line: its document, or its values as a record. */
export function textOf(task: PromptTask, page: Readonly<Record<string, PageControl>> = {}): string {
  const own = <T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined =>
    record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
  const text =
    (task.document ?? "").trim() ||
    Object.entries(task.fields)
      .map(([label, value]) => {
        const key = own(page, label)?.name || own(task.keys, label) || label.toLowerCase().replace(/\s+/gu, "_");
        return `${oneLine(key)}: ${renderValue(value)}`;
      })
      .join("\n");
  return `${text.replace(/\n{3,}/g, "\n\n")}\n\n`;
}

function labelLine(label: string, { choices = {} }: PromptTask): string {
  const options = (Object.hasOwn(choices, label) ? choices[label] : undefined) ?? [];
  return ` ${oneLine(label)}${options.length === 0 ? "" : ` (${options.map(oneLine).join("; ")})`}\n`;
}

/** Formats a value as in plans: booleans as yes and no, lists joined by commas, always on one line. */
export function renderValue(value: PromptValue): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "object") return value.map((item) => oneLine(item)).join(", ");
  return oneLine(String(value));
}

/** Joins lines: a line end inside a label or a value would start another field (or action). */
const oneLine = (text: string): string => text.replace(/\s+/gu, " ").trim();
