import type { Action } from "../../env/forms/plan.js";
import type { Thing } from "./page.js";

/** Computes the right actions on a page from the words of its goal; undefined if it finds none. */
type Solver = (goal: string, things: readonly Thing[], turn: number) => readonly Action[] | undefined;

const click = (label: string): Action => ({ kind: "click", label });
const fill = (label: string, value: string): Action => ({ kind: "fill", label, value });
const kinds = (things: readonly Thing[], ...kind: readonly Thing["kind"][]): Thing[] =>
  things.filter((thing) => kind.includes(thing.kind));
const quoted = (goal: string): string[] => [...goal.matchAll(/"([^"]*)"/g)].map((match) => match[1] ?? "");
const firstText = (things: readonly Thing[]): string =>
  kinds(things, "text", "date", "time", "number")[0]?.name ?? "text 1";
const lastButton = (things: readonly Thing[]): string => kinds(things, "button").at(-1)?.name ?? "Submit";
const nth = (goal: string): number => ["1st", "2nd", "3rd"].findIndex((word) => goal.includes(word));
const two = (text: string): string => text.padStart(2, "0");

const clickQuoted: Solver = (goal) => quoted(goal).slice(0, 1).map(click);
/** Adds a click on the last button to the actions. */
const sent = (things: readonly Thing[], ...actions: readonly Action[]): Action[] => [
  ...actions,
  click(lastButton(things)),
];
/** Enters a value into the first field, and clicks the last button. */
const entered = (things: readonly Thing[], value: string): Action[] => sent(things, fill(firstText(things), value));
const clickFirst =
  (kind: Thing["kind"], ...then: readonly Action[]): Solver =>
  (_, things) => [
    ...kinds(things, kind)
      .slice(0, 1)
      .map(({ name }) => click(name)),
    ...then,
  ];
const enterQuoted: Solver = (goal, things) => entered(things, quoted(goal)[0] ?? "");
const ticks: Solver = (goal, things) => {
  const wanted = /^Select (.*) and click Submit/.exec(goal)?.[1] ?? "";
  const names = wanted === "nothing" ? [] : wanted.split(", ");
  return sent(things, ...names.map((label): Action => ({ kind: "check", label })));
};
const login: Solver = (goal, things) => {
  const [user = "", password = ""] = quoted(goal);
  const cancel = things.find(({ kind, name }) => kind === "button" && name === "Cancel");
  return [
    ...(cancel === undefined ? [] : [click("Cancel")]),
    fill("Username", user),
    fill("Password", password),
    click(kinds(things, "button").find(({ name }) => name !== "Cancel")?.name ?? "Login"),
  ];
};
const choose: Solver = (goal, things) => {
  const wanted = /^Select (.*) from the/.exec(goal)?.[1] ?? "";
  const list = kinds(things, "select", "list")[0]?.name ?? "select 1";
  return sent(things, { kind: "select", label: list, value: wanted });
};
const searchTabs: Solver = (goal, things, turn) => {
  const [wanted = ""] = quoted(goal);
  if (things.some(({ name, kind }) => name === wanted && kind === "link")) return [click(wanted)];
  const tabs = things.filter(({ name, kind }) => kind === "link" && /^(?:Tab #\d+|\d+)$/.test(name));
  // the first tab is open at the start
  const tab = tabs[(turn + 1) % Math.max(1, tabs.length)];
  return tab === undefined ? undefined : [click(tab.name)];
};
const sum: Solver = (_, things) => {
  const text = things.map(({ name }) => name).find((name) => /\d\s*[-+x]\s*\d+\s*=/.test(name));
  const [, a, sign, b] = /(\d+)\s*([-+x])\s*(\d+)\s*=/.exec(text ?? "") ?? [];
  if (sign === undefined) return undefined;
  const [left, right] = [Number(a), Number(b)];
  return entered(things, String(sign === "+" ? left + right : sign === "-" ? left - right : left * right));
};
const algebra: Solver = (_, things) => {
  const text = things.map(({ name }) => name).find((name) => /=\s*\d/.test(name)) ?? "";
  const [, left, sign, right, result] = /(x|\d+)\s*([-+])\s*(x|\d+)\s*=\s*(\d+)/.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const [operand, y] = [Number(left === "x" ? right : left), Number(result)];
  const x = sign === "+" ? y - operand : left === "x" ? y + operand : operand - y;
  return entered(things, String(x));
};

/** Solvers by the name of the task page. */
export const SOLVERS: Readonly<Record<string, Solver>> = {
  "choose-list": choose,
  "click-button": clickQuoted,
  "click-button-sequence": () => [click("ONE"), click("TWO")],
  "click-checkboxes": ticks,
  "click-checkboxes-large": ticks,
  "click-checkboxes-transfer": ticks,
  "click-collapsible": clickFirst("link", click("Submit")),
  "click-dialog": clickFirst("button"),
  "click-dialog-2": (goal, things) => {
    const [wanted = ""] = quoted(goal);
    return [click(wanted === "x" ? (kinds(things, "button")[0]?.name ?? "x") : wanted)];
  },
  "click-link": clickQuoted,
  "click-option": (goal, things) =>
    sent(things, { kind: "check", label: /^Select (.*) and click Submit/.exec(goal)?.[1] ?? "" }),
  "click-scroll-list": choose,
  "click-tab": (goal) => [click(/Tab #\d+/.exec(goal)?.[0] ?? "")],
  "click-tab-2": searchTabs,
  "click-tab-2-easy": searchTabs,
  "click-tab-2-hard": searchTabs,
  "click-tab-2-medium": searchTabs,
  "click-test": (_, things) => [click(lastButton(things))],
  "click-test-2": () => [click("ONE")],
  "click-test-transfer": (goal) => [click(/(ONE|TWO)/.exec(goal)?.[0] ?? "ONE")],
  "enter-date": (goal, things) => {
    const [, month = "", day = "", year = ""] = /(\d+)\/(\d+)\/(\d+)/.exec(goal) ?? [];
    return entered(things, `${year}-${two(month)}-${two(day)}`);
  },
  "enter-password": (goal, things) =>
    sent(things, ...kinds(things, "text").map(({ name }) => fill(name, quoted(goal)[0] ?? ""))),
  "enter-text": enterQuoted,
  "enter-text-2": (goal, things) => {
    const [text = ""] = quoted(goal);
    return entered(things, /upper ?case/i.test(goal) ? text.toUpperCase() : text.toLowerCase());
  },
  "enter-text-dynamic": enterQuoted,
  "enter-time": (goal, things) => {
    const [, hour = "0", minute = "00", half = ""] = /(\d+):(\d+)\s*([AP]M)?/i.exec(goal) ?? [];
    const hours = half === "" ? Number(hour) : (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0);
    return entered(things, `${two(String(hours))}:${minute}`);
  },
  "focus-text": (_, things) => [click(firstText(things))],
  "focus-text-2": (goal, things) => [click(kinds(things, "text")[nth(goal)]?.name ?? "")],
  "form-sequence-2": (goal, things) => {
    const [radio = "", box = ""] = [...goal.matchAll(/1st|2nd|3rd/g)].map((match) => match[0]);
    const text = kinds(things, "text")[nth(box)]?.name ?? "";
    return sent(things, click(kinds(things, "radio")[nth(radio)]?.name ?? ""), fill(text, quoted(goal)[0] ?? ""));
  },
  "login-user": login,
  "login-user-popup": login,
  "read-table": (goal, things) => {
    const wanted = /value of (.*) into/.exec(goal)?.[1] ?? "";
    const at = things.findIndex(({ kind, name }) => kind === "text-line" && name === wanted);
    return entered(things, things[at + 1]?.name ?? "");
  },
  "simple-algebra": algebra,
  "simple-arithmetic": sum,
  "unicode-test": clickQuoted,
};
