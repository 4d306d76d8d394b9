import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { Page } from "playwright";
import { writeContract } from "../../../src/features/learned-pages/contract.js";
import { type FilledField, loadAgent } from "../../../src/index.js";
import { servePages } from "../../env/page-site.js";
import { testBrowser } from "../../support/page.js";
import { temporaryFolder } from "../../support/temporary.js";

const browser = await testBrowser();

/** A telephone box whose state knows keys alone: it shows what is set, until it has the focus. */
const KEYS = `<form id="f"><label>Name <input id="nm"></label><label>Phone <input id="ph" placeholder="____"></label><button>Call</button></form>
<script>let st = ""; const show = () => (ph.value = st.padEnd(4, "_")); ph.onfocus = () => show();
ph.onkeydown = (e) => { if (/^[0-9]$/.test(e.key)) { if (st.length < 4) st += e.key; e.preventDefault(); show(); } else if (e.key === "Backspace" || e.key === "Delete") { st = ""; e.preventDefault(); show(); } else if (e.key.length === 1 && !e.ctrlKey) e.preventDefault(); };</script>`;

/** Names that are taken over a while after each is left, by one timer; the button is disabled until both are there. */
const LATE = `<form id="f"><label>First name <input id="a"></label><label>Last name <input id="b"></label><button disabled>Go</button></form>
<script>const st = {}; let timer; for (const e of [a, b]) e.addEventListener("blur", () => { clearTimeout(timer); timer = setTimeout(() => { st[e.id] = e.value; f.querySelector("button").disabled = !(st.a && st.b); }, 150); });</script>`;

const DEAD = `<form><label>First name <input required></label><label>Note <input></label><button disabled>Go</button></form>`;

/** Controls that are not the form's, or that cannot be filled in. */
const MANY = `<form><label>Search <input name="q"></label></form><form><label>Name <input name="name"></label>
<label>Code <input name="code" disabled></label><iframe src="/card"></iframe><x-closed label="Plate"></x-closed><button>Go</button></form>
<script>customElements.define("x-closed", class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: "closed" }).innerHTML = "<input>"; } });</script>`;

/** A list whose button has neither a role nor a label of its own, as a library draws it. */
const LIST = `<form><label>Name <input name="name"></label><div class="row"><span>Size</span><div class="box"><div class="now" tabindex="0">Choose</div></div></div><button>Go</button></form>
<ul id="list" hidden></ul><script>const now = document.querySelector(".now"), texts = ["Small", "Large"];
now.onmousedown = () => { list.hidden = false; list.replaceChildren(...texts.map((t) => { const li = Object.assign(document.createElement("li"), { textContent: t }); li.onclick = () => { now.textContent = t; list.hidden = true; }; return li; })); };</script>`;

/** A scale: a question a row, an answer a column. */
const SCALE = `<form><table><tr><td></td><th>Good</th><th>Fair</th><th>Poor</th></tr>${["Food", "Service"].map((row) => `<tr><th>${row}</th>${[1, 2, 3].map((i) => `<td><input type="radio" name="${row}" value="${i}"></td>`).join("")}</tr>`).join("")}</table><button>Go</button></form>`;

const CONTRACT = writeContract({
  ...{
    form: "size",
    url: "/list",
    submit: { locator: "button", nth: 0 },
    steps: [],
    confirm: [],
    sends_within_ms: 1000,
  },
  ...{ not_proved: {}, request: { method: "POST", path: "/list" } },
  fields: Object.fromEntries(
    ["Size", "Later"].map((label) => [
      label,
      {
        ...{ locator: `field="${label}"`, nth: 0, way: "open-pick", variant: { by: "control" }, kind: "text" as const },
        ...{ step: 0, default: "", hand: false },
      },
    ]),
  ),
});

const contracts = temporaryFolder("contracts");
writeFileSync(join(contracts, "size.yaml"), CONTRACT);
const overrides = ["runtime.provider=cpu", "runtime.threads=1"];
const agent = await loadAgent({ model: "models/tiny-refusion-template", overrides, contracts });
after(() => agent.close());
const site = await servePages({
  ...{ "/keys": KEYS, "/late": LATE, "/dead": DEAD, "/many": MANY, "/list": LIST, "/scale": SCALE },
  "/card": `<label>Card number <input name="card"></label>`,
});
after(() => site.stop());

describe("an agent on a whole page", () => {
  const open = async (path: string): Promise<Page> => {
    const page = await browser.newPage();
    await page.goto(site.baseUrl + path);
    return page;
  };
  const faults = (fields: readonly FilledField[]): unknown[] => fields.map(({ label, fault }) => [label, fault]);

  const checked = "[...document.querySelectorAll(':checked')].map((e) => e.name + e.value)";
  for (const [what, path, values, held, expected] of [
    ["enters a value that a box takes by keys alone", "/keys", { Name: "Ann Lee", Phone: "0112" }, "st", "0112"],
    [
      "enters values that a page takes over one at a time, so that its button works",
      ...(["/late", { "First name": "Ann", "Last name": "Lee" }, "st", { a: "Ann", b: "Lee" }] as const),
    ],
    [
      "answers a scale by the heads of its columns",
      ...(["/scale", { Food: "Poor", Service: "Good" }, checked, ["Food3", "Service1"]] as const),
    ],
  ] as const)
    it(what, async () => {
      const page = await open(path);
      const { fields, disabledButton } = await agent.fill(page, values);
      assert.deepEqual(faults(fields), faults(Object.keys(values).map((label) => ({ label }))));
      assert.equal(disabledButton, undefined);
      assert.deepEqual(await page.evaluate(held), expected);
    });

  it("does not report as entered what leaves the button disabled, unless a required field is empty", async () => {
    for (const [values, fault] of [
      [{ "First name": "Ann", Note: "none" }, "unconfirmed"],
      [{ Note: "none" }, undefined],
    ] as const) {
      const { fields, disabledButton } = await agent.fill(await open("/dead"), values);
      assert.deepEqual([fields.find(({ label }) => label === "Note")?.fault, disabledButton], [fault, "Go"]);
    }
  });

  it("names the controls that it leaves out, with the reason", async () => {
    const { leftOut } = await agent.fill(await open("/many"), { Name: "Ann Lee" });
    assert.deepEqual(leftOut, [
      { label: "Search", reason: "in another form" },
      { label: "Code", reason: "disabled" },
      { label: "Card number", reason: "in a frame" },
      { label: "Plate", reason: "in a closed shadow root" },
    ]);
  });

  it("operates a field as its contract says, and names it where it was not asked for", async () => {
    const page = await open("/list");
    const { fields } = await agent.fill(page, { Name: "Ann Lee", Size: "Large" });
    assert.deepEqual(faults(fields), faults([{ label: "Name" }, { label: "Size" }]));
    assert.equal(await page.locator(".now").textContent(), "Large");
    const { fields: others, leftOut } = await agent.fill(await open("/list"), { Name: "Ann Lee" });
    assert.equal(others.map(({ label }) => label).join(), "Name,Size");
    assert.deepEqual(leftOut, [{ label: "Later", reason: "not shown yet" }]);
  });
});
