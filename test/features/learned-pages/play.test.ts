import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openForm } from "./form-site.js";

/** A form whose script blanks one person's name once, as a mask does that is drawn late, and uploads a file. */
const PAGE = `<!doctype html><title>Guest</title><form method="post" action="/send">
<p><label>Guest <input name="guest" id="guest"></label></p><p><label>Room <input name="room"></label></p>
<p><label for="photo">Photo</label> <input type="file" id="photo"><input type="hidden" name="token" id="token"></p>
<button>Book</button></form>
<script>
photo.onchange = async () => {
  await fetch("/upload", { method: "POST", body: new URLSearchParams({ part: 1 }) });
  token.value = "t/" + photo.files[0].name;
};
let drawn = false;
guest.oninput = () => {
  if (drawn || guest.value !== "Dee Moss") return;
  drawn = true;
  setTimeout(() => { guest.value = "(___)"; }, 0);
};
</script>`;

const TASKS = [
  { Guest: "Ann Lee", Room: "Garden", Photo: "dent.jpg" },
  { Guest: "Bo Berg", Room: "Harbour", Photo: "roof.png" },
  { Guest: "Cy Dunn", Room: "Tower", Photo: "bike.gif" },
  { Guest: "Dee Moss", Room: "Attic", Photo: "gate.pdf" },
];

const site = await openForm("guest", TASKS, PAGE, (sent) => `<h1>${sent.get("guest") === "" ? "no" : "yes"}</h1>`);
after(() => site.close());

test("what a late script has blanked is typed once more, and an upload is waited for", async () => {
  assert.equal((await site.policy("oracle", 3)).reward, 1);
  const actual = ["guest", "token"].map((key) => site.received.at(-1)?.get(key));
  assert.deepEqual(actual, ["Dee Moss", "t/gate.pdf"]);
  assert.deepEqual(site.contract().fields.Photo?.wire, { key: "token", notation: { as: "part", of: "t/{Photo}" } });
});
