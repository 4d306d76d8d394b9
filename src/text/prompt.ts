/** A true value as a task states it. */
export type PromptValue = string | number | boolean | readonly string[];

/** What a prompt needs of a task (structurally a subset of env's Task). */
export interface PromptTask {
  readonly formTitle: string;
  readonly instruction: string;
  /** True values by visible label, in the order in which they are asked for. */
  readonly fields: Readonly<Record<string, PromptValue>>;
}

export const PROMPT_STYLES = ["compact", "instruction"] as const;
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
      return (
        `${task.instruction.trim()}\n\n` +
        "Answer with one action a line and nothing else:\n" +
        `fill <label>${SEPARATOR}<value>\n` +
        `select <label>${SEPARATOR}<value>\n` +
        "check <label>\n" +
        "submit\n\n" +
        `Form: ${title}\n${fields.join("")}\nActions:\n`
      );
  }
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
