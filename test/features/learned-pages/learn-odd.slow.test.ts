import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openForm } from "./form-site.js";

/**
 * A form with a label that is bare text; a date that is erased on blur unless it has the field's notation; a refusal by
 * an unmarked message; a window with a confirm button; a list that is sent under numbered keys.
 */
const PAGE = `<!doctype html><title>Stay</title><form method="post" action="/send">
<p><label>Guest <input name="guest"></label></p>
<p>Board <label><input type="radio" name="board" value="b1"> Half</label> <label><input type="radio" name="board" value="b2"> Full</label>
 <label><input type="radio" name="board" value="b3"> None</label></p>
<div><label for="day">Arrival</label> <input id="day" name="day"> <b id="no"></b></div>
<div id="wish"><span>Wishes</span> <button type="button" id="w" style="min-width:9em">-</button></div>
<button>Book</button></form>
<script>
const typed = /^\\d\\d\\.\\d\\d\\.\\d{4}$/;
day.onblur = () => { if (!typed.test(day.value)) day.value = ""; };
document.forms[0].onsubmit = () => { no.textContent = day.value === "" ? "falta" : ""; return day.value !== ""; };
w.onclick = () => {
  const box = document.createElement("div"), chosen = new Set();
  for (const name of ["Crib", "Desk", "View"]) {
    const item = Object.assign(document.createElement("div"), { role: "option", textContent: name });
    item.setAttribute("role", "option");
    item.onclick = () => { chosen.add(name); item.style.fontWeight = "bold"; };
    box.append(item);
  }
  const button = (text, act) => box.append(Object.assign(document.createElement("button"), { type: "button", textContent: text, onclick: act }));
  button("Zurück", () => box.remove());
  button("Übernehmen", () => {
    for (const old of document.querySelectorAll("[name^=wish]")) old.remove();
    [...chosen].forEach((name, i) => wish.append(Object.assign(document.createElement("input"), { type: "hidden", name: "wish[" + i + "]", value: name })));
    w.textContent = [...chosen].join(", ");
    box.remove();
  });
  document.body.append(box);
};
</script>`;

const TASKS = [
  { Guest: "Ann Lee", Board: "Full", Arrival: "2026-03-05", Wishes: ["Crib"] },
  { Guest: "Bo Fernandez", Board: "None", Arrival: "2027-11-28", Wishes: ["Desk", "View"] },
  { Guest: "Chidi Okoro", Board: "Half", Arrival: "2026-07-14", Wishes: ["Crib", "Desk", "View"] },
];

let site: Awaited<ReturnType<typeof openForm>>;
before(async () => {
  site = await openForm("stay", TASKS, PAGE, (sent) =>
    sent.get("guest") === "" ? "<title>x</title><h1>nein</h1>" : "<title>y</title><h1>ja</h1>",
  );
});
after(() => site?.close());

const reward = async (policy: string, i: number): Promise<number | null> => (await site.policy(policy, i)).reward;

test("a form is learned though its page says nothing that a machine could read", async () => {
  for (const i of [0, 1, 2]) assert.equal(await reward("oracle", i), 1);
  assert.deepEqual(
    [...(site.received.at(-1)?.keys() ?? [])].filter((key) => key.startsWith("wish")),
    ["wish[0]", "wish[1]", "wish[2]"],
  );
  const { fields, not_learned: missing } = site.contract();
  assert.deepEqual(missing, {});
  assert.deepEqual(fields.Arrival?.wire, { key: "day", notation: { as: "day" } });
  assert.deepEqual(fields.Board?.wire?.notation, { as: "codes", codes: { Full: "b2", None: "b3", Half: "b1" } });
  assert.equal(fields.Wishes?.wire?.key, "wish[#]");
});

test("what knows nothing earns nothing there", async () => {
  assert.equal(await reward("empty", 0), 0);
  assert.ok(((await reward("submit-only", 0)) ?? 1) <= 0.05);
});
