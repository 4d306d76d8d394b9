import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openForm } from "./form-site.js";

/**
 * A form in a window that a button opens, with a moment in five parts, the day before the month, each of which passes
 * the focus on when it is full; a tree whose branches are closed; hours that are sent as minutes; a label that
 * is a custom element; a day that has to be typed, while Escape closes the window.
 */
const PAGE = `<!doctype html><title>Claim</title><button onclick="claim.showModal()">New claim</button>
<dialog id="claim"><form method="post" action="/send">
<p><label>Holder <input name="holder"></label></p>
<div role="group" aria-labelledby="l"><span id="l">Time of the accident</span> <span id="parts"></span><input type="hidden" name="at"></div>
<p><span id="t">Part</span> <button type="button" id="part" aria-labelledby="t p"><span id="p">-</span></button><input type="hidden" name="part"></p>
<p><label>Hours lost <input id="hours"></label><input type="hidden" name="minutes"></p>
<p><label>Paid by <input id="day" placeholder="DD.MM.YYYY"></label><input type="hidden" name="day"></p>
<p><x-label for="to">Paid to</x-label> <input id="to" name="to"></p>
<button>Claim</button></form></dialog>
<script>
customElements.define("x-label", class extends HTMLElement {
  constructor() {
    super();
    this.attachShadow({ mode: "open" }).innerHTML = '<slot></slot><i style="display:inline-block;width:9px;height:9px"></i>';
  }
});
day.onkeyup = ({ key }) => { if (key === "Tab" || /^\\d\\d\\.\\d\\d\\.\\d{4}$/.test(day.value)) document.querySelector("[name=day]").value = day.value; };
hours.onchange = () => { document.querySelector("[name=minutes]").value = hours.value * 60; };
part.onclick = () => {
  const list = document.createElement("ul");
  list.role = "tree";
  for (const [branch, leaves] of [["Drive", ["Belt", "Motor"]], ["Press", ["Stamp", "Valve"]]]) {
    const item = Object.assign(document.createElement("li"), { role: "treeitem", ariaLabel: branch });
    const toggle = Object.assign(document.createElement("button"), { type: "button", textContent: "+" });
    toggle.onclick = () => {
      if (item.ariaExpanded === "true") return;
      item.ariaExpanded = "true";
      for (const name of leaves) {
        const leaf = Object.assign(document.createElement("div"), { role: "treeitem", textContent: name });
        leaf.onclick = () => { p.textContent = name; document.querySelector("[name=part]").value = branch[0] + name.length; list.remove(); };
        item.append(leaf);
      }
    };
    item.append(toggle, branch);
    list.append(item);
  }
  claim.append(list);
};
const PARTS = [["Day", 31], ["Month", 12], ["Year", 9999], ["Hours", 23], ["Minutes", 59]];
const all = PARTS.map(([name, most]) => {
  const part = Object.assign(document.createElement("span"), { tabIndex: 0, textContent: "--", role: "spinbutton" });
  part.setAttribute("aria-label", name);
  part.setAttribute("aria-valuemax", most);
  parts.append(part, " ");
  return part;
});
all.forEach((part, i) => {
  const size = String(PARTS[i][1]).length;
  part.onfocus = () => { part.typed = ""; };
  part.onkeydown = ({ key }) => {
    if (!/^\\d$/.test(key)) return;
    part.typed += key;
    if (Number(part.typed) > PARTS[i][1]) part.typed = key;
    part.textContent = part.typed.padStart(size, "0");
    part.setAttribute("aria-valuenow", Number(part.typed));
    if (part.typed.length === size) all[i + 1]?.focus();
    const [d, m, y, h, min] = all.map(({ textContent }) => textContent);
    document.querySelector("[name=at]").value = [d, m, y, h, min].includes("--") ? "" : y + "-" + m + "-" + d + "T" + h + ":" + min + ":00";
  };
});
</script>`;

const TASKS = [
  {
    Holder: "Ann Lee",
    "Time of the accident": "2026-11-03 08:25",
    Part: "Valve",
    "Hours lost": 6,
    "Paid by": "2026-12-24",
    "Paid to": "Mills",
  },
  {
    Holder: "Bo Fernandez",
    "Time of the accident": "2026-10-19 17:40",
    Part: "Motor",
    "Hours lost": 2.5,
    "Paid by": "2027-01-09",
    "Paid to": "Harbour",
  },
  {
    Holder: "Chidi Okoro",
    "Time of the accident": "2026-12-11 13:05",
    Part: "Belt",
    "Hours lost": 12,
    "Paid by": "2026-11-30",
    "Paid to": "Garage",
  },
];

let site: Awaited<ReturnType<typeof openForm>>;
before(async () => {
  site = await openForm("claim", TASKS, PAGE, (sent) => `<h1>${sent.get("holder") === "" ? "nein" : "ja"}</h1>`);
});
after(() => site?.close());

test("parts of a moment, branches and units are found on the page that a button opens", async () => {
  for (const i of [0, 1, 2]) assert.equal((await site.policy("oracle", i)).reward, 1);
  const { fields, steps, not_learned: missing } = site.contract();
  assert.deepEqual(missing, {});
  assert.deepEqual(steps, [{ locator: 'role=button[name="New claim"s]', nth: 0 }]);
  assert.equal(fields["Time of the accident"]?.way, "segments");
  assert.equal(fields.Part?.way, "open-pick");
  assert.deepEqual(fields["Hours lost"]?.wire, { key: "minutes", notation: { as: "number", times: 60 } });
  assert.equal(fields["Paid to"]?.way, "fill");
  assert.ok(site.received.length < 12);
});
