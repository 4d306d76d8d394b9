import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { closing } from "../../src/core/closing.js";
import { openRunner, servePages, taskFor } from "./page-site.js";

const file = (name: string): string =>
  readFileSync(createRequire(import.meta.url).resolve(`flatpickr/dist/flatpickr.min.${name}`), "utf8");
/** A form that a script creates, with a calendar that listens to every click. */
const PAGE = `<style>${file("css")}</style><form id=f method=post></form><button form=f>Submit</button><script>${file("js")}</script>
<script>
const add = (type, name, label, value) => {
  const input = Object.assign(document.createElement("input"), { type, name, value: value ?? "" });
  const group = document.createElement("div");
  group.append(Object.assign(document.createElement("label"), { textContent: label }), input);
  return group;
};
f.addEventListener("submit", (event) => {
  event.preventDefault();
  fetch(location.href, { method: "POST", body: new FormData(f) }).then((r) => r.json()).then((d) => alert(d.message));
});
const date = add("text", "b", "Birth");
setTimeout(() => flatpickr(date.lastChild, { dateFormat: "Y-m-d", allowInput: true }));
const choice = document.createElement("div");
choice.append(Object.assign(document.createElement("label"), { textContent: "Gender" }), add("radio", "g", "Male", "Male"), add("radio", "g", "Female", "Female"));
f.append(add("text", "n", "Name"), date, choice);
</script>`;
const FIELDS = { Name: "Nathan", Birth: "1946/11/20", Gender: "Female" };

// on such a page a tab of Chromium crashed at the submit, after a search for listeners in the whole document
test("what a policy gets wrong is scored, and never a fault", async () => {
  await using site = await servePages({ "/form": PAGE });
  await using runner = closing(await openRunner(site));
  const plans = [
    "fill Name | Nathan\nselect Gender | Gender\nsubmit",
    "fill Name | Nathan\nselect Gender | None\nfill Birth | 1946/11/0\nsubmit",
    "fill Name | Nathan\nfill Birth | soon\nselect Gender | Neither\nfill Name | Nat\nsubmit",
  ];
  for (const plan of plans) {
    const { fault, reward } = await runner.run(taskFor("/form", FIELDS), plan);
    assert.equal(fault, undefined, plan);
    assert.ok(reward > 0 && reward < 1, `${plan}: ${reward}`);
  }
});
