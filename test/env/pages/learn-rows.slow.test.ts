import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openForm } from "./form-site.js";

/** A form with rows that a button adds, in which Enter sends the form. */
const PAGE = `<!doctype html><title>Call</title><form method="post" action="/send">
<p><label>Host <input name="host"></label></p>
<p>Participants</p><div id="rows"></div><p><button type="button" id="add">Add participant</button></p>
<p><label>Topics <input name="topics"></label></p>
<button>Invite them</button></form>
<script>
add.onclick = () => {
  const row = document.createElement("p");
  row.innerHTML = '<input name="who" aria-label="Participant ' + (rows.children.length + 1) + '"> <button type="button">x</button>';
  row.lastChild.onclick = () => row.remove();
  rows.append(row);
};
</script>`;

const TASKS = [
  { Host: "Ann Lee", Participants: ["kim@lee.example"], Topics: "Budget of the year" },
  { Host: "Bo Berg", Participants: ["rosa@berg.example", "tom@berg.example"], Topics: "Holidays" },
  { Host: "Cy Dunn", Participants: ["ada@dunn.example", "ben@dunn.example", "yu@dunn.example"], Topics: "Strike" },
];

let site: Awaited<ReturnType<typeof openForm>>;
before(async () => {
  site = await openForm("call", TASKS, PAGE, (sent) => `<h1>${sent.get("host") === "" ? "no" : "yes"}</h1>`);
});
after(() => site?.close());

test("each item of a list is written into a row that a button adds", async () => {
  for (const i of [0, 1, 2]) assert.equal((await site.policy("oracle", i)).reward, 1);
  assert.equal(site.contract().fields.Participants?.way, "rows");
  assert.deepEqual(site.received.at(-1)?.getAll("who"), TASKS[2]?.Participants);
});
