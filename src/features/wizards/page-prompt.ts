import { type PromptStyle, type PromptTask, renderPrompt, renderValue, textOf } from "../../text/prompt.js";
import type { SeenPage } from "./seen-page.js";

/** Most options of a choice that are shown; the rest is counted. */
const MOST_OPTIONS = 20;
const MOST_MESSAGES = 5;
const LONGEST_LINE = 200;

/** A prompt, and descriptions of the omitted parts. */
export interface PagePrompt {
  readonly text: string;
  readonly cuts: readonly string[];
}

/**
 * Renders the prompt of a turn: the page, then the task as `renderPrompt` writes it.
 * ```
 * page: Hotel Stay, Step 2 of 4
 * ! Required: Arrival Date
 *  Arrival Date
 *  Room Type: Single; Double; Suite = Single
 * form: Hotel Stay
 *  Guest Name | Nora Weber
 *  ...
 * ```
 * A line is ` <label>: <options> = <value>`. The page takes at most `limit` characters. It is shortened in this order:
 * lines to 200 characters, messages after the fifth, options after the twentieth, then the last fields; each omission
 * leaves `(+N more ...)` in the prompt. The task is never shortened.
 */
export function renderPage(page: SeenPage, task: PromptTask, style: PromptStyle, limit: number): PagePrompt {
  const cuts: string[] = [];
  const short = (text: string): string => {
    const line = text.replace(/\s+/gu, " ").trim();
    if (line.length <= LONGEST_LINE) return line;
    cuts.push(`a text of ${line.length} characters`);
    return `${line.slice(0, LONGEST_LINE)}(+${line.length - LONGEST_LINE} more characters)`;
  };
  const more = (all: number, shown: number, what: string): string[] => {
    if (all <= shown) return [];
    cuts.push(`${all - shown} ${what}`);
    return [`(+${all - shown} more ${what})`];
  };
  const { title, headings, messages, controls } = page;
  const head = [
    `page: ${[title, ...headings].map(short).join(", ")}`,
    ...messages.slice(0, MOST_MESSAGES).map((text) => `! ${short(text)}`),
    ...more(messages.length, MOST_MESSAGES, "messages"),
  ];
  const fields = controls.map(({ label, options, kind, value }) => {
    const texts =
      kind === "select" || kind === "radio" || kind === "checkbox-group" ? options.map(({ text }) => text) : [];
    const choices = [...texts.slice(0, MOST_OPTIONS).map(short), ...more(texts.length, MOST_OPTIONS, "options")];
    const held = renderValue(value);
    return (
      ` ${short(label)}${choices.length === 0 ? "" : `: ${choices.join("; ")}`}` +
      (held === "" || held === "no" ? "" : ` = ${short(held)}`)
    );
  });
  let room = limit - head.reduce((sum, line) => sum + line.length + 1, 0);
  const fitting = fields.findIndex((line) => {
    room -= line.length + 1;
    return room < 0;
  });
  const shown = fitting < 0 ? fields : fields.slice(0, fitting);
  const lines = [...head, ...shown, ...more(fields.length, shown.length, "fields").map((line) => ` ${line}`)];
  const rest = style === "page" ? `\n${textOf(task)}` : renderPrompt(task, style);
  return { text: `${lines.join("\n")}\n${rest}`, cuts };
}
