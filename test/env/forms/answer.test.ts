import assert from "node:assert/strict";
import { test } from "node:test";
import type { Exchange } from "../../../src/env/browser/network/exchange.js";
import { featuresOf, holdsOwn, ownFeatures, telling, withoutValues, writtenIn } from "../../../src/env/forms/answer.js";

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

test("what a plan wrote is no evidence, in whole, in parts, cut or in markup", () => {
  const says = (text: string, ...written: string[]): boolean => holdsOwn(text, "All done", writtenIn(written, []));
  for (const [text, ...written] of [
    ["You wrote: all  DONE.", "All done"],
    ["Name: All done", "All", "done"],
    ["All done", "<b>All</b> done"],
    ["Nothing of it", "x"],
    ["(All done and more)", "All done and more"],
  ] as const)
    assert.ok(!says(text, ...written), text);
  for (const [text, ...written] of [
    ["All done", "x"],
    ["All done. You wrote: All done", "You wrote: All done"],
    ["All done", "a", "l", "e"],
    ["All done", "done"],
    ["All done. Dear All done and more", "All done and more"],
  ] as const)
    assert.ok(says(text, ...written), text);
  assert.deepEqual(writtenIn(["All done and more"], [["note", "All done"]]).includes("All done"), true);
  const features = ["status 200", "json data.note = ok", "json result = ok", "says OK", "says OK then"];
  assert.deepEqual(ownFeatures(features, ["ok"], [["note", "ok"]]), ["status 200", "json result = ok", "says OK then"]);
});
