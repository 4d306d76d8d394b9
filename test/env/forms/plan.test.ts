import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Action, PLAN_LIMITS, parsePlan, renderPlan } from "../../../src/env/forms/plan.js";
import { documentsPlan } from "../documents-plan.js";

test("reads the compact grammar", () => {
  const lines = "fill Full name | Ann O'Neil\nselect Room|Suite\ncheck News\nuncheck Ads\nclick Jazz\ngoto /a/b\n";
  const plan = parsePlan(`${lines}submit\n`);
  assert.deepEqual(plan, {
    unresolved: [],
    actions: [
      { kind: "fill", label: "Full name", value: "Ann O'Neil" },
      { kind: "select", label: "Room", value: "Suite" },
      { kind: "check", label: "News" },
      { kind: "uncheck", label: "Ads" },
      { kind: "click", label: "Jazz" },
      { kind: "goto", url: "/a/b" },
      { kind: "submit" },
    ],
  });
});

test("reads the documents' sentences, with and without step numbers", () => {
  const plan = parsePlan(
    [
      "Step 1: Navigate to http://127.0.0.1:5000/a/b",
      "Step 2: Click on the 'Name' input field",
      "Step 3: Type 'Pat O'Brien' into the 'Name' field",
      '4. Select "Two, three" from the "Room" field',
      "Click on the 'News' checkbox to enable it",
      "Step 6: Click on the 'Ads' checkbox to disable it",
      "Step 7: Fill in the 'City' field with 'Oslo'",
      "Step 8: Click the Submit button",
    ].join("\n"),
  );
  assert.deepEqual(plan.unresolved, []);
  assert.deepEqual(plan.actions, [
    { kind: "goto", url: "http://127.0.0.1:5000/a/b" },
    { kind: "click", label: "Name" },
    { kind: "fill", label: "Name", value: "Pat O'Brien" },
    { kind: "select", label: "Room", value: "Two, three" },
    { kind: "check", label: "News" },
    { kind: "uncheck", label: "Ads" },
    { kind: "fill", label: "City", value: "Oslo" },
    { kind: "submit" },
  ]);
});

test("keeps a bar inside a value and reads an empty value", () => {
  assert.deepEqual(parsePlan("fill A | x | y\nfill B |").actions, [
    { kind: "fill", label: "A", value: "x | y" },
    { kind: "fill", label: "B", value: "" },
  ]);
});

test("counts lines that are no action, skips blank lines and thoughts", () => {
  const plan = parsePlan("<think>fill A | 1\n</think>\n\nI will now begin.\nfill A\nfill | x\nsubmit\n<think>submit");
  assert.deepEqual(plan.actions, [{ kind: "submit" }]);
  assert.deepEqual(plan.unresolved, ["I will now begin.", "fill A", "fill | x"]);
});

test("any text is a plan, within the limits", () => {
  const pieces = "fill ;select ;check ;submit; | ;\n;Step 1: ;Type ';' into the ';' field;<think>;|;\r".split(";");
  const words = fc.constantFrom(...pieces);
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.array(fc.oneof(words, fc.string()), { maxLength: 40 }).map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(text, (input) => {
      const plan = parsePlan(input);
      assert.ok(plan.actions.length + plan.unresolved.length <= PLAN_LIMITS.lines);
      for (const action of plan.actions) if ("label" in action) assert.notEqual(action.label, "");
    }),
    { seed: 1, numRuns: 500 },
  );
});

test("a babbling policy is cut, quickly", () => {
  const plan = parsePlan(`${"fill A | 1\n".repeat(100_000)}`);
  assert.equal(plan.actions.length, PLAN_LIMITS.lines);
  assert.equal(parsePlan("'".repeat(1 << 20)).unresolved[0]?.length, PLAN_LIMITS.line);
  assert.equal(parsePlan(`Type '${"' into the '".repeat(5000)}`).actions.length, 0);
});

test("what is rendered is read back, in both grammars", () => {
  const spaced = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9 ,.()?&-]{0,18}[A-Za-z0-9]$/);
  const word = spaced.map((text) => text.replace(/\s+/g, " "));
  const label = word.filter((text) => !/^submit/i.test(text));
  const own = { noNullPrototype: true };
  const action: fc.Arbitrary<Action> = fc.oneof(
    fc.record({ kind: fc.constantFrom("fill" as const, "select" as const), label, value: word }, own),
    fc.record({ kind: fc.constantFrom("check" as const, "uncheck" as const, "click" as const), label }, own),
    fc.constant<Action>({ kind: "submit" }),
    fc.constant<Action>({ kind: "goto", url: "/a/b" }),
  );
  fc.assert(
    fc.property(fc.array(action, { minLength: 1 }), fc.constantFrom(renderPlan, documentsPlan), (actions, write) => {
      const plan = parsePlan(write(actions));
      assert.deepEqual(plan.actions, actions);
      assert.deepEqual(plan.unresolved, []);
    }),
    { seed: 2, numRuns: 200 },
  );
});

test("a line break inside a value becomes a space", () => {
  const action = { kind: "fill", label: "Address", value: "1 Hill Road\nOslo" } as const;
  assert.equal(renderPlan([action]), "fill Address | 1 Hill Road Oslo");
});
