/** No posted text but a true value's own spellings counts as right, whatever the kind, the notation and the judge. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Control } from "../../../src/env/browser/controls.js";
import type { Notation } from "../../../src/env/forms/contract.js";
import { judgeEvidence } from "../../../src/env/forms/judge.js";
import type { PostedPair } from "../../../src/env/forms/posted.js";
import { type Score, score } from "../../../src/env/forms/reward.js";
import { type Kind, writeDay, writeMoment } from "../../../src/env/forms/values.js";
import type { ControlKind, FieldValue } from "../../../src/env/site.js";
import type { ContractField } from "../../../src/features/learned-pages/contract.js";
import { controlsOf } from "../../../src/features/learned-pages/play.js";

const LABEL = "Field";
type Posted = readonly PostedPair[];

/** A judge of one field, with two values that differ: the truth and another person's. */
interface Case {
  readonly name: string;
  readonly judge: (posted: Posted) => Score;
  readonly right: readonly Posted[];
  readonly other: readonly Posted[];
  /** Set if a resemblance earns partial credit. */
  readonly isFree?: boolean;
  /** Set if a missing or an empty text stands for the truth. */
  readonly isBlank?: boolean;
}

const ACTIONS = [
  { action: { kind: "fill", label: LABEL, value: "v" }, control: 0, fate: "done" },
  { action: { kind: "submit" }, fate: "done", submitted: true },
] as const;

/** Judges what was posted by a form of one field, and scores it. */
function scored(form: Parameters<typeof judgeEvidence>[0], truth: FieldValue, evidence: object, posted: Posted): Score {
  const request = { method: "POST", path: "/", posted, status: 200, features: ["status 200"] };
  const task = { fields: { [LABEL]: truth } };
  const { values, refusal } = judgeEvidence(form, { requests: [request], ...evidence }, task);
  const outcome = { values, accepted: refusal === undefined, actions: ACTIONS, unresolved: 0, uploads: true };
  return score(task, form.controls, outcome);
}

/** Judges a control of HTML, as declared and read forms have it. */
function native(kind: ControlKind, truth: FieldValue, options: Control["options"] = [], preset?: FieldValue) {
  const empty = kind === "checkbox" ? false : kind === "checkbox-group" ? [] : "";
  const control: Control = {
    ...{ index: 0, kind, widget: "native", label: LABEL, name: "k", required: false, present: true },
    ...{ default: preset ?? empty, options },
  };
  return (posted: Posted): Score => scored({ controls: [control] }, truth, { values: [empty] }, posted);
}

/** Judges a field of a learned form. @param all every task's value of the field. */
function learned(kind: Kind, notation: Notation, truth: FieldValue, all: readonly FieldValue[], list?: ",") {
  const field: ContractField = {
    ...{ locator: "label=Field", nth: 0, way: "fill", variant: {}, kind, step: 0, hand: false },
    default: kind === "flag" ? false : kind === "list" ? [] : "",
    wire: { key: "k", notation, ...(list === undefined ? {} : { list }) },
  };
  const contract = {
    ...{ form: "f", url: "/", fields: { [LABEL]: field }, steps: [], confirm: [], sends_within_ms: 1 },
    ...{ success: { status: 200 }, not_proved: {} },
  };
  const controls = controlsOf(contract, all.map((value) => ({ fields: { [LABEL]: value } })) as never);
  const form = { controls, contract, fields: contract.fields };
  return (posted: Posted): Score => scored(form, truth, { verdict: { accepted: true } }, posted);
}

const key = (...raws: string[]): Posted => raws.map((raw) => ["k", raw] as const);
const keys = (raws: readonly string[]): Posted[] => raws.map((raw) => key(raw));
const two = (n: number): string => String(n).padStart(2, "0");

// generators of values whose meaning is known without reading any text
const SYLLABLES = ["qua", "zor", "mel", "hit", "bux", "fen", "gla", "dro", "wyn", "pes"];
const word = fc
  .array(fc.integer({ min: 0, max: 9 }), { minLength: 2, maxLength: 4 })
  .map((ns) => ns.map((n) => SYLLABLES[n]).join(""));
const capital = word.map((text) => text.charAt(0).toUpperCase() + text.slice(1));
const phrase = fc.array(capital, { minLength: 2, maxLength: 4 }).map((words) => words.join(" "));
const day = fc
  .tuple(fc.integer({ min: 1950, max: 2040 }), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 28 }))
  .map(([y, m, d]) => `${y}-${two(m)}-${two(d)}`);
const clock = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map(([h, m]) => `${two(h)}:${two(m)}`);
const half = (time: string): string => {
  const [h = 0, m = 0] = time.split(":").map(Number);
  return `${h % 12 || 12}:${two(m)} ${h < 12 ? "AM" : "PM"}`;
};
const moment = fc.tuple(day, clock).map(([date, time]) => `${date} ${time}`);
const range = fc
  .tuple(day, day)
  .filter(([a, b]) => a < b)
  .map((days) => days.join(" - "));
const amount = fc
  .tuple(fc.integer({ min: -9999, max: 9999 }), fc.integer({ min: 1, max: 99 }), fc.boolean())
  .filter(([whole]) => whole !== 0)
  .map(([whole, cents, isWhole]) => (isWhole ? whole : Number(`${whole}.${two(cents)}`)));
const phone = fc.integer({ min: 200_000_000, max: 999_999_999 }).map(String);
const spaced = (digits: string): string => `${digits.slice(0, 3)} ${digits.slice(3, 6)} ${digits.slice(6)}`;
/** Texts that only a sign tells apart. */
const SIGNS = ["C++", "C#", "C", "+5", "-5", "$9", "\u20ac9", "1.5 m", "15 m", "10-20", "1020", "A*", "A"];
const signed = fc.constantFrom(...SIGNS);
const mail = word.map((w) => `${w}@Example.org`);
const address = word.map((w) => `${w}.org/a`);
const pdf = word.map((w) => `${w}.pdf`);
const account = fc.tuple(word, phone).map((parts) => parts.join(""));
const dialled = phone.map((v) => `0${v}`);
const queens = phrase.map((text) => `Queen of ${text}`);

const pairs = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<[T, T]> =>
  fc.tuple(of, of).filter(([a, b]) => JSON.stringify(a) !== JSON.stringify(b));
const cases = <T>(of: fc.Arbitrary<T>, make: (truth: T, other: T) => Case): fc.Arbitrary<Case> =>
  pairs(of).map(([truth, other]) => make(truth, other));

type Spell<T> = (value: T) => string[];
/** A case of a notation that writes each value in the same ways. */
const written = <T extends FieldValue>(kind: Kind, notation: Notation, of: fc.Arbitrary<T>, spell: Spell<T>) =>
  cases(of, (truth, other) => ({
    name: `learned ${kind} ${JSON.stringify(notation)}`,
    judge: learned(kind, notation, truth, [truth, other]),
    ...{ right: keys(spell(truth)), other: keys(spell(other)) },
    isFree: kind === "text" && !["codes", "slug", "digits"].includes(notation.as),
  }));
const ofHtml = <T extends FieldValue>(kind: ControlKind, of: fc.Arbitrary<T>, spell: Spell<T>) =>
  cases(of, (truth, other) => ({
    ...{ name: `native ${kind}`, judge: native(kind, truth) },
    ...{ right: keys(spell(truth)), other: keys(spell(other)) },
    isFree: ["text", "textarea", "password"].includes(kind),
  }));

const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday"];
const someDays = fc.subarray(DAYS, { minLength: 1 });
const offers = DAYS.map((text, i) => ({ text, value: `d${i}` }));
const codeOf = (text: string): string => offers.find((offer) => offer.text === text)?.value ?? "";
const CODES = Object.fromEntries(offers.map(({ text, value }) => [text, value]));
const oneDay = fc.constantFrom(...DAYS);
const flags = fc.constantFrom<FieldValue>(true, false, "Yes", "No");
const isYes = (flag: FieldValue): boolean => flag === true || flag === "Yes";
const amountsOf = (n: number): string[] => [String(n), n.toFixed(2), `$${n}`];
const daysOf = (d: string): string[] => [d, `${d}T00:00:00.000Z`, writeDay(d, "MMMM D, YYYY"), d.replaceAll("-", "")];
const slugOf = (text: string, by: string): string => text.toLowerCase().split(" ").join(by);
const seconds = (text: string): number => Date.parse(`${text.replace(" ", "T")}Z`);

const ALL: readonly fc.Arbitrary<Case>[] = [
  ...(["text", "textarea", "password"] as const).map((kind) => ofHtml(kind, phrase, (v) => [v, ` ${v} `])),
  ofHtml("text", account, (v) => [v]),
  ofHtml("email", mail, (v) => [v, v.toLowerCase()]),
  ofHtml("tel", phone, (v) => [v, spaced(v), `+${v}`]),
  ofHtml("url", address, (v) => [v, `https://${v}`]),
  ofHtml("number", amount, amountsOf),
  ofHtml("date", day, (v) => [v, v.replaceAll("-", "/"), writeDay(v, "D MMMM YYYY")]),
  ofHtml("time", clock, (v) => [v, `${v}:00`, half(v)]),
  ofHtml("time", fc.constantFrom("noon", "midnight", "soon"), (v) => [v]),
  ofHtml("date", fc.constantFrom("tomorrow", "next week", "n.d."), (v) => [v]),
  ofHtml("number", fc.constantFrom("a few", "none yet", "12-15"), (v) => [v]),
  ofHtml("file", pdf, (v) => [v]),
  ...(["select", "radio"] as const).map((kind) =>
    cases(oneDay, (truth, other) => ({
      name: `native ${kind}`,
      judge: native(kind, truth, offers),
      right: keys([codeOf(truth)]),
      other: keys([codeOf(other)]),
    })),
  ),
  cases(signed, (truth, other) => {
    const options = SIGNS.map((text) => ({ text, value: text }));
    const judge = native("select", truth, options);
    return { name: "native select, signs", judge, right: [key(truth)], other: [key(other)] };
  }),
  cases(someDays, (truth, other) => ({
    name: "native checkbox-group",
    judge: native("checkbox-group", truth, offers),
    right: [key(...truth.map(codeOf)), key(...truth.map(codeOf).reverse())],
    other: [key(...other.map(codeOf))],
    isFree: true,
  })),
  flags.map((truth) => ({
    name: "native checkbox",
    judge: native("checkbox", truth, [{ text: LABEL, value: "on" }]),
    right: isYes(truth) ? keys(["on", "true"]) : [[]],
    other: isYes(truth) ? [[], key("false")] : keys(["on", "true"]),
    isBlank: !isYes(truth),
  })),
  written("text", { as: "same" }, phrase, (v) => [v, `  ${v}`]),
  written("text", { as: "html" }, phrase, (v) => [v, `<p>${v}</p>`]),
  written("text", { as: "loose" }, phrase, (v) => [v, v.toLowerCase(), v.replaceAll(" ", "-")]),
  written("text", { as: "loose" }, signed, (v) => [v, ` ${v.toLowerCase()}!`]),
  written("text", { as: "digits" }, phone, (v) => [v, spaced(v)]),
  written("text", { as: "digits", prefix: "44" }, dialled, (v) => [v, `+44${v.slice(1)}`]),
  ...(["-", "_", ""] as const).map((by) => written("text", { as: "slug", by }, phrase, (v) => [slugOf(v, by)])),
  written("text", { as: "slug", by: "lower" }, phrase, (v) => [v.toLowerCase()]),
  written("text", { as: "slug", by: "upper" }, phrase, (v) => [v.toUpperCase()]),
  written("text", { as: "slug", by: "-" }, fc.constantFrom("C++", "C#", "+5", "-5"), (v) => [v]),
  ...[1, 100, 0.01].map((times) =>
    written("number", { as: "number", times }, amount, (v) => [String(Number((v * times).toFixed(6)))]),
  ),
  written("date", { as: "day" }, day, daysOf),
  written("time", { as: "time" }, clock, (v) => [v, half(v), `1970-01-01T${v}:00.000Z`]),
  written("time", { as: "time" }, fc.constantFrom("noon", "midnight"), (v) => [v]),
  written("date", { as: "day" }, fc.constantFrom("tomorrow", "soon"), (v) => [v]),
  written("moment", { as: "moment" }, moment, (v) => [v, `${v.replace(" ", "T")}:00Z`]),
  ...["DD/MM/YYYY", "MM/DD/YYYY", "D.M.YYYY", "YYYYMMDD"].map((pattern) =>
    written("date", { as: "pattern", pattern }, day, (v) => [writeDay(v, pattern)]),
  ),
  written("moment", { as: "pattern", pattern: "DD/MM/YYYY HH:mm" }, moment, (v) => {
    const [date = "", time = ""] = v.split(" ");
    return [writeMoment({ date, time }, "DD/MM/YYYY HH:mm")];
  }),
  written("range", { as: "pattern", pattern: "DD/MM/YYYY" }, range, (v) => {
    const [a = "", b = ""] = v.split(" - ").map((one) => writeDay(one, "DD/MM/YYYY"));
    return [`${a} - ${b}`, `${a} to ${b}`];
  }),
  written("date", { as: "seconds", times: 0.001 }, day, (v) => [String(seconds(v) / 1000)]),
  written("moment", { as: "seconds", times: 1 }, moment, (v) => [String(seconds(v))]),
  written("text", { as: "codes", codes: CODES }, oneDay, (v) => [codeOf(v)]),
  cases(queens, (truth, other) => {
    // what a page that takes twelve letters has left of each text
    const codes = Object.fromEntries([truth, other].map((text) => [text, text.slice(0, 12).trim()]));
    const judge = learned("text", { as: "codes", codes }, truth, [truth, other]);
    return { name: "learned cut text", judge, right: [key(truth)], other: keys(Object.values(codes)), isFree: true };
  }),
  flags.map((truth) => ({
    name: "learned flag",
    judge: learned("flag", { as: "flag", on: "Y", off: null }, truth, [true, false]),
    right: isYes(truth) ? [key("Y")] : [[]],
    other: isYes(truth) ? [[], key("N")] : [key("Y")],
    isBlank: !isYes(truth),
  })),
  cases(someDays, (truth, other) => ({
    name: "learned list, codes",
    judge: learned("list", { as: "codes", codes: CODES }, truth, [truth, other], ","),
    right: [key(truth.map(codeOf).join(","))],
    other: [key(other.map(codeOf).join(","))],
    isFree: true,
  })),
  cases(someDays, (truth, other) => {
    const posted = (days: readonly string[]): Posted => days.map((one) => [one, "1"]);
    const each = { as: "each" as const, keys: Object.fromEntries(DAYS.map((one) => [one, one])), on: "1", off: null };
    const judge = learned("list", each, truth, [truth, other]);
    return { name: "learned list, keys", judge, right: [posted(truth)], other: [posted(other)], isFree: true };
  }),
  cases(range, (truth, other) => {
    const posted = (text: string): Posted => text.split(" - ").map((one, i) => [i === 0 ? "from" : "to", one]);
    const judge = learned("range", { as: "ends", from: "from", to: "to" }, truth, [truth, other]);
    return { name: "learned range, ends", judge, right: [posted(truth)], other: [posted(other)] };
  }),
  cases(day, (truth, other) => {
    const posted = (text: string): Posted => text.split("-").map((one, i) => [["y", "m", "d"][i] ?? "", one]);
    const judge = learned("date", { as: "parts", year: "y", month: "m", day: "d" }, truth, [truth, other]);
    return { name: "learned date, parts", judge, right: [posted(truth)], other: [posted(other)] };
  }),
  cases(capital, (truth, other) => ({
    name: "learned part",
    judge: learned("text", { as: "part", of: "Dear {Field}," }, truth, [truth, other]),
    right: keys([`Dear ${truth},`]),
    other: keys([`Dear ${other},`]),
    isFree: true,
  })),
];

const JUNK = [LABEL, ..."banana|noon o'clock|All done|undefined|NaN|null|[object Object]|-|...|0x1".split("|")];

/** Changes of a right text that change its meaning whatever it is. */
const CHANGES: readonly ((text: string) => string)[] = [
  (text) => `${text} banana`,
  (text) => `zz ${text}`,
  (text) => `not${text}`,
  (text) => text.replace(/\.0+$/, "").slice(0, Math.ceil(text.length / 3)),
  (text) => text.replace(/\d/g, (digit) => String((Number(digit) + 3) % 10)),
];

/** What a wrong text may earn: nothing, or its resemblance where that is at least a half (lists: the shared items). */
function assertWrong({ name, judge, isFree = false }: Case, posted: Posted): void {
  const { reward, perField, success } = judge(posted);
  const about = `${name}: ${JSON.stringify(posted)} earns ${reward}`;
  const part = perField[LABEL] ?? 1;
  assert.ok(part < 1 && !success, about);
  if (!isFree || part === 0) assert.ok(reward <= 0.05, about);
}

test("no text but a true value's own spellings is right, for all kinds, notations and judges", () => {
  let judged = 0;
  const one = fc.tuple(
    fc.oneof(...ALL),
    fc.nat(),
    fc.nat(),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }),
  );
  fc.assert(
    fc.property(one, ([given, pick, change, text]) => {
      const right = given.right[pick % given.right.length] as Posted;
      const { perField } = given.judge(right);
      assert.equal(perField[LABEL], 1, `${given.name}: ${JSON.stringify(right)} is not right`);
      const spelled = new Set(given.right.map((posted) => JSON.stringify(posted)));
      const tried: Posted[] = [...given.other, key(JUNK[pick % JUNK.length] as string), key(`q${text}`)];
      if (given.isBlank !== true) tried.push([], key(""));
      const alter = CHANGES[change % CHANGES.length] as (text: string) => string;
      const [first, ...others] = right;
      if (first !== undefined) tried.push([[first[0], alter(first[1])], ...others]);
      for (const posted of tried.filter((one) => !spelled.has(JSON.stringify(one)))) {
        judged++;
        assertWrong(given, posted);
      }
    }),
    { seed: 49, numRuns: 5000 },
  );
  assert.ok(judged >= 20_000, `${judged} texts`);
});
