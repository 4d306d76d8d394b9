import type { Action } from "../../env/forms/plan.js";
import type { Thing } from "./page.js";

/** A perfect policy's action on a page, by the words of its goal; undefined: it knows no way. */
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
const enterQuoted: Solver = (goal, things) => [
  fill(firstText(things), quoted(goal)[0] ?? ""),
  click(lastButton(things)),
];
const ticks: Solver = (goal, things) => {
  const wanted = /^Select (.*) and click Submit/.exec(goal)?.[1] ?? "";
  const names = wanted === "nothing" ? [] : wanted.split(", ");
  return [...names.map((label): Action => ({ kind: "check", label })), click(lastButton(things))];
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
  return [{ kind: "select", label: list, value: wanted }, click(lastButton(things))];
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
  return [
    fill(firstText(things), String(sign === "+" ? left + right : sign === "-" ? left - right : left * right)),
    click(lastButton(things)),
  ];
};
const algebra: Solver = (_, things) => {
  const text = things.map(({ name }) => name).find((name) => /=\s*\d/.test(name)) ?? "";
  const [, left, sign, right, result] = /(x|\d+)\s*([-+])\s*(x|\d+)\s*=\s*(\d+)/.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const [known, y] = [Number(left === "x" ? right : left), Number(result)];
  const x = sign === "+" ? y - known : left === "x" ? y + known : known - y;
  return [fill(firstText(things), String(x)), click(lastButton(things))];
};

/** Solvers by the name of the task page. */
export const SOLVERS: Readonly<Record<string, Solver>> = {
  "choose-list": choose,
  "click-button": clickQuoted,
  "click-button-sequence": () => [click("ONE"), click("TWO")],
  "click-checkboxes": ticks,
  "click-checkboxes-large": ticks,
  "click-checkboxes-transfer": ticks,
  "click-collapsible": (_, things) => [
    ...kinds(things, "link")
      .slice(0, 1)
      .map(({ name }) => click(name)),
    click("Submit"),
  ],
  "click-dialog": (_, things) =>
    kinds(things, "button")
      .slice(0, 1)
      .map(({ name }) => click(name)),
  "click-dialog-2": (goal, things) => {
    const [wanted = ""] = quoted(goal);
    return [click(wanted === "x" ? (kinds(things, "button")[0]?.name ?? "x") : wanted)];
  },
  "click-link": clickQuoted,
  "click-option": (goal, things) => [
    { kind: "check", label: /^Select (.*) and click Submit/.exec(goal)?.[1] ?? "" },
    click(lastButton(things)),
  ],
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
    return [fill(firstText(things), `${year}-${two(month)}-${two(day)}`), click(lastButton(things))];
  },
  "enter-password": (goal, things) => [
    ...kinds(things, "text").map(({ name }) => fill(name, quoted(goal)[0] ?? "")),
    click(lastButton(things)),
  ],
  "enter-text": enterQuoted,
  "enter-text-2": (goal, things) => {
    const [text = ""] = quoted(goal);
    const value = /upper ?case/i.test(goal) ? text.toUpperCase() : text.toLowerCase();
    return [fill(firstText(things), value), click(lastButton(things))];
  },
  "enter-text-dynamic": enterQuoted,
  "enter-time": (goal, things) => {
    const [, hour = "0", minute = "00", half = ""] = /(\d+):(\d+)\s*([AP]M)?/i.exec(goal) ?? [];
    const hours = half === "" ? Number(hour) : (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0);
    return [fill(firstText(things), `${two(String(hours))}:${minute}`), click(lastButton(things))];
  },
  "focus-text": (_, things) => [click(firstText(things))],
  "focus-text-2": (goal, things) => [click(kinds(things, "text")[nth(goal)]?.name ?? "")],
  "form-sequence-2": (goal, things) => {
    const [radio = "", box = ""] = [...goal.matchAll(/1st|2nd|3rd/g)].map((match) => match[0]);
    return [
      click(kinds(things, "radio")[nth(radio)]?.name ?? ""),
      fill(kinds(things, "text")[nth(box)]?.name ?? "", quoted(goal)[0] ?? ""),
      click(lastButton(things)),
    ];
  },
  "login-user": login,
  "login-user-popup": login,
  "read-table": (goal, things) => {
    const wanted = /value of (.*) into/.exec(goal)?.[1] ?? "";
    const at = things.findIndex(({ kind, name }) => kind === "text-line" && name === wanted);
    return [fill(firstText(things), things[at + 1]?.name ?? ""), click(lastButton(things))];
  },
  "simple-algebra": algebra,
  "simple-arithmetic": sum,
  "unicode-test": clickQuoted,
};
