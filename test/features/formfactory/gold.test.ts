import assert from "node:assert/strict";
import { test } from "node:test";
import { CATALOG, formId, formTitle, HELDOUT_FORMS } from "../../../src/features/formfactory/catalog.js";
import { goldFields } from "../../../src/features/formfactory/gold.js";

test("the catalog names each of the 25 forms once", () => {
  assert.equal(CATALOG.length, 25);
  assert.equal(new Set(CATALOG.map((row) => row.gold)).size, 25);
  assert.equal(new Set(CATALOG.map(formId)).size, 25);
  assert.equal(new Set(CATALOG.map((row) => formId(row).split("/")[0])).size, 8);
  assert.ok(HELDOUT_FORMS.every((form) => CATALOG.some((row) => formId(row) === form)));
  assert.equal(formTitle({ gold: "x", path: "/a/nda-submission-form" }), "Nda submission form");
});

test("gold rows are told by the page's labels", () => {
  const row = { name: "Ann", reference: { name: "Bo", other: 1 }, "Highest Education Level": "PhD", Industry: "PhD" };
  assert.deepEqual(goldFields("professional-business/membership-application", row), {
    ...{ "Full Name": "Ann", "Reference Name": "Bo", "Reference Email": "" },
    ...{ "Highest Education Level": "Doctorate", Industry: "PhD" },
  });
  const [form, plain] = ["tech-software/bug-report", { name: "x", list: ["a", "b"], n: 3, yes: false }];
  assert.deepEqual(goldFields(form, plain), plain);
  assert.throws(() => goldFields(form, { Odd: { a: 1 } }), /bug-report: Odd: .* is no value of a form/);
});
