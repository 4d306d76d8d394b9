/**
 * A plan is a response text with one action in each line, in one of two grammars, which may be mixed.
 *
 *   compact                   documents
 *   fill <label> | <value>    Step 1: Type '<value>' into the '<label>' field
 *   select <label> | <value>  Step 2: Select '<value>' from the '<label>' field
 *   check <label>             Step 3: Click on the '<label>' checkbox to enable it
 *   uncheck <label>           Step 4: Click on the '<label>' checkbox to disable it
 *   click <label>             Step 5: Click on the '<label>' input field
 *   goto <url>                Step 6: Navigate to <url>
 *   submit                    Step 7: Click the Submit button
 *
 * Labels and values are only data from here on: they never become a selector or a script.
 */
export type Action =
  | { readonly kind: "goto"; readonly url: string }
  | { readonly kind: "fill"; readonly label: string; readonly value: string }
  | { readonly kind: "select"; readonly label: string; readonly value: string }
  | { readonly kind: "check"; readonly label: string }
  | { readonly kind: "uncheck"; readonly label: string }
  | { readonly kind: "click"; readonly label: string }
  | { readonly kind: "submit" };

export interface Plan {
  readonly actions: readonly Action[];
  /** Lines that are not actions; they count as planned. */
  readonly unresolved: readonly string[];
}

/** Limits in characters and lines; text beyond them is cut, so that long answers cost no time. */
export const PLAN_LIMITS = { text: 65_536, lines: 256, line: 24_576 } as const;

/** Reads any text as a plan. Never throws: a line that is no action becomes an unresolved line. */
export function parsePlan(text: string): Plan {
  const actions: Action[] = [];
  const unresolved: string[] = [];
  const lines = withoutThoughts(text.slice(0, PLAN_LIMITS.text)).split(/\r\n|[\n\r]/);
  let count = 0;
  for (const raw of lines) {
    const line = raw.slice(0, PLAN_LIMITS.line).trim();
    if (line === "") continue;
    if (count++ >= PLAN_LIMITS.lines) break;
    const sentence = stripPrefix(line);
    const action = readDocuments(sentence) ?? readCompact(sentence);
    if (action === undefined) unresolved.push(line);
    else actions.push(action);
  }
  return { actions, unresolved };
}

/** Removes the thoughts of instruction-tuned models; an unclosed thought extends to the end. */
function withoutThoughts(text: string): string {
  let out = "";
  let rest = text;
  for (;;) {
    const open = rest.indexOf("<think>");
    if (open < 0) return out + rest;
    out += rest.slice(0, open);
    const close = rest.indexOf("</think>", open);
    if (close < 0) return out;
    rest = rest.slice(close + "</think>".length);
  }
}

/** Drops "Step 3:", "3.", "Action:" and list bullets. */
const stripPrefix = (line: string): string =>
  line.replace(/^(?:[-*\u2022]\s+)?(?:(?:step\s+)?\d{1,4}\s*[.:)]\s*|action:\s*)?/i, "");

type Parts = { readonly label: string; readonly value: string };
/**
 * The sentences of the documents' grammar with their actions. Values are greedy and ends anchored, so that a quote
 * inside a value ('O'Brien') stays in the value.
 */
const SENTENCES: readonly (readonly [RegExp, (parts: Parts, line: string) => Action])[] = [
  [
    /^(?:type|enter|input|fill in) (['"])(?<value>.*)\1 in(?:to)? the (['"])(?<label>.*)\3(?: (?:input )?(?:field|box|textarea))?\.?$/i,
    (parts) => ({ kind: "fill", ...parts }),
  ],
  [
    /^fill(?: in)? the (['"])(?<label>.*?)\1 (?:field )?with (['"])(?<value>.*)\3\.?$/i,
    (parts) => ({ kind: "fill", ...parts }),
  ],
  [
    /^(?:select|choose) (['"])(?<value>.*)\1 (?:from|in|for) the (['"])(?<label>.*)\3(?: (?:field|dropdown|list|menu))?\.?$/i,
    (parts) => ({ kind: "select", ...parts }),
  ],
  [
    /^(?:click on|click|check|uncheck) the (['"])(?<label>.*)\1 checkbox(?: to (?<value>enable|disable) it)?\.?$/i,
    ({ label, value }, line) => ({
      kind: value.toLowerCase() === "disable" || /^uncheck/i.test(line) ? "uncheck" : "check",
      label,
    }),
  ],
  [/^click(?: on)? the (['"]?)submit\1(?: the)?(?: form| button)?\.?$/i, () => ({ kind: "submit" })],
  [
    /^click(?: on)? the (['"])(?<label>.*)\1(?: (?:input field|field|textarea|button|option|radio button))?\.?$/i,
    ({ label }) => ({ kind: "click", label }),
  ],
  [/^(?:navigate|go) to (?<value>\S+)$/i, ({ value }) => ({ kind: "goto", url: value.replace(/[.'"]+$/, "") })],
];

function readDocuments(line: string): Action | undefined {
  for (const [sentence, action] of SENTENCES) {
    const m = sentence.exec(line);
    if (m !== null)
      return action({ label: (m.groups?.label ?? "").trim(), value: (m.groups?.value ?? "").trim() }, line);
  }
  return undefined;
}

/** The first words of compact lines, with their actions. */
const VERBS: ReadonlyMap<string, Exclude<Action["kind"], "submit">> = new Map([
  ["fill", "fill"],
  ["type", "fill"],
  ["enter", "fill"],
  ["select", "select"],
  ["choose", "select"],
  ["check", "check"],
  ["tick", "check"],
  ["uncheck", "uncheck"],
  ["untick", "uncheck"],
  ["click", "click"],
  ["goto", "goto"],
]);

function readCompact(line: string): Action | undefined {
  if (/^(['"]?)submit\1(?: the)?(?: form| button)?\.?$/i.test(line)) return { kind: "submit" };
  const [, verb = "", rest = ""] = /^([a-z]+)\s+(.+)$/is.exec(line) ?? [];
  const kind = VERBS.get(verb.toLowerCase());
  const bar = rest.indexOf("|");
  const label = (bar < 0 ? rest : rest.slice(0, bar)).trim();
  const value = bar < 0 ? undefined : rest.slice(bar + 1).trim();
  if (kind === undefined || label === "") return undefined;
  if (kind === "fill" || kind === "select") return value === undefined ? undefined : { kind, label, value };
  // `check X | no` unticks, `check Group | Option` ticks an option: both are choices of a value
  if (value !== undefined) return kind === "check" ? { kind: "select", label, value } : undefined;
  if (kind === "goto") return /\s/.test(label) ? undefined : { kind, url: label };
  return { kind, label };
}

/**
 * Writes actions as a compact plan that `parsePlan` can read. Line breaks inside values become spaces: an action is one
 * line, and the reward collapses whitespace. A label with `|` cannot be written.
 */
export const renderPlan = (actions: readonly Action[]): string => actions.map(lineOf).join("\n");

function lineOf(action: Action): string {
  switch (action.kind) {
    case "goto":
      return `goto ${action.url}`;
    case "submit":
      return "submit";
    case "fill":
    case "select":
      return `${action.kind} ${oneLine(action.label)} | ${oneLine(action.value)}`.trimEnd();
    default:
      return `${action.kind} ${oneLine(action.label)}`;
  }
}

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

/** Lists the texts that actions write into a page. */
export const textsOf = (actions: readonly Action[]): string[] =>
  actions.flatMap((action) => ("value" in action ? [action.value] : []));
