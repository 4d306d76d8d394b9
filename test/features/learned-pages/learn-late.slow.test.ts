import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openForm } from "./form-site.js";

const PAGE = `<!doctype html><title>Parcel</title><form method="post" action="/send">
<p><label>Sender <input name="sender"></label></p>
<p><label>Weight <input name="weight"></label></p>
<p><label><input type="checkbox" name="fragile"> Fragile</label></p>
<button>Send it</button></form>`;

const TASKS = [
  { Sender: "Ann Lee", Weight: 12, Fragile: true },
  { Sender: "Bo Fernandez", Weight: 340, Fragile: false },
  { Sender: "Chidi Okoro", Weight: 75, Fragile: true },
];

let site: Awaited<ReturnType<typeof openForm>>;
before(async () => {
  const answer = (sent: URLSearchParams): string => `<h1>${sent.get("sender") === "" ? "nein" : "ja"}</h1>`;
  site = await openForm("parcel", TASKS, PAGE, answer, 1500);
});
after(() => site?.close());

test("a form whose server answers late is sent once, and learned and played all the same", async () => {
  const { reward, detail } = await site.policy("oracle", 1);
  assert.equal(reward, 1);
  assert.equal(detail.accepted, true);
  const before = site.received.length;
  assert.equal((await site.policy("oracle", 2)).reward, 1);
  assert.equal(site.received.length, before + 1);
});
