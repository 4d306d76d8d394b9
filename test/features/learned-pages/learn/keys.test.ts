import assert from "node:assert/strict";
import { test } from "node:test";
import { Rng } from "../../../../src/core/rng.js";
import type { Exchange } from "../../../../src/env/browser/network/exchange.js";
import type { PostedPair } from "../../../../src/env/forms/posted.js";
import type { Kind } from "../../../../src/env/forms/values.js";
import { carries, received } from "../../../../src/env/forms/wire.js";
import type { FieldValue, Task } from "../../../../src/env/site.js";
import { othersOf } from "../../../../src/features/learned-pages/learn/interventions.js";
import {
  type Field,
  type Proof,
  proved,
  type Run,
  type Values,
} from "../../../../src/features/learned-pages/learn/keys.js";
import { type InventedForm, inventForm, objectOf } from "./invented-forms.js";

const exchange = (path: string, posted: readonly PostedPair[], phase: Exchange["phase"] = "submit"): Exchange => ({
  ...{ method: "POST", url: `http://site.test${path}`, how: "script", owner: "page", posted, routine: false, phase },
  answer: { status: 200, contentType: "text/html", text: "", url: "" },
});
const run = (entered: Values, posted: readonly PostedPair[], options: Run["options"] = {}): Run => ({
  ...{ entered, options },
  exchanges: [exchange("/send", posted)],
});
const field = (label: string, kind: Kind, isTyped: boolean, values: readonly FieldValue[] = []): Field => ({
  ...{ label, kind, isTyped, values },
});

type Row = readonly [value: FieldValue, ...raws: string[]];
/** Proves a field from plays of it, of which the first is repeated. @param keys of the texts of a row; the last for more. */
function proofOf(of: (values: FieldValue[]) => Field, keys: readonly string[], rows: readonly Row[]) {
  const runs = [...rows, rows[0] as Row].map(([value, ...raws]) => {
    const posted = raws.map((raw, i): PostedPair => [(keys[i] ?? keys.at(-1)) as string, raw]);
    return run({ L: value }, posted);
  });
  return proved([of(rows.map(([value]) => value))], runs, []).wires.get("L");
}
const wireOf = (kind: Kind, keys: readonly string[], ...rows: Row[]) =>
  proofOf((values) => field("L", kind, false, values), keys, rows);
const notation = (kind: Kind, raws: Readonly<Record<string, string>>, isTyped = false) => {
  const read = (value: string) => (kind === "number" ? Number(value) : kind === "flag" ? value === "true" : value);
  const rows = Object.entries(raws).map(([value, raw]): Row => [read(value), raw]);
  return proofOf((values) => field("L", kind, isTyped, values), ["k"], rows)?.notation;
};

test("the notation of a value is read from what was sent for two values", () => {
  const cases: [Kind, Record<string, string>, object][] = [
    ["text", { "Ann Lee": "Ann Lee", Bo: "Bo" }, { as: "same" }],
    ["text", { "Large box": "large-box", Small: "small" }, { as: "slug", by: "-" }],
    ["text", { "(555) 010-0101": "5550100101", "(555) 020-0202": "5550200202" }, { as: "digits" }],
    ["text", { "(555) 010-0101": "+15550100101", "(555) 020-0202": "+15550200202" }, { as: "digits", prefix: "1" }],
    ["text", { "A & b": "<p>A &amp; b</p>", C: "<p>C</p>" }, { as: "html" }],
    ["number", { 4: "400", 7.5: "750" }, { as: "number", times: 100 }],
    ["date", { "2024-03-04": "04/03/2024", "2024-11-25": "25/11/2024" }, { as: "pattern", pattern: "DD/MM/YYYY" }],
    ["date", { "2024-03-04": "1709510400", "2024-11-25": "1732492800" }, { as: "seconds", times: 0.001 }],
    ["flag", { true: "Y", false: "N" }, { as: "flag", on: "Y", off: "N" }],
    ["text", { Red: "7", Blue: "9" }, { as: "codes", codes: { Red: "7", Blue: "9" } }],
  ];
  for (const [kind, raws, expected] of cases) assert.deepEqual(notation(kind, raws), expected, JSON.stringify(raws));
});

test("what a page leaves of a typed text, a number whose point stands elsewhere and another time are no codes", () => {
  const cut = { "Queen of the Fjords": "Queen of the", "Little Grey Seal": "Little Grey " };
  assert.equal(notation("text", cut, true), undefined);
  assert.equal(notation("number", { "1250.5": "125.05", "89.9": "8.99", 16400: "164" }), undefined);
  assert.deepEqual(notation("number", { "1250.5": "1250.50", "89.9": "89.90" }), { as: "number", times: 1 });
  assert.equal(notation("time", { "10:30": "10:30", "18:00": "06:00" }), undefined);
  assert.equal(notation("time", { "10:30": "early", "18:00": "late" })?.as, "codes");
});

test("a list has its items under one key, counted keys, codes, or keys of their own", () => {
  const lists = (keys: string[], ...rows: (readonly [items: string, ...raws: string[]])[]) =>
    wireOf("list", keys, ...rows.map(([items, ...raws]): Row => [items.split(" "), ...raws]));
  assert.equal(lists(["k"], ["storm", "storm,"], ["toll salt", "toll,salt,"]), undefined);
  assert.equal(lists(["k"], ["storm", "storm"], ["toll salt", "toll,salt"])?.list, ",");
  assert.deepEqual(lists(["days[]"], ["Mon Fri", "1", "5"], ["Mon", "1"], ["Fri Sun", "5", "7"]), {
    ...{ key: "days[]", notation: { as: "codes", codes: { Mon: "1", Fri: "5", Sun: "7" } }, list: "repeated" },
  });
  const counted = lists(["days[0]", "days[1]"], ["Mon Wed", "Mon", "Wed"], ["Tue", "Tue"], ["Fri Mon", "Fri", "Mon"]);
  assert.deepEqual(counted, { key: "days[#]", notation: { as: "same" }, list: "repeated" });
  const each = lists(["plan", "deed"], ["PLAN", "true", "false"], ["DEED", "false", "true"]);
  assert.deepEqual(each?.notation, { as: "each", keys: { PLAN: "plan", DEED: "deed" }, on: "true", off: "false" });
});

test("a day has its parts under three keys, a range its ends under two, a path its levels, a text its pieces", () => {
  const day = wireOf("date", ["y", "m", "d"], ["1990-03-05", "1990", "3", "5"], ["1984-11-21", "1984", "11", "21"]);
  assert.deepEqual(day?.notation, { as: "parts", year: "y", month: "m", day: "d" });
  const stays: Row[] = [["2026-12-30 - 2027-01-04", "20261230", "20270104"]];
  const range = wireOf("range", ["a", "b"], ...stays, ["2027-02-10 - 2027-02-12", "20270210", "20270212"]);
  assert.deepEqual(range?.notation, { as: "ends", from: "a", to: "b" });
  const path = wireOf("text", ["p"], ["Works / Stores", "w", "w2"], ["Sales / Export", "s", "s1"]);
  assert.deepEqual(path?.notation, { as: "codes", codes: { "Works / Stores": "w\nw2", "Sales / Export": "s\ns1" } });
  const plate = wireOf("text", ["p", "q"], ["AB 12", "AB", "12"], ["CD 34", "CD", "34"]);
  assert.deepEqual(plate?.notation, { as: "pieces", keys: ["p", "q"], between: " " });
});

test("a template holds several fields, and a key with several texts one each", () => {
  const fields = [field("First", "text", true), field("Last", "text", true)];
  const proof = (post: (first: string, last: string) => string[]): Proof => {
    const play = (First: string, Last: string): Run =>
      run(
        { First, Last },
        post(First, Last).map((text) => ["name", text]),
      );
    return proved(fields, [play("Ann", "Lee"), play("Bodo", "Lee"), play("Ann", "Fern")], []);
  };
  const part = proof((first, last) => [`${last}, ${first}`]).wires.get("First");
  assert.deepEqual(part, { key: "name", notation: { as: "part", of: "{Last}, {First}" } });
  assert.ok(part !== undefined);
  assert.equal(received("First", part, "text", "Ann", [["name", "Lee, Anna"]], { First: "Ann", Last: "Lee" }), "Anna");
  const shared = proof((first, last) => [first, last]).wires;
  assert.deepEqual([shared.get("First")?.nth, shared.get("Last")?.nth], [0, 1]);
});

test("a key that changes with nothing, with everything, with another field too, or by itself is no field's", () => {
  const fields = [field("A", "text", true), field("B", "text", false), field("C", "text", false)];
  let n = 0;
  const play = (A: string, B: string, C: string): Run =>
    run({ A, B, C }, [
      ["constant", "one"],
      ["nr", String(++n)],
      ["count", String(A.length)],
      ["a", A],
      ["both", `${B}${C.length}`],
    ]);
  const plays = [play("one", "x", "p"), play("three", "x", "p"), play("one", "y", "p"), play("one", "x", "qq")];
  const { wires, reasons } = proved(fields, plays, []);
  assert.equal([...wires].map(([label, { key }]) => `${label} as ${key}`).join(), "A as a");
  assert.match(reasons.get("B") ?? "", /no text .* changes with it alone/);
  // a typed field whose length alone is sent has no key
  const both = [field("A", "text", true), field("B", "text", true)];
  const counted = (A: string): Run =>
    run({ A, B: A.slice(1) }, Object.entries({ count: String(A.length), b: A.slice(1) }));
  assert.equal(proved(both, ["one", "three"].map(counted), []).wires.get("A"), undefined);
});

test("codes of options are taken from the page where they agree; two values with one code prove nothing", () => {
  const codes: Record<string, string> = { Norway: "EU2", Sweden: "EU2", Japan: "AS1", Peru: "SA1" };
  const plays = (options: string[], values: string[]) => {
    const offers = { L: options.map((text) => [text, codes[text] as string] as const) };
    return proved(
      [field("L", "text", false, values)],
      ["Japan", "Peru", "Japan"].map((L) => run({ L }, [["k", codes[L] as string]], offers)),
      [],
    );
  };
  assert.deepEqual(plays(["Norway", "Japan", "Peru"], ["Norway", "Japan"]).wires.get("L")?.notation, {
    as: "codes",
    codes: { Japan: "AS1", Peru: "SA1", Norway: "EU2" },
  });
  assert.match(
    plays(["Norway", "Sweden", "Japan", "Peru"], ["Norway", "Sweden", "Japan"]).reasons.get("L") ?? "",
    /Norway and Sweden are both sent as EU2/,
  );
});

test("of several requests the last that changes with most fields is the form's; what is sent before the press is declared", () => {
  const fields = [field("A", "text", true), field("B", "text", true)];
  const play = (A: string, B: string): Run => ({
    ...{ entered: { A, B }, options: {} },
    exchanges: [
      exchange("/draft", [["b", B]], "open"),
      exchange("/check", [["a", A]]),
      exchange("/save", [["a", A]]),
      exchange("/log", [["x", "1"]]),
    ],
  });
  const runs = [play("one", "p"), play("two", "p"), play("one", "q")];
  const found = proved(fields, runs, []);
  assert.deepEqual(found.request, { method: "POST", path: "/save" });
  assert.match(found.reasons.get("B") ?? "", /only POST \/draft has it, before the form is sent/);
  assert.equal(proved(fields, runs, ["/draft"]).wires.get("B")?.key, "before /draft b");
});

test("what nothing can change is known by its control's name alone, in a form that the browser posts by itself", () => {
  const fields = [
    field("A", "text", true),
    { ...field("B", "text", true), name: "b" },
    { ...field("C", "flag", true), name: "c" },
  ];
  const prove = (how: Exchange["how"], noise: PostedPair[] = []) => {
    const play = (A: string): Run => ({
      ...{ entered: { A, B: "same", C: true }, options: {} },
      exchanges: [{ ...exchange("/send", [["a", A], ["b", "same"], ["c", "on"], ...noise]), how }],
    });
    return [...proved(fields, [play("one"), play("two"), play("one")], []).wires].map(
      ([label, { key }]) => `${label} ${key}`,
    );
  };
  assert.deepEqual(prove("navigation"), ["A a", "B b", "C c"]);
  assert.deepEqual(prove("navigation", [["b", "same"]]), ["A a", "C c"]);
  assert.deepEqual(prove("script"), ["A a"]);
});

/** Plays an invented form in its own script: what is entered, and what each request holds. */
function player(form: InventedForm) {
  let n = 0;
  const requests = form.requests.map((request) => {
    const make = new Function("v", "n", "t", `return ${objectOf(request)}`) as (
      ...given: unknown[]
    ) => Record<string, unknown>;
    return { path: request.path, make };
  });
  return (entered: Readonly<Record<string, string>>) => {
    n++;
    const bodies = requests.map(({ path, make }) => ({ path, body: make(entered, n, `t${(n * 7919) % 1009}`) }));
    const pairs = (body: Record<string, unknown>): PostedPair[] =>
      Object.entries(body).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]]));
    const options = Object.fromEntries(
      form.fields.map(({ label, options = [] }) => [label, options.map((text) => [text, text] as const)]),
    );
    const played: Run = { entered, options, exchanges: bodies.map(({ path, body }) => exchange(path, pairs(body))) };
    return { played, got: form.received(bodies.at(-1)?.body ?? {}) };
  };
}

test("no invented form gives a reward of 1 for what its server did not receive", () => {
  let whole = 0;
  for (let i = 0; i < 600; i++) {
    const form = inventForm(String(i), Rng.named(7, `form ${i}`));
    const play = player(form);
    const fields = form.fields.map(({ label, options }) => {
      const values = form.people.map((one) => one[label] as string);
      return field(label, "text", options === undefined, values);
    });
    const tasks = form.people.map((one) => ({ fields: one }) as unknown as Task);
    const base = form.people[0] as Record<string, string>;
    const runs = [play(base).played];
    for (const one of fields) {
      const others = othersOf(one, base, tasks, runs[0]?.options[one.label] ?? []);
      const isChosen = !one.isTyped;
      for (const { value } of isChosen ? others : others.slice(0, 1))
        runs.push(play({ ...base, [one.label]: String(value) }).played);
    }
    runs.push(play(base).played);
    const { wires, request } = proved(fields, runs, []);
    const score = (entered: Record<string, string>, truth: Record<string, string>) => {
      const { played, got } = play(entered);
      const posted = played.exchanges.find(({ url }) => url.endsWith(request?.path ?? "/"))?.posted ?? [];
      const isRight = ({ label }: Field): boolean => {
        const wire = wires.get(label);
        return wire !== undefined && carries(wire, "text", truth[label] as string, posted, truth);
      };
      return { isWhole: fields.every(isRight), isTaken: fields.every(({ label }) => got[label] === truth[label]) };
    };
    for (const truth of form.people as Record<string, string>[]) {
      const own = score(truth, truth);
      assert.ok(!own.isWhole || own.isTaken, `form ${i}: the true plan`);
      if (own.isWhole) whole++;
      for (const { label, options } of form.fields)
        for (const other of options ?? ["Zed", ...form.people.map((one) => one[label] as string)]) {
          const about = `form ${i}: ${label} is ${other}, not ${truth[label]}`;
          assert.ok(other === truth[label] || !score({ ...truth, [label]: other }, truth).isWhole, about);
        }
    }
  }
  assert.ok(whole > 300, `${whole} of 1800 true plans won`);
});
