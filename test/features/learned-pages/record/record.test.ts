import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Page } from "playwright";
import { BrowserHost } from "../../../../src/env/browser/browser.js";
import type { Task } from "../../../../src/env/site.js";
import type { Contracts } from "../../../../src/features/learned-pages/contracts.js";
import { recordingOf } from "../../../../src/features/learned-pages/record/recording.js";
import { runsIn } from "../../../../src/features/learned-pages/record/spec.js";
import { recordPeople } from "../../../../src/features/learned-pages/record/window.js";
import { temporaryFolder } from "../../../support/temporary.js";
import { openForm } from "../form-site.js";

/**
 * A page of things that a search does not find: two labels under one key, a value over two boxes, a prefilled box whose
 * state counts keys, a frame, a closed shadow root, a list for arrow keys alone, a later part, and a body in base64.
 */
const ODD = `<!doctype html><title>Move</title>
<p><label>Home phone <input id="h"></label> <label>Work phone <input id="w"></label></p>
<p>Postcode <input id="p1" aria-label="Postcode"> <input id="p2" aria-label="second half"></p>
<p><label>Nickname <input id="n" value="Buster"></label></p>
<iframe id="f" srcdoc="<label>Note <input id=note></label>"></iframe>
<x-city style="display:block;width:200px"></x-city>
<p><span id="co" role="combobox" tabindex="0" aria-label="Door">-</span><span id="cl" hidden><i role="option">Red</i><i role="option">Blue</i><i role="option">Green</i></span></p>
<p><label>Pets <input type="checkbox" id="pe"></label></p><p><button id="go">Continue</button></p>
<div id="later" hidden><label>Floor <select id="fl"><option value="">-</option><option value="7">First</option><option value="9">Second</option><option value="4">Top</option></select></label>
<button id="ok">Move in</button></div><p id="say"></p>
<script>
customElements.define("x-city", class extends HTMLElement {
  constructor() {
    super();
    this.box = Object.assign(document.createElement("input"), { style: "width:100%" });
    this.attachShadow({ mode: "closed" }).append("City", this.box);
  }
});
const step = () => [...cl.children].forEach((one, i, { length }) => { one.ariaSelected = String(i === co.tabIndex % length); });
co.onkeydown = ({ key }) => { if (key === "Enter") co.textContent = cl.querySelector("[aria-selected=true]").textContent; if (key === "ArrowDown") { cl.hidden = false; step(); co.tabIndex++; } };
go.onclick = () => { later.hidden = false; go.hidden = true; };
ok.onclick = async () => {
  const note = f.contentDocument.getElementById("note").value, city = document.querySelector("x-city").box.value;
  const all = { phone: [h.value, w.value], zip: { a: p1.value, b: p2.value }, n: n.value, door: co.textContent, note, city, fl: fl.value, pets: pe.checked };
  const body = btoa(JSON.stringify(all)).replace(/=/g, "").replace(/\\+/g, "-");
  say.textContent = await (await fetch("/send", { method: "POST", body })).text();
};
</script>`;

const LABELS = ["Home phone", "Work phone", "Postcode", "Nickname", "Note", "City", "Floor", "Pets", "Door"];
const PEOPLE = [
  ["511 1234", "733 9876", "SW1A 2AA", "", "Ring twice", "Bergen", "Second", true, "Green"],
  ["622 4455", "944 1212", "M1 1AE", "Lu", "Back door", "Porto", "First", false, "Red"],
  ["377 9090", "288 6767", "EH8 9YL", "Ace", "No dogs", "Turku", "Top", true, "Blue"],
].map((values) => Object.fromEntries(values.map((value, i) => [LABELS[i], value])));

const steps = ([home, work, one, two, nick, note, city, no, n]: string[]): string => `test('test', async ({ page }) => {
  await page.goto('http://127.0.0.1/');
  await page.getByRole('textbox', { name: 'Home phone' }).fill('${home}');
  await page.getByRole('textbox', { name: 'Work phone' }).fill('${work}');
  await page.getByRole('textbox', { name: 'Postcode' }).fill('${one}');
  await page.getByRole('textbox', { name: 'second half' }).fill('${two}');
  await page.getByRole('textbox', { name: 'Nickname' }).fill('${nick}');
  await page.locator('#f').contentFrame().getByRole('textbox', { name: 'Note' }).fill('${note}');
  ${"await page.getByRole('combobox', { name: 'Door' }).press('ArrowDown');".repeat(Number(n))}
  await page.getByRole('combobox', { name: 'Door' }).press('Enter');
  await page.locator('x-city').click();
  await page.keyboard.type('${city}');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByLabel('Floor').selectOption('${no}');
  await page.getByRole('button', { name: 'Move in' }).press('Enter');
  await page.getByRole('button', { name: 'Move in' }).click();
  await expect(page.getByText('Welcome')).toBeVisible();
});`;

/**
 * Codegen may write a step as it was afterwards: a tick behind a name, an index of what it brought,
 * a class that it set. It writes a click on a label twice, as the browser clicks the box, too.
 */
const pets = "getByText('Pets').click();\n  await page.getByRole('checkbox', { name: 'Pets' }).click();";
const RECORDING = `import { test, expect } from '@playwright/test';
${steps(["511 1234", "733 9876", "SW1A", "2AA", "", "Ring twice", "Bergen", "9", "3"])
  .replace("'Continue'", "'Continue \u2713'")
  .replace("locator('x-city')", `${pets}\n  await page.locator('x-city')`)}
${steps(["622 4455", "944 1212", "M1", "1AE", "Lu", "Back door", "Porto", "7", "1"]).replace(
  "locator('x-city')",
  "locator('.is-chosen').click();\n  await page.locator('x-city')",
)}`.replaceAll("('Floor')", "('Floor').nth(4)");

/** Two pages of a server; the ids of the first one differ at each visit. */
const TWO = (i: number): string =>
  `<!doctype html><title>1</title><form method="post" action="/next"><label>Name <input name="name" id="n${i}"></label> <label>Town <input name="town" id="t${i}"></label> <button>Next</button></form>`;
const SECOND = `<!doctype html><title>2</title><form method="post" action="/send"><label>Note <input name="note"></label> <button>Send</button></form>`;
const VISITORS = [
  { Name: "Ann Lee", Town: "Oslo", Note: "No dogs" },
  { Name: "Bo Berg", Town: "Turku", Note: "Ring twice" },
];
const twice = (find: (label: string) => string) =>
  VISITORS.map(
    ({ Name, Town, Note }) => `test('test', async ({ page }) => {
  await page.goto('/');
  await page.${find("Name")}.fill('${Name}');
  await page.${find("Town")}.fill('${Town}');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByLabel('Note').fill('${Note}');
  await page.getByRole('button', { name: 'Send' }).click();
  await expect(page.getByText('Thank you')).toBeVisible();
});`,
  ).join("\n");

test("a form over two pages of the server, and ids that differ at each visit, are refused with the next step", async () => {
  let visits = 0;
  const answer = (sent: URLSearchParams): string => (sent.has("name") ? SECOND : "Thank you");
  const site = await openForm("two", VISITORS, () => TWO(visits++), answer);
  const { tasks } = site.env;
  const shown = async (source: string) =>
    recordingOf(await site.env.runner(), runsIn(source, "two.spec.ts", tasks), tasks, () => undefined);
  after(() => site.close());
  await assert.rejects(shown(twice((label) => `getByLabel('${label}')`)), {
    message: /^two\.spec\.ts:6: this statement is on a further page of the server, .* to \/next/,
    hint: /environment\.kind: pages/,
  });
  const ids = twice((label) => `locator('#${label[0]?.toLowerCase()}-77')`).replace(/.*(?:Note|Send).*\n/g, "");
  await assert.rejects(shown(ids), { message: /^two\.spec\.ts: no step of the recording enters a value/ });
  assert.equal(site.received.length, 0);
});

const folder = temporaryFolder("record");
const decode = join(folder, "decode.mjs");
writeFileSync(
  decode,
  "export default ({ body }) => JSON.parse(Buffer.from(body.replace(/-/g, '+'), 'base64').toString());\n",
);
const accepts = (sent: URLSearchParams): boolean => {
  const text = [...sent.keys()][0] ?? "";
  return JSON.parse(Buffer.from(text.replace(/-/g, "+"), "base64").toString()).city !== "";
};
const answer = (sent: URLSearchParams) =>
  accepts(sent) ? { status: 200, html: "Welcome" } : { status: 422, html: "No city" };
const odd = await openForm("odd", PEOPLE, ODD, answer, { decode });
after(() => odd.close());

/** Makes the contract of a form from a test's source. */
async function recorded({ env, task }: typeof odd, source: string): Promise<void> {
  const runs = runsIn(source, "form.spec.ts", env.tasks);
  await (env.contracts as Contracts).record(task(0), await env.runner(), runs);
}

test("a recording makes a contract of what a search does not find, and a third person wins by it", async () => {
  await recorded(odd, RECORDING);
  const { fields, not_proved, steps, success, recorded: isRecorded } = odd.contract();
  assert.deepEqual([not_proved, isRecorded, success], [{}, true, { text: "Welcome" }]);
  assert.deepEqual(steps, [{ locator: "getByRole('button', { name: 'Continue' })", nth: 0 }]);
  assert.equal(fields.Floor?.step, 1);
  assert.deepEqual([fields["Home phone"]?.wire?.nth, fields["Work phone"]?.wire?.nth], [0, 1]);
  const pieces = { as: "pieces", keys: ["zip.a", "zip.b"], between: " " };
  assert.deepEqual(fields.Postcode?.wire, { key: "zip.a", notation: pieces });
  for (const i of [0, 1, 2]) assert.equal((await odd.policy("oracle", i)).reward, 1);
  for (const name of ["empty", "submit-only"]) assert.ok(((await odd.policy(name, 2)).reward as number) <= 0.05);
});

/** A page that saves each field by itself, under an address that differs each time; its button only closes the record. */
const SAVES = `<!doctype html><title>Inspection</title><form><label>Vessel <input id="v"></label> <label>Crew <input id="c"></label> <button>Close</button></form>
<script>
const id = Math.random().toString(36).slice(2);
const send = (path, method, data) => fetch(path + id, { method, body: JSON.stringify(data) });
for (const e of [v, c]) { let t; e.oninput = () => { clearTimeout(t); t = setTimeout(() => send("/draft/", "PATCH", { [e.id]: e.value }), 300); }; }
document.forms[0].onsubmit = (e) => { e.preventDefault(); send("/close/", "POST", {}); };
</script>`;

/**
 * A page whose list goes when an option is pressed, before its click; the option brings a field, as a frame does that is
 * loaded; a button adds rows that are drawn anew for each key.
 */
const ROWS = `<!doctype html><title>Load</title><form method="post" action="/send"><label>Load <input name="load"></label>
<p id="l">By</p><button type="button" id="by" aria-labelledby="l">Choose</button><input type="hidden" name="by"><div id="frame"></div>
<div id="rows"></div><button type="button" id="add">Add a driver</button><button>Send</button></form><script>
by.onclick = () => {
  const list = document.createElement("ul");
  for (const name of ["Rail", "Road"]) {
    const item = Object.assign(document.createElement("li"), { textContent: name, role: "option" });
    item.onpointerdown = () => {
      document.getElementsByName("by")[0].value = by.textContent = name;
      list.remove();
      setTimeout(() => { frame.innerHTML = name === "Road" ? "" : '<label>Platform <input name="platform"></label>'; }, 300);
    };
    list.append(item);
  }
  by.after(list);
};
const all = [""];
const draw = () => { rows.innerHTML = all.map((text, i) => '<p><input placeholder="Driver" name="drivers.' + i + '" value="' + text + '"></p>').join(""); };
rows.oninput = ({ target: { name, value } }) => {
  all[name.slice(8)] = value;
  draw();
  document.getElementsByName(name)[0].focus();
};
add.onclick = () => { all.push(""); draw(); };
draw();
</script>`;

/** Records two people in a window, and makes the contract. @param fill enters a task's values. */
async function shown(site: typeof odd, fill: (page: Page, fields: Task["fields"]) => Promise<void>): Promise<void> {
  const host = new BrowserHost({ headless: true });
  try {
    const file = join(folder, "shown.spec.ts");
    await recordPeople(await host.browser(), site.env.site, site.env.tasks, file, async (page, panel, { fields }) => {
      await fill(page, fields);
      await page.waitForTimeout(500);
      assert.ok(await panel.getByText(String(Object.values(fields)[0])).isVisible());
      await panel.getByText("I have sent it").click();
    });
    await recorded(site, readFileSync(file, "utf8"));
  } finally {
    await host.close();
  }
}

test("a click on what goes before it, a field that another brings, and rows are recorded in a window", async () => {
  const people = [
    ["Sand", "Rail", "A1", ["Ann"]],
    ["Coal", "Road", "", ["Bo", "Cy"]],
    ["Milk", "Rail", "B2", ["Di", "Ed", "Fay"]],
  ].map(([Load, By, Platform, Driver]) => ({ Load, By, Platform, Driver }));
  const site = await openForm("rows", people, ROWS, (sent) => (sent.get("load") ? "yes" : { status: 422, html: "no" }));
  after(() => site.close());
  await shown(site, async (page, { Load, By, Platform, Driver }) => {
    await page.getByLabel("Load").fill(String(Load));
    await page.getByText("Choose").click();
    await page.getByRole("option", { name: String(By) }).click();
    if (Platform !== "") await page.getByLabel("Platform").fill(String(Platform));
    for (const [i, driver] of [Driver].flat().entries()) {
      if (i > 0) await page.getByText("Add a driver").click();
      await page.getByPlaceholder("Driver").nth(i).fill(String(driver));
    }
    await page.getByText("Send").click();
  });
  const { fields, not_proved } = site.contract();
  assert.deepEqual([not_proved, fields.Driver?.wire?.key], [{}, "drivers.#"]);
  assert.ok(Object.values(fields).every(({ way }) => way === "recorded"));
  assert.equal((await site.policy("oracle", 2)).reward, 1);
});

test("a form that saves each field is judged at its end", async () => {
  const people = ["MV Havbris", "Santa Rita", "Nordlys"].map((Vessel, i) => ({ Vessel, Crew: 14 + i }));
  const site = await openForm("saves", people, SAVES, () => "closed", { saves: ["/draft/*"] });
  after(() => site.close());
  await shown(site, async (page, fields) => {
    for (const [label, value] of Object.entries(fields)) {
      await page.getByLabel(label).click();
      await page.keyboard.type(String(value));
    }
    await page.getByText("Close").click();
  });
  const { saves, fields, request } = site.contract();
  assert.deepEqual(saves, ["/draft/*"]);
  assert.equal(fields.Crew?.wire?.key, "before /draft/* c");
  assert.deepEqual(request, { method: "POST", path: "/close/*" });
  assert.equal((await site.policy("oracle", 2)).reward, 1);
  const act = async () => ({ text: "fill Vessel | Nordlys\nsubmit" });
  assert.ok(((await site.env.play(site.task(2), act, new Map())).reward as number) < 0.6);
});
