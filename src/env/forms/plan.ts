/**
 * A plan is a response text: one action a line, in one of two grammars (or a mixture: every line is read on its own).
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
 * Labels and values are data from here on: nothing of them ever becomes a selector or a script.
 */
export type Action =
  | { readonly kind: "goto"; readonly url: string }
  | { readonly kind: "fill"; readonly label: string; readonly value: string }
  | { readonly kind: "select"; readonly label: string; readonly value: string }
  | { readonly kind: "check"; readonly label: string }
  | { readonly kind: "uncheck"; readonly label: string }
  | { readonly kind: "click"; readonly label: string }
  | { readonly kind: "submit" };

export type Grammar = "compact" | "documents";

export interface Plan {
  /** The grammar that most of the lines are written in; `compact` for an empty plan. */
  readonly grammar: Grammar;
  readonly actions: readonly Action[];
  /** Lines that are no action; they count as planned. */
  readonly unresolved: readonly string[];
}

/** Text beyond these is cut: a policy that babbles must not cost the environment time. */
export const PLAN_LIMITS = { text: 65_536, lines: 256, line: 4_096 } as const;

/** Reads any text as a plan. Never throws: what is no action becomes an unresolved line. */
export function parsePlan(text: string): Plan {
  const actions: Action[] = [];
  const unresolved: string[] = [];
  let documents = 0;
  const lines = withoutThoughts(text.slice(0, PLAN_LIMITS.text)).split(/\r\n|[\n\r]/);
  let count = 0;
  for (const raw of lines) {
    const line = raw.slice(0, PLAN_LIMITS.line).trim();
    if (line === "") continue;
    if (count++ >= PLAN_LIMITS.lines) break;
    const sentence = stripPrefix(line);
    const spoken = readDocuments(sentence);
    const action = spoken ?? readCompact(sentence);
    if (action === undefined) unresolved.push(line);
    else actions.push(action);
    if (spoken !== undefined) documents++;
  }
  return { grammar: documents * 2 > actions.length ? "documents" : "compact", actions, unresolved };
}

/** Instruction-tuned models think aloud first; an unclosed thought swallows the rest. */
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
function stripPrefix(line: string): string {
  return line.replace(/^(?:[-*\u2022]\s+)?(?:(?:step\s+)?\d{1,4}\s*[.:)]\s*|action:\s*)?/i, "");
}

// Greedy values and end anchors, so that a quote inside a value ('O'Brien') stays in the value.
const TYPE =
  /^(?:type|enter|input|fill in) (['"])(.*)\1 in(?:to)? the (['"])(.*)\3(?: (?:input )?(?:field|box|textarea))?\.?$/i;
const FILL_WITH = /^fill(?: in)? the (['"])(.*?)\1 (?:field )?with (['"])(.*)\3\.?$/i;
const SELECT =
  /^(?:select|choose) (['"])(.*)\1 (?:from|in|for) the (['"])(.*)\3(?: (?:field|dropdown|list|menu))?\.?$/i;
const CHECKBOX = /^(?:click on|click|check|uncheck) the (['"])(.*)\1 checkbox(?: to (enable|disable) it)?\.?$/i;
const CLICK = /^click(?: on)? the (['"])(.*)\1(?: (?:input field|field|textarea|button|option|radio button))?\.?$/i;
const SUBMIT = /^(?:click(?: on)? the )?(['"]?)submit\1(?: the)?(?: form| button)?\.?$/i;
const NAVIGATE = /^(?:navigate|go) to (\S+)$/i;

function readDocuments(line: string): Action | undefined {
  let m = TYPE.exec(line);
  if (m) return { kind: "fill", label: group(m, 4), value: group(m, 2) };
  m = FILL_WITH.exec(line);
  if (m) return { kind: "fill", label: group(m, 2), value: group(m, 4) };
  m = SELECT.exec(line);
  if (m) return { kind: "select", label: group(m, 4), value: group(m, 2) };
  m = CHECKBOX.exec(line);
  if (m) {
    const off = m[3]?.toLowerCase() === "disable" || /^uncheck/i.test(line);
    return { kind: off ? "uncheck" : "check", label: group(m, 2) };
  }
  if (/^click/i.test(line) && SUBMIT.test(line)) return { kind: "submit" };
  m = CLICK.exec(line);
  if (m) return { kind: "click", label: group(m, 2) };
  m = NAVIGATE.exec(line);
  if (m) return { kind: "goto", url: group(m, 1).replace(/[.'"]+$/, "") };
  return undefined;
}

function readCompact(line: string): Action | undefined {
  if (SUBMIT.test(line)) return { kind: "submit" };
  const m = /^([a-z]+)\s+(.+)$/is.exec(line);
  if (m === null) return undefined;
  const bar = group(m, 2).indexOf("|");
  const label = (bar < 0 ? group(m, 2) : group(m, 2).slice(0, bar)).trim();
  const value =
    bar < 0
      ? undefined
      : group(m, 2)
          .slice(bar + 1)
          .trim();
  if (label === "") return undefined;
  switch (group(m, 1).toLowerCase()) {
    case "fill":
    case "type":
    case "enter":
      return value === undefined ? undefined : { kind: "fill", label, value };
    case "select":
    case "choose":
      return value === undefined ? undefined : { kind: "select", label, value };
    case "check":
    case "tick":
      // `check X | no` unticks, `check Group | Option` ticks an option: both are choices of a value
      return value === undefined ? { kind: "check", label } : { kind: "select", label, value };
    case "uncheck":
    case "untick":
      return value === undefined ? { kind: "uncheck", label } : undefined;
    case "click":
      return value === undefined ? { kind: "click", label } : undefined;
    case "goto":
      return value === undefined && !/\s/.test(label) ? { kind: "goto", url: label } : undefined;
    default:
      return undefined;
  }
}

function group(match: RegExpExecArray, index: number): string {
  return (match[index] ?? "").trim();
}

/**
 * Writes actions as a plan that `parsePlan` reads back. Line breaks inside values become spaces: an action is one
 * line, and the reward collapses whitespace. A label with `|` cannot be written in the compact grammar.
 */
export function renderPlan(actions: readonly Action[], grammar: Grammar): string {
  return actions
    .map((action, i) => (grammar === "compact" ? compactLine(action) : `Step ${i + 1}: ${sentence(action)}`))
    .join("\n");
}

function compactLine(action: Action): string {
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

function sentence(action: Action): string {
  switch (action.kind) {
    case "goto":
      return `Navigate to ${action.url}`;
    case "submit":
      return "Click the Submit button";
    case "fill":
      return `Type '${oneLine(action.value)}' into the '${oneLine(action.label)}' field`;
    case "select":
      return `Select '${oneLine(action.value)}' from the '${oneLine(action.label)}' field`;
    case "check":
      return `Click on the '${oneLine(action.label)}' checkbox to enable it`;
    case "uncheck":
      return `Click on the '${oneLine(action.label)}' checkbox to disable it`;
    case "click":
      return `Click on the '${oneLine(action.label)}' input field`;
  }
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
