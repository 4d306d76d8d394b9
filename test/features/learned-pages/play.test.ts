import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openForm } from "./form-site.js";

/** A form whose script blanks one person's name once, as a mask does that is drawn late on a busy machine. */
const PAGE = `<!doctype html><title>Guest</title><form method="post" action="/send">
<p><label>Guest <input name="guest" id="guest"></label></p><p><label>Room <input name="room"></label></p>
<button>Book</button></form>
<script>
let drawn = false;
guest.oninput = () => {
  if (drawn || guest.value !== "Dee Moss") return;
  drawn = true;
  setTimeout(() => { guest.value = "(___)"; }, 0);
};
</script>`;

const TASKS = [
  { Guest: "Ann Lee", Room: "Garden" },
  { Guest: "Bo Berg", Room: "Harbour" },
  { Guest: "Cy Dunn", Room: "Tower" },
  { Guest: "Dee Moss", Room: "Attic" },
];

let site: Awaited<ReturnType<typeof openForm>>;
before(async () => {
  site = await openForm("guest", TASKS, PAGE, (sent) => `<h1>${sent.get("guest") === "" ? "no" : "yes"}</h1>`);
});
after(() => site?.close());

test("what a late script has blanked is typed once more", async () => {
  assert.equal((await site.policy("oracle", 3)).reward, 1);
  assert.equal(site.received.at(-1)?.get("guest"), "Dee Moss");
});
