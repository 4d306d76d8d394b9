import assert from "node:assert/strict";
import { test } from "node:test";
import type { Kind } from "../../../src/env/forms/values.js";
import { carries, received, type Sample } from "../../../src/env/forms/wire.js";
import { claimed, explain, LIKENESS } from "../../../src/features/learned-pages/learn/explain.js";

const samples = (
  label: string,
  pairs: readonly (readonly [value: Sample["fields"][string], raw: string])[],
): Sample[] => pairs.map(([value, raw]) => ({ fields: { [label]: value }, posted: [["k", raw]] }));
/** Learns a notation from what was received for each value, which is read by the kind. */
const learned = (kind: Kind, raws: Readonly<Record<string, string>>, sure = true) => {
  const read = (value: string) => (kind === "number" ? Number(value) : kind === "flag" ? value === "true" : value);
  const pairs = Object.entries(raws).map(([value, raw]) => [read(value), raw] as const);
  return explain("Label", kind, samples("Label", pairs), sure, new Set())?.notation;
};

test("the notation of a value is learned from pairs of what was put in and what was received", () => {
  assert.deepEqual(learned("text", { "Ann Lee": "Ann Lee", Bo: "Bo" }), { as: "same" });
  assert.deepEqual(learned("text", { "Large box": "large-box", Small: "small" }), { as: "slug", by: "-" });
  assert.deepEqual(learned("text", { "(555) 010-0101": "5550100101", "(555) 020-0202": "5550200202" }), {
    as: "digits",
  });
  assert.deepEqual(learned("text", { "(555) 010-0101": "+15550100101", "(555) 020-0202": "+15550200202" }), {
    as: "digits",
    prefix: "1",
  });
  assert.deepEqual(learned("text", { "A & b": "<p>A &amp; b</p>", C: "<p>C</p>" }), { as: "html" });
  assert.deepEqual(learned("number", { 4: "400", 7.5: "750" }), { as: "number", times: 100 });
  assert.deepEqual(
    learned("moment", { "2026-12-10 09:30": "10/12/2026 09:30 AM", "2027-03-18 14:15": "18/03/2027 02:15 PM" }),
    { as: "pattern", pattern: "DD/MM/YYYY hh:mm A" },
  );
  assert.deepEqual(
    learned("range", {
      "2027-05-07 - 2027-05-09": "2027-05-07/2027-05-09",
      "2026-12-10 - 2026-12-22": "2026-12-10/2026-12-22",
    }),
    { as: "pattern", pattern: "YYYY-MM-DD" },
  );
  assert.deepEqual(learned("date", { "2024-03-04": "04/03/2024", "2024-11-25": "25/11/2024" }), {
    as: "pattern",
    pattern: "DD/MM/YYYY",
  });
  assert.deepEqual(learned("date", { "2024-03-04": "1709510400", "2024-11-25": "1732492800" }), {
    as: "seconds",
    times: 0.001,
  });
  assert.deepEqual(learned("flag", { true: "Y", false: "N" }), { as: "flag", on: "Y", off: "N" });
  assert.deepEqual(learned("text", { Red: "7", Blue: "9" }), { as: "codes", codes: { Red: "7", Blue: "9" } });
});

test("a code that nothing vouches for is none: it may be a token that changes by itself", () => {
  assert.equal(learned("text", { Red: "x81", Blue: "q17" }, false), undefined);
  const twice = [
    ...samples("Label", [
      ["Red", "x81"],
      ["Blue", "q17"],
    ]),
    ...samples("Label", [["Red", "z99"]]),
  ];
  assert.equal(explain("Label", "text", twice, true, new Set()), undefined);
});

test("codes of a list are what comes with an item and never without it", () => {
  const list = (items: string[], raws: string[]): Sample => ({
    fields: { Days: items },
    posted: raws.map((raw): [string, string] => ["days[]", raw]),
  });
  const wire = explain(
    "Days",
    "list",
    [list(["Monday", "Friday"], ["1", "5"]), list(["Monday"], ["1"]), list(["Friday", "Sunday"], ["5", "7"])],
    true,
    new Set(),
  );
  assert.deepEqual(wire?.notation, { as: "codes", codes: { Monday: "1", Friday: "5", Sunday: "7" } });
  assert.ok(wire !== undefined);
  assert.deepEqual(received("Days", wire, "list", ["Monday"], [["days[]", "5"]], {}), ["Friday"]);
});

test("a value that stands within a longer one is found, and read out of it", () => {
  const fields = { "First name": "Ann", "Last name": "Lee" };
  const other = { "First name": "Bodo", "Last name": "Fern" };
  const all: Sample[] = [
    { fields, posted: [["name", "Lee, Ann"]] },
    { fields: other, posted: [["name", "Fern, Bodo"]] },
  ];
  const wire = explain("First name", "text", all, true, new Set());
  assert.deepEqual(wire, { key: "name", notation: { as: "part", of: "{Last name}, {First name}" } });
  assert.ok(wire !== undefined);
  assert.equal(received("First name", wire, "text", "Ann", [["name", "Fern, Ann"]], fields), "Ann");
  assert.equal(received("First name", wire, "text", "Ann", [["name", "Lee, Anna"]], fields), "Anna");
});

test("a range has its days under two keys, and a day its parts under three", () => {
  const range = (value: string, from: string, to: string): Sample => ({
    fields: { Stay: value },
    posted: [
      ["stay.from", from],
      ["stay.to", to],
    ],
  });
  const all = [
    range("2026-12-30 - 2027-01-04", "2026-12-30", "2027-01-04"),
    range("2027-02-10 - 2027-02-12", "2027-02-10", "2027-02-12"),
  ];
  const wire = explain("Stay", "range", all, true, new Set());
  assert.deepEqual(wire?.notation, { as: "ends", from: "stay.from", to: "stay.to" });
  const figures = [
    range("2026-12-30 - 2027-01-04", "20261230", "20270104"),
    range("2027-02-10 - 2027-02-12", "20270210", "20270212"),
  ];
  assert.deepEqual(explain("Stay", "range", figures, true, new Set()), wire);
  const listed = all.map(({ fields, posted }) => ({ fields, posted: posted.map(([, raw]) => ["days", raw] as const) }));
  const both = explain("Stay", "range", listed, true, new Set());
  assert.deepEqual(both?.notation, { as: "ends", from: "days", to: "days" });
  const day = (value: string, y: string, m: string, d: string): Sample => ({
    fields: { Born: value },
    posted: [
      ["y", y],
      ["m", m],
      ["d", d],
    ],
  });
  const born = explain(
    "Born",
    "date",
    [day("1990-03-05", "1990", "3", "5"), day("1984-11-21", "1984", "11", "21")],
    true,
    new Set(),
  );
  assert.deepEqual(born?.notation, { as: "parts", year: "y", month: "m", day: "d" });
  assert.ok(born !== undefined);
  assert.ok(carries(born, "date", "1990-03-05", day("", "1990", "03", "05").posted));
  assert.ok(!carries(born, "date", "1990-03-05", day("", "1990", "3", "6").posted));
});

test("a list whose items are counted in their keys is one list", () => {
  const post = (...days: string[]): Sample => ({
    fields: { Days: days },
    posted: days.map((day, i) => [`days[${i}]`, day] as const),
  });
  const wire = explain("Days", "list", [post("Mon", "Wed", "Fri"), post("Mon", "Fri"), post("Tue")], false, new Set());
  assert.deepEqual(wire, { key: "days[#]", notation: { as: "same" }, list: "repeated" });
  assert.ok(wire !== undefined && carries(wire, "list", ["Sun"], post("Sun").posted));
});

test("a list whose items have keys of their own is found by who chose them", () => {
  const post = (items: readonly string[]): Sample => ({
    fields: { Papers: [...items] },
    posted: [
      ["data.plan", String(items.includes("Plan"))],
      ["data.photo", String(items.includes("Photographs"))],
      ["data.deed", String(items.includes("Deed"))],
    ],
  });
  const posts = [post(["Photographs"]), post(["Plan", "Deed"]), post(["Plan", "Photographs", "Deed"])];
  const wire = explain("Papers", "list", posts, false, new Set());
  assert.deepEqual(wire?.notation, {
    as: "each",
    keys: { Photographs: "data.photo", Plan: "data.plan", Deed: "data.deed" },
    on: "true",
    off: "false",
  });
  assert.ok(wire !== undefined);
  assert.ok(!carries(wire, "list", ["Plan"], post(["Plan", "Deed"]).posted));
  assert.deepEqual(received("Papers", wire, "list", ["Deed"], post(["Plan"]).posted, {}), ["Plan"]);
});

test("codes are looked for first under the key that is named as the label, and not where another's value stands", () => {
  const sent = (modules: string[], topics: string[], day: string, codes: string[]): Sample => ({
    fields: { Modules: modules, Topics: topics, Day: day },
    posted: [["day", day.split("-").reverse().join(".")], ...codes.map((code): [string, string] => ["topics", code])],
  });
  const all = [
    sent(["Tax", "Law", "Ads"], ["Food", "Toys", "Cars"], "2026-12-08", ["2", "3", "4"]),
    sent(["Tax", "Sales"], ["Food", "Pets"], "2027-01-21", ["2", "1"]),
    sent(["Ads"], ["Cars"], "2027-03-05", ["4"]),
  ];
  const find = (label: string, likeness: number) => explain(label, "list", all, true, new Set(), likeness);
  const least = LIKENESS.find((degree) => find("Topics", degree) !== undefined) ?? -1;
  assert.equal(find("Topics", least)?.key, "topics");
  // the values alone would also match the other list
  assert.equal(find("Modules", 0)?.key, "topics");
  assert.equal(find("Modules", least), undefined);
  assert.deepEqual([...new Set(claimed("Day", "date", all))], ["day"]);
});

test("a time that reads as another is no code of it, a name is", () => {
  const slots = (raws: readonly string[]) =>
    learned("time", { "10:30": raws[0] as string, "18:00": raws[1] as string, "14:15": raws[2] as string });
  assert.equal(slots(["10:30", "06:00", "02:15"]), undefined);
  assert.deepEqual(slots(["10:30", "18:00", "14:15"]), { as: "same" });
  assert.equal(slots(["early", "late", "noon"])?.as, "codes");
});

test("a number whose point stands elsewhere is another number, and no code", () => {
  const sums = (...raws: string[]) =>
    learned("number", { "1250.5": raws[0] as string, "89.9": raws[1] as string, 16400: raws[2] as string });
  assert.equal(sums("125.05", "8.99", "164"), undefined);
  assert.equal(sums("12505", "899", "16400"), undefined);
  assert.deepEqual(sums("1250.50", "89.90", "16400"), { as: "number", times: 1 });
  assert.deepEqual(sums("1250500", "89900", "16400000"), { as: "number", times: 1000 });
  assert.equal(sums("a", "b", "c")?.as, "codes");
  assert.equal(learned("number", { 1250.5: "125.05", 1899.5: "189.95" }), undefined);
});

test("of a box and the hidden field of its name that says no the last counts", () => {
  const sent = (on: boolean): Sample => ({
    fields: { Paper: on },
    posted: [["paper", "0"], ...(on ? [["paper", "1"] as [string, string]] : [])],
  });
  const wire = explain("Paper", "flag", [sent(true), sent(false)], true, new Set());
  assert.deepEqual(wire?.notation, { as: "flag", on: "1", off: "0" });
  assert.ok(wire !== undefined);
  assert.equal(received("Paper", wire, "flag", undefined, sent(true).posted, {}), true);
  assert.equal(received("Paper", wire, "flag", true, sent(false).posted, {}), false);
});

test("a number is a time's code under a key that is named as its label, and under no other", () => {
  const sent = (key: string) =>
    explain(
      "Call me at",
      "time",
      [
        { fields: { "Call me at": "09:30" }, posted: [[key, "21"]] },
        { fields: { "Call me at": "13:00" }, posted: [[key, "14"]] },
      ],
      true,
      new Set(),
    )?.notation.as;
  assert.equal(sent("call"), "codes");
  assert.equal(sent("dob_day"), undefined);
});

test("a code of few letters that a name begins with is not claimed by the name", () => {
  const sent = {
    fields: { Leader: "Bo Fernandez" },
    posted: [
      ["transport", "bo"],
      ["who", "bo-fernandez"],
    ],
  } satisfies Sample;
  assert.deepEqual(claimed("Leader", "text", [sent]), ["who"]);
});

test("a path that is sent level by level has a code of its levels, and no list is taken for one", () => {
  const sent = (place: string, ...raws: string[]): Sample => ({
    fields: { Place: place },
    posted: raws.map((raw) => ["place", raw]),
  });
  const samples = [sent("Works / Stores", "w", "w2"), sent("Sales / Export", "s", "s1")];
  const wire = explain("Place", "text", samples, true, new Set());
  assert.ok(wire !== undefined);
  assert.deepEqual(wire.notation, { as: "codes", codes: { "Works / Stores": "w\nw2", "Sales / Export": "s\ns1" } });
  assert.equal(carries(wire, "text", "Works / Stores", sent("", "w", "w1").posted), false);
  assert.equal(
    explain("Place", "text", [sent("Works", "w", "w2"), sent("Sales", "s", "s1")], true, new Set()),
    undefined,
  );
});

test("a text that ends in the sign that was typed behind each item is no list", () => {
  const typed = samples("Label", [
    [["storm"], "storm,"],
    [["toll", "salt"], "toll,salt,"],
  ]);
  assert.equal(explain("Label", "list", typed, true, new Set()), undefined);
  const joined = samples("Label", [
    [["storm"], "storm"],
    [["toll", "salt"], "toll,salt"],
  ]);
  assert.equal(explain("Label", "list", joined, true, new Set())?.list, ",");
});
