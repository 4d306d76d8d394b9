import assert from "node:assert/strict";
import { test } from "node:test";
import { TIERS } from "../../../src/env/site.js";
import { FORMS, formOf } from "../../../src/features/embedded/catalog.js";
import { type FieldSpec, field } from "../../../src/features/embedded/fields.js";
import { fieldsOf, formOfFields, pathOf } from "../../../src/features/embedded/form.js";
import { formPage, indexPage } from "../../../src/features/embedded/pages.js";

const count = (text: string, part: string): number => text.split(part).length - 1;

test("each page shows its fields' labels and controls, and loads nothing from elsewhere", async () => {
  for (const form of FORMS) {
    for (const tier of TIERS) {
      const page = String(await formPage(form, tier));
      assert.ok(page.includes(`<form method="post" action="${pathOf(form, tier)}"`), form.id);
      assert.doesNotMatch(page, /https?:\/\//);
      assert.doesNotMatch(page, /\[object|undefined/);
      if (form.scripted) continue;
      for (const field of fieldsOf(form, tier)) {
        assert.ok(page.includes(field.label), `${form.id} ${field.label}`);
        const controls = field.kind === "radio" || field.kind === "checkbox-group" ? (field.options?.length ?? 0) : 1;
        assert.equal(count(page, `name="${field.name}"`), controls, `${form.id} ${field.label}`);
      }
    }
  }
});

test("a scripted form's page is empty but for its script", async () => {
  const page = String(await formPage(formOf("events/open-stage"), "full"));
  assert.match(page, /data-config="\/events\/open-stage\/form-config" aria-busy="true"><\/form>/);
  assert.match(page, /<script src="\/static\/form.js" defer>/);
});

test("controls hold their defaults, limits and requirements", async () => {
  const two = { One: "1", Two: "2" };
  const fields: Record<string, FieldSpec> = {
    Open: { kind: "select", name: "s1", of: two },
    Set: { kind: "select", name: "s2", of: two, preset: "Two" },
    Box: { kind: "checkbox", name: "c1", preset: true, required: true },
    Many: { kind: "number", name: "n1", of: [2, 9], preset: 4 },
    Pick: { kind: "radio", name: "r1", of: { Left: "l", Right: "r" }, required: true, preset: "Right" },
    Aria: { kind: "text", name: "t1", of: "given", labelling: "aria", star: true },
    Wrapped: { kind: "text", name: "t2", of: "given", labelling: "wrap" },
    Headed: { kind: "select", name: "s3", of: { One: "1" }, labelling: "heading" },
  };
  const specs = Object.entries(fields).map(([label, spec]) => field(label, spec));
  const sample = formOfFields("a/b-c", { title: "Sample", intro: "Text", encoding: "multipart" }, specs);
  const page = String(await formPage(sample, "full"));
  for (const part of [
    'action="/a/b-c" enctype="multipart/form-data"',
    '<label for="c-s1">Open</label><select id="c-s1" name="s1"><option value="">Choose one</option>',
    'name="s2"><option value="1">One</option><option value="2" selected>Two</option>',
    '<input type="checkbox" name="c1" checked required>',
    'type="number" id="c-n1" name="n1" value="4" min="2" max="9" step="1"',
    '<input type="radio" name="r1" value="l" required>Left',
    '<input type="radio" name="r1" value="r" checked>Right',
    'Aria *</span><input type="text" name="t1" aria-label="Aria">',
    '<label>Wrapped<input type="text" name="t2"></label>',
    '<h4>Headed</h4><select name="s3">',
  ])
    assert.ok(page.includes(part), part);
});

test("whatever a form says is text on its page, never markup", async () => {
  const evil = `<script>alert("x")</script>'&`;
  const choice = { [evil]: evil };
  const specs: FieldSpec[] = [
    { kind: "text", name: "t1", of: "given", preset: evil, labelling: "aria" },
    { kind: "textarea", name: "t2", preset: evil },
    { kind: "checkbox-group", name: "g1", of: choice },
    { kind: "select", name: "s1", of: choice, labelling: "heading" },
    { kind: "checkbox", name: "c1" },
  ];
  const fields = specs.map((spec) => field(evil, spec));
  const sample = formOfFields("a/b-c", { title: evil, intro: evil }, fields);
  for (const page of [String(await formPage(sample, "full")), String(await indexPage([sample]))]) {
    assert.ok(!page.includes("<script>"));
    assert.doesNotMatch(page, /="[^"]*<script/);
    assert.ok(page.includes("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&#39;&amp;"));
  }
});
