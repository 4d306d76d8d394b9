import { UserError } from "../core/errors.js";

/** A true value as a task states it. */
export type PromptValue = string | number | boolean | readonly string[];

/** What a prompt needs of a task (structurally a subset of env's Task). */
export interface PromptTask {
  readonly formTitle: string;
  readonly instruction: string;
  /** True values by visible label, in the order in which they are asked for. */
  readonly fields: Readonly<Record<string, PromptValue>>;
  /** The text that holds the true values, and the options of choices by label: for the style `document`. */
  readonly document?: string;
  readonly choices?: Readonly<Record<string, readonly string[]>>;
}

export const PROMPT_STYLES = ["compact", "instruction", "document"] as const;
export type PromptStyle = (typeof PROMPT_STYLES)[number];

/** Stands between a label and its value, in the prompt as in the plan: a small model then copies instead of translating. */
export const SEPARATOR = " | ";

/**
 * The prompt of a task: the one template of supervised training, reinforcement learning and evaluation.
 *
 * A label is indented by one space, as it follows a verb in the plan: its tokens are then the same in both.
 * `compact`, for tiny models, ends with an empty line; the plan follows:
 * ```
 * form: Contact us
 *  Full name | Ann Lee
 *  Newsletter | yes
 *
 * ```
 * `instruction`, for models that read prose, says first what to do and in which grammar, then gives the same lines.
 * `document` gives the text that the values have to be found in, and the labels (with the options of choices) alone.
 * @throws UserError where the style is `document` and the task has none.
 */
export function renderPrompt(task: PromptTask, style: PromptStyle): string {
  const title = oneLine(task.formTitle);
  const fields = Object.entries(task.fields).map(
    ([label, value]) => ` ${oneLine(label)}${SEPARATOR}${renderValue(value)}\n`,
  );
  switch (style) {
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
  throw new UserError(
    `The prompt style "document" needs a text that holds the values; a task of "${formTitle}" has none.`,
    {
      hint: "Use site.kind=formfactory, a tasks file with a document for every task, or prompt.style=instruction.",
      exitCode: 2,
    },
  );
}

function labelLine(label: string, { choices = {} }: PromptTask): string {
  const options = (Object.hasOwn(choices, label) ? choices[label] : undefined) ?? [];
  return ` ${oneLine(label)}${options.length === 0 ? "" : ` (${options.map(oneLine).join("; ")})`}\n`;
}

/** A value as plans write it: booleans as yes and no, lists joined by commas, always on one line. */
export function renderValue(value: PromptValue): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "object") return value.map((item) => oneLine(item)).join(", ");
  return oneLine(String(value));
}

/** A line end inside a label or a value would start another field (or action). */
function oneLine(text: string): string {
  return text.replace(/\s+/gu, " ").trim();
}
