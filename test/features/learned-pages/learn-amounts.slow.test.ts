import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openForm } from "./form-site.js";

/**
 * A form with an amount that takes a decimal comma and drops points; one whose two last digits stand behind a fixed
 * point; a tree in a window with closed branches, whose leaves say that they are closed, too; two lists of boxes with
 * buttons between them.
 */
const PAGE = `<!doctype html><title>Order</title><style>#tree { position: absolute; background: #eee } .pair { display: flex }</style>
<form method="post" action="/send">
<p><label>Buyer <input name="buyer"></label></p>
<p><label>Price <input id="price"></label></p>
<p><label>Deposit <input id="deposit" value="0,00"></label></p>
<div><span id="l">Account</span> <div id="pick" role="combobox" aria-labelledby="l" aria-haspopup="tree" tabindex="0" style="border:1px solid;width:200px;height:24px">none</div><ul id="tree" role="tree" hidden></ul></div>
<div><span>Extras</span><div class="transfer"><div class="pair"><div id="from"></div><div><button type="button" disabled>&lt;</button><button type="button" id="move" disabled>&gt;</button></div><div id="to"></div></div></div></div>
<button>Order it</button></form>
<script>
const form = document.forms[0];
price.oninput = () => { price.value = price.value.replace(/[^\\d,]/g, ""); };
deposit.oninput = () => {
  const digits = deposit.value.replace(/\\D/g, "").replace(/^0+/, "").padStart(3, "0");
  deposit.value = digits.slice(0, -2) + "," + digits.slice(-2);
};
let account = "";
const open = new Set();
const BRANCHES = { Office: ["Paper", "Postage"], Works: ["Steel", "Paint"] };
const item = (text, closed) => "<li role=treeitem aria-label=" + text + " aria-expanded=" + !closed + "><button type=button class=toggle tabindex=-1>+</button><span>" + text + "</span></li>";
const draw = () => {
  tree.innerHTML = Object.entries(BRANCHES).map(([name, leaves]) => item(name, !open.has(name)) + (open.has(name) ? leaves.map((leaf) => item(leaf, true)).join("") : "")).join("");
};
draw();
pick.onclick = () => { tree.hidden = !tree.hidden; };
tree.onclick = (e) => {
  const name = e.target.closest("li").ariaLabel;
  if (e.target.matches(".toggle")) { if (name in BRANCHES) { open.add(name); draw(); } return; }
  if (name in BRANCHES) return;
  account = pick.textContent = name;
  tree.hidden = true;
};
const names = ["Gift wrap", "Card", "Insurance"];
from.innerHTML = names.map((name, i) => "<label style=display:block><input type=checkbox value=" + i + "><span>" + name + "</span></label>").join("");
from.onchange = () => { move.disabled = from.querySelector(":checked") === null; };
move.onclick = () => {
  for (const box of from.querySelectorAll(":checked")) { box.checked = false; to.append(box.closest("label")); }
  move.disabled = true;
};
form.onformdata = (e) => {
  e.formData.set("price", price.value.replace(",", "."));
  e.formData.set("deposit", deposit.value.replace(",", "."));
  e.formData.set("account", account.slice(0, 3));
  for (const box of to.querySelectorAll("input")) e.formData.append("extras", "x" + box.value);
};
</script>`;

const TASKS = [
  { Buyer: "Ann Lee", Price: 1250.5, Deposit: 99.9, Account: "Postage", Extras: ["Card"] },
  { Buyer: "Bo Berg", Price: 89.95, Deposit: 12.5, Account: "Steel", Extras: ["Gift wrap", "Insurance"] },
  { Buyer: "Cy Dunn", Price: 16400, Deposit: 300, Account: "Paint", Extras: ["Gift wrap", "Card", "Insurance"] },
];

let site: Awaited<ReturnType<typeof openForm>>;
before(async () => {
  site = await openForm("order", TASKS, PAGE, (sent) => `<h1>${sent.get("buyer") === "" ? "no" : "yes"}</h1>`);
});
after(() => site?.close());

test("amounts with a comma or a fixed point, leaves of closed branches and lists with boxes are learned", async () => {
  for (const i of [0, 1, 2]) assert.equal((await site.policy("oracle", i)).reward, 1);
  const { fields, not_learned: missing } = site.contract();
  assert.deepEqual(missing, {});
  assert.equal(fields.Price?.variant.by, "comma");
  assert.equal(fields.Deposit?.variant.by, "hundredths");
  assert.equal(site.received.at(-1)?.get("price"), "16400");
});
