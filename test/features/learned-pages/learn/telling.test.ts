import assert from "node:assert/strict";
import { test } from "node:test";
import type { Exchange } from "../../../../src/env/browser/network/exchange.js";
import { featuresOf } from "../../../../src/env/forms/answer.js";
import { telling, withoutValues } from "../../../../src/features/learned-pages/learn/telling.js";

const answered = (status: number, text: string, url = "http://site/send"): Exchange => ({
  method: "POST",
  url: "http://site/send",
  how: "script",
  owner: "page",
  posted: [],
  routine: false,
  phase: "submit",
  answer: { status, contentType: "", text, url },
});

test("what tells accepted from refused is what differs, whatever it says", () => {
  const tell = (yes: Exchange, no: Exchange): string[] => telling([featuresOf(yes), featuresOf(yes)], [featuresOf(no)]);
  assert.deepEqual(tell(answered(201, '{"id": 1}'), answered(422, '{"errors": {}}')), ["status 201"]);
  assert.deepEqual(tell(answered(303, "", "http://site/thanks"), answered(303, "", "http://site/form?e=1")), [
    "leads to /thanks",
    "leads to /thanks",
  ]);
  assert.deepEqual(tell(answered(200, '{"r": "ok"}'), answered(200, '{"r": "nee"}')), ["json r = ok"]);
  assert.deepEqual(tell(answered(200, "<p>Kiitos!</p>"), answered(200, "<p>Nimi puuttuu</p>")), ["says Kiitos!"]);
});

test("what a person's values bring about tells nothing", () => {
  const features = featuresOf(answered(200, "<p>Thanks</p><p>Dear Ann Lee</p>"));
  assert.deepEqual(withoutValues(features, { Name: "Ann Lee" }), ["status 200", "says Thanks"]);
});

test("where nothing is refused any answer of the status is a yes; where all is alike nothing is", () => {
  const same = featuresOf(answered(200, "ok"));
  assert.deepEqual(telling([same], []), ["status 200"]);
  assert.deepEqual(telling([same], [same]), []);
});
