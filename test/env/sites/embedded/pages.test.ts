import assert from "node:assert/strict";
import { test } from "node:test";
import { TIERS } from "../../../../src/env/site.js";
import { FORMS, formOf } from "../../../../src/env/sites/embedded/catalog.js";
import * as f from "../../../../src/env/sites/embedded/fields.js";
import { fieldsOf, form, pathOf } from "../../../../src/env/sites/embedded/form.js";
import { options } from "../../../../src/env/sites/embedded/options.js";
import { formPage, indexPage } from "../../../../src/env/sites/embedded/pages.js";
import { given } from "../../../../src/env/sites/embedded/values.js";

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
  const sample = form(
    "a/b-c",
    "Sample",
    "Text",
    [],
    [
      f.select("Open", "s1", options("One=1", "Two=2")),
      f.select("Set", "s2", options("One=1", "Two=2"), { preset: "Two" }),
      f.check("Box", "c1", { preset: true, required: true }),
      f.number("Many", "n1", 2, 9, { preset: 4 }),
      f.radio("Pick", "r1", options("Left=l", "Right=r"), { required: true, preset: "Right" }),
      f.text("Aria", "t1", given, { labelling: "aria", star: true }),
      f.text("Wrapped", "t2", given, { labelling: "wrap" }),
      f.select("Headed", "s3", options("One=1"), { labelling: "heading" }),
    ],
    { encoding: "multipart" },
  );
  const page = String(await formPage(sample, "full"));
  assert.ok(page.includes('action="/a/b-c" enctype="multipart/form-data"'));
  assert.ok(
    page.includes('<label for="c-s1">Open</label><select id="c-s1" name="s1"><option value="">Choose one</option>'),
  );
  assert.ok(page.includes('name="s2"><option value="1">One</option><option value="2" selected>Two</option>'));
  assert.ok(page.includes('<input type="checkbox" name="c1" checked required>'));
  assert.ok(page.includes('type="number" id="c-n1" name="n1" value="4" min="2" max="9" step="1"'));
  assert.ok(page.includes('<input type="radio" name="r1" value="l" required>Left'));
  assert.ok(page.includes('<input type="radio" name="r1" value="r" checked>Right'));
  assert.ok(page.includes('Aria *</span><input type="text" name="t1" aria-label="Aria">'));
  assert.ok(page.includes('<label>Wrapped<input type="text" name="t2"></label>'));
  assert.ok(page.includes('<h4>Headed</h4><select name="s3">'));
});

test("whatever a form says is text on its page, never markup", async () => {
  const evil = `<script>alert("x")</script>'&`;
  const sample = form(
    "a/b-c",
    evil,
    evil,
    [],
    [
      f.text(evil, "t1", given, { preset: evil, labelling: "aria" }),
      f.area(evil, "t2", { preset: evil }),
      f.group(evil, "g1", [{ text: evil, value: evil }]),
      f.select(evil, "s1", [{ text: evil, value: evil }], { labelling: "heading" }),
      f.check(evil, "c1"),
    ],
  );
  for (const page of [String(await formPage(sample, "full")), String(await indexPage([sample]))]) {
    assert.ok(!page.includes("<script>"));
    assert.doesNotMatch(page, /="[^"]*<script/);
    assert.ok(page.includes("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&#39;&amp;"));
  }
});
