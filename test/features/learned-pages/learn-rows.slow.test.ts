import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openForm } from "./form-site.js";

/** A form with rows that a button adds, in which Enter sends the form; a time with a list for its half of the day. */
const PAGE = `<!doctype html><title>Call</title><form method="post" action="/send">
<p><label>Host <input name="host"></label></p>
<p>Participants</p><div id="rows"></div><p><button type="button" id="add">Add participant</button></p>
<p><label>Topics <input name="topics"></label></p>
<div><span><label>Begins at <input id="at" pattern="(1[0-2]|[1-9]):[0-5][0-9]"></label></span><select id="half"><option>AM</option><option>PM</option></select></div>
<button>Invite them</button></form>
<script>
add.onclick = () => {
  const row = document.createElement("p");
  row.innerHTML = '<input name="who" aria-label="Participant ' + (rows.children.length + 1) + '"> <button type="button">x</button>';
  row.lastChild.onclick = () => row.remove();
  rows.append(row);
};
document.forms[0].onformdata = (e) => {
  const [h, m] = at.value.split(":");
  if (m) e.formData.set("at", (+h % 12) + (half.value === "PM" ? 12 : 0) + ":" + m);
};
</script>`;

const TASKS = [
  { Host: "Ann Lee", Participants: ["kim@lee.example"], Topics: "Budget of the year", "Begins at": "14:30" },
  {
    Host: "Bo Berg",
    Participants: ["rosa@berg.example", "tom@berg.example"],
    Topics: "Holidays",
    "Begins at": "09:15",
  },
  {
    Host: "Cy Dunn",
    Participants: ["ada@dunn.example", "ben@dunn.example", "yu@dunn.example"],
    Topics: "Strike",
    "Begins at": "16:45",
  },
];

let site: Awaited<ReturnType<typeof openForm>>;
before(async () => {
  site = await openForm("call", TASKS, PAGE, (sent) => `<h1>${sent.get("host") === "" ? "no" : "yes"}</h1>`);
});
after(() => site?.close());

test("each item of a list is written into a row that a button adds; a list takes the half of the day", async () => {
  for (const i of [0, 1, 2]) assert.equal((await site.policy("oracle", i)).reward, 1);
  assert.equal(site.contract().fields.Participants?.way, "rows");
  assert.deepEqual(site.received.at(-1)?.getAll("who"), TASKS[2]?.Participants);
});
