import assert from "node:assert/strict";
import { test } from "node:test";
import type { Control } from "../../../src/env/browser/controls.js";
import type { ActionRecord } from "../../../src/env/browser/fill.js";
import { oracleActions } from "../../../src/env/forms/oracle.js";
import { documentsReward, type Outcome, score } from "../../../src/env/forms/reward.js";
import type { FieldValue } from "../../../src/env/site.js";

const control = (index: number, kind: Control["kind"], label: string, preset: FieldValue, texts: string[] = []) => {
  const options = texts.map((text) => ({ text, value: text.toLowerCase() }));
  const plain = { widget: "native", present: true, name: `n${index}`, required: false } as const;
  return { ...plain, index, kind, label, default: preset, options } satisfies Control;
};

const controls = [
  control(0, "text", "Name", ""),
  control(1, "select", "Country", "Norway", ["Norway", "Sweden"]),
  control(2, "checkbox", "News", true),
  control(3, "checkbox-group", "Days", [], ["Mon", "Tue", "Wed"]),
  control(4, "file", "Photo", ""),
];
const task = { fields: { Name: "Ann", Country: "Norway", News: false, Days: ["Mon", "Tue"], Photo: "None" } };
const defaults = controls.map((c) => c.default);

const done = (label: string, on: number, value = ""): ActionRecord => {
  return { action: { kind: "fill", label, value }, fate: "done", control: on };
};
const sent: ActionRecord = { action: { kind: "submit" }, fate: "done", submitted: true };
const outcome = (values: readonly FieldValue[], actions: readonly ActionRecord[], extra: Partial<Outcome> = {}) => {
  return { values, actions, accepted: actions.includes(sent), unresolved: 0, uploads: true, ...extra };
};
const perfect = ["Ann", "Norway", false, ["Mon", "Tue"], ""];
const perfectActions = [done("Name", 0), done("News", 2), done("Days", 3), sent];

test("a perfect episode is worth 1 and a success", () => {
  const { reward, success, perField } = score(task, controls, outcome(perfect, perfectActions));
  assert.deepEqual([reward, success], [1, true]);
  assert.deepEqual(perField, { Name: 1, Country: 1, News: 1, Days: 1, Photo: 1 });
});

test("nothing done is worth nothing, sent or not", () => {
  assert.equal(score(task, controls, outcome(defaults, [])).reward, 0);
  assert.equal(score(task, controls, outcome(defaults, [sent])).reward, 0);
});

test("the formula, by hand", () => {
  // Name "Anna" against "Ann": 0.75; News right; Days one of two: 0.5; mean of three fields
  const values = ["Anna", "Norway", false, ["Mon"], ""];
  const missed: ActionRecord = { action: { kind: "fill", label: "Nome", value: "x" }, fate: "no-such-control" };
  const actions = [...perfectActions.slice(0, 3), missed, sent];
  const result = score(task, controls, outcome(values, actions, { unresolved: 1 }));
  const f = (0.75 + 1 + 0.5) / 3;
  assert.equal(result.fieldAccuracy, f);
  // each action counts as much as its field is right
  assert.equal(result.executionCompleteness, (0.75 + 1 + 0.5 + f) / 6);
  assert.ok(Math.abs(result.reward - (0.8 * f + (0.2 * (3 * f + f)) / 6)) < 1e-12);
  assert.equal(result.success, false);
});

test("a plan that puts wrong values everywhere earns next to nothing, though it operates every control", () => {
  const { reward } = score(task, controls, outcome(["Xu Qi", "Norway", true, ["Sun"], ""], perfectActions));
  assert.equal(reward, 0);
});

test("a spoilt default is a miss", () => {
  const values = ["Ann", "Sweden", false, ["Mon", "Tue"], ""];
  const actions = [...perfectActions.slice(0, 3), done("Country", 1), sent];
  const spoilt = score(task, controls, outcome(values, actions));
  assert.equal(spoilt.fieldAccuracy, 3 / 4);
  assert.equal(spoilt.executionCompleteness, (3 + 3 / 4) / 5);
  assert.equal(spoilt.perField.Country, 0);
});

test("a wrong default that resembles the truth earns nothing until somebody changes it", () => {
  const near = [control(0, "text", "Country", "United States")];
  assert.equal(score({ fields: { Country: "United Kingdom" } }, near, outcome(["United States"], [sent])).reward, 0);
});

test("not accepted: no task completion, no success", () => {
  const result = score(task, controls, outcome(perfect, perfectActions, { accepted: false }));
  const { taskCompletion, fieldAccuracy, executionCompleteness, success } = result;
  assert.deepEqual([taskCompletion, fieldAccuracy, executionCompleteness, success], [0, 1, 3 / 4, false]);
});

test("repeating actions on one control counts against the plan", () => {
  const result = score(task, controls, outcome(perfect, [done("Name", 0), done("Name", 0), ...perfectActions]));
  assert.equal(result.executionCompleteness, 4 / 6);
});

test("a list can come one item a line", () => {
  const items = [done("Name", 0), done("News", 2), done("Days", 3, "Mon"), done("Days", 3, "Tue"), sent];
  assert.equal(score(task, controls, outcome(perfect, items)).reward, 1);
});

test("an item that comes twice takes effect once, one that failed not at all", () => {
  const [name, news, mon] = [done("Name", 0), done("News", 2), done("Days", 3, "Mon")];
  const tue: ActionRecord = { ...done("Days", 3, "Tue"), fate: "rejected" };
  const values = ["Ann", "Norway", false, ["Mon"], ""];
  const completeness = (actions: readonly ActionRecord[]): number =>
    score(task, controls, outcome(values, actions)).executionCompleteness;
  const f = (1 + 1 + 0.5) / 3;
  assert.equal(completeness([name, news, mon, mon, sent]), (1 + 1 + 0.5 + f) / 5);
  assert.equal(completeness([name, news, mon, tue, sent]), (1 + 1 + 0.5 + f) / 5);
});

test("neutral steps count on neither side", () => {
  const neutral: ActionRecord = { action: { kind: "goto", url: "/" }, fate: "done", neutral: true };
  assert.equal(score(task, controls, outcome(perfect, [neutral, ...perfectActions])).reward, 1);
  // a click into a field that is already filled in overwrites nothing
  const click: ActionRecord = { action: { kind: "click", label: "Name" }, fate: "done", control: 0, neutral: true };
  assert.equal(score(task, controls, outcome(perfect, [done("Name", 0), click, ...perfectActions.slice(1)])).reward, 1);
});

test("an action that failed overwrites nothing and counts against the plan", () => {
  const failed: ActionRecord = { ...done("Name", 0, "Bob"), fate: "rejected" };
  const result = score(task, controls, outcome(perfect, [done("Name", 0), failed, ...perfectActions.slice(1)]));
  assert.equal(result.executionCompleteness, 4 / 5);
});

test("a label that names an option, or two controls, is a miss", () => {
  const twice = [...controls, control(5, "text", "Name", "")];
  const named = { fields: { Name: "Ann", Mon: true } };
  const result = score(named, twice, outcome([...perfect, "Ann"], [done("Name", 0), sent]));
  assert.deepEqual([result.fieldAccuracy, result.perField], [0, { Name: 0, Mon: 0 }]);
  assert.deepEqual(result.received, { Name: null, Mon: null });
});

test("a field without a control is a miss", () => {
  const result = score({ fields: { ...task.fields, Phantom: "x" } }, controls, outcome(perfect, perfectActions));
  assert.equal(result.fieldAccuracy, 3 / 4);
  assert.equal(result.success, false);
});

test("files: the right name counts, and none where uploads are off", () => {
  const fields = { Photo: "me.png" };
  const uploaded = (name: string): ReturnType<typeof score> =>
    score({ fields }, controls, outcome([...perfect.slice(0, 4), name], [done("Photo", 4), sent]));
  assert.equal(uploaded("me.png").reward, 1);
  assert.deepEqual([uploaded("x.txt").fieldAccuracy, uploaded("x.txt").success], [0, false]);
  assert.equal(score({ fields }, controls, outcome(perfect, [sent])).reward, 0);
  const off = score({ fields }, controls, outcome(perfect, [sent], { uploads: false }));
  assert.deepEqual([off.success, off.reward], [true, 1]);
});

test("the documents' formula pays for an empty submit, ours does not", () => {
  assert.equal(documentsReward(task, controls, outcome(defaults, [sent])), 0.4 + 0.2);
  assert.equal(documentsReward(task, controls, outcome(defaults, [])), 0);
});

test("the documents' formula, by hand", () => {
  const fields = { Name: "Ann", Country: "Sweden", News: true, Days: ["Mon", "Tue"], Phantom: "x" };
  const check: ActionRecord = { action: { kind: "check", label: "News" }, fate: "done", control: 2 };
  const select = { kind: "select", label: "Country", value: "sweden" } as const;
  const failed: ActionRecord = { action: select, fate: "rejected", control: 1 };
  // the plan's words count, whether carried out or not; values at another control do not
  const actions = [done("Name", 0, "Ann"), failed, check, done("Country", 1, "Mon, Tue"), sent];
  const near = (rest: Partial<Outcome>, right: number, executed: number, accepted = 0.4): void => {
    const reward = documentsReward({ fields }, controls, outcome(defaults, actions, rest));
    assert.ok(Math.abs(reward - (accepted + 0.4 * right + 0.2 * executed)) < 1e-12, `${reward}`);
  };
  near({}, 3 / 5, 4 / 5);
  near({ accepted: false, unresolved: 3 }, 3 / 5, 4 / 8, 0);
  near({ actions: [check, { ...check, action: { kind: "uncheck", label: "News" } }] }, 1 / 5, 1);
  near({ actions: [done("Name", 0, "Anna")] }, 0, 1);
  // neither a box that must stay empty nor a form without true fields gets credit
  assert.equal(documentsReward({ fields: { News: false } }, controls, outcome(defaults, [check])), 0.2);
  assert.equal(documentsReward({ fields: {} }, controls, outcome(defaults, [sent])), 0.4 + 0.2);
});

test("the oracle acts only where the default is wrong", () => {
  const expected = [
    { kind: "fill", label: "Name", value: "Ann" },
    { kind: "uncheck", label: "News" },
    { kind: "select", label: "Days", value: "Mon, Tue" },
    { kind: "submit" },
  ];
  assert.deepEqual(oracleActions(task.fields, controls), expected);
  const kinds = Object.fromEntries(
    controls.map((c) => [c.label, { kind: c.kind, default: c.default, options: c.options.map((o) => o.text) }]),
  );
  assert.deepEqual(oracleActions(task.fields, kinds), expected);
});
