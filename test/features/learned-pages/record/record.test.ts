import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { BrowserHost } from "../../../../src/env/browser/browser.js";
import type { FormsEnvironment } from "../../../../src/env/environments/forms.js";
import type { Contracts } from "../../../../src/features/learned-pages/contracts.js";
import { runsIn } from "../../../../src/features/learned-pages/record/spec.js";
import { recordPeople } from "../../../../src/features/learned-pages/record/window.js";
import { openForm } from "../form-site.js";

/**
 * A page of things that a search does not find: two labels under one key, a value over two boxes, a prefilled box whose
 * state counts keys, a frame, a closed shadow root, a later part behind a button, and a body in base64.
 */
const ODD = `<!doctype html><title>Move</title>
<p><label>Home phone <input id="h"></label> <label>Work phone <input id="w"></label></p>
<p>Postcode <input id="p1" aria-label="Postcode"> <input id="p2" aria-label="second half"></p>
<p><label>Nickname <input id="n" value="Buster"></label></p>
<iframe id="f" srcdoc="<label>Note <input id=note></label>"></iframe>
<x-city style="display:block;width:200px"></x-city>
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
go.onclick = () => { later.hidden = false; go.hidden = true; };
ok.onclick = async () => {
  const note = f.contentDocument.getElementById("note").value, city = document.querySelector("x-city").box.value;
  const all = { phone: [h.value, w.value], zip: { a: p1.value, b: p2.value }, n: n.value, note, city, fl: fl.value, pets: pe.checked };
  const body = btoa(JSON.stringify(all)).replace(/=/g, "").replace(/\\+/g, "-");
  say.textContent = await (await fetch("/send", { method: "POST", body })).text();
};
</script>`;

const PEOPLE = [
  {
    "Home phone": "511 1234",
    "Work phone": "733 9876",
    Postcode: "SW1A 2AA",
    Nickname: "",
    Note: "Ring twice",
    City: "Bergen",
    Floor: "Second",
    Pets: true,
  },
  {
    "Home phone": "622 4455",
    "Work phone": "944 1212",
    Postcode: "M1 1AE",
    Nickname: "Lu",
    Note: "Back door",
    City: "Porto",
    Floor: "First",
    Pets: false,
  },
  {
    "Home phone": "377 9090",
    "Work phone": "288 6767",
    Postcode: "EH8 9YL",
    Nickname: "Ace",
    Note: "No dogs",
    City: "Turku",
    Floor: "Top",
    Pets: true,
  },
];

const steps = ([home, work, one, two, nick, note, city, code]: string[]): string => `test('test', async ({ page }) => {
  await page.goto('http://127.0.0.1/');
  await page.getByRole('textbox', { name: 'Home phone' }).fill('${home}');
  await page.getByRole('textbox', { name: 'Work phone' }).fill('${work}');
  await page.getByRole('textbox', { name: 'Postcode' }).fill('${one}');
  await page.getByRole('textbox', { name: 'second half' }).fill('${two}');
  await page.getByRole('textbox', { name: 'Nickname' }).fill('${nick}');
  await page.locator('#f').contentFrame().getByRole('textbox', { name: 'Note' }).fill('${note}');
  await page.locator('x-city').click();
  await page.keyboard.type('${city}');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByLabel('Floor').selectOption('${code}');
  await page.getByRole('button', { name: 'Move in' }).click();
});`;

/**
 * Codegen may write a step as it was afterwards: a tick behind a name, an index of what it brought,
 * a class that it set. It writes a click on a label twice, as the browser clicks the box, too.
 */
const RECORDING = `import { test, expect } from '@playwright/test';
${steps(["511 1234", "733 9876", "SW1A", "2AA", "", "Ring twice", "Bergen", "9"])
  .replace("'Continue'", "'Continue \u2713'")
  .replace(
    "  await page.locator('x-city')",
    `  await page.getByText('Pets').click();
  await page.getByRole('checkbox', { name: 'Pets' }).click();
  await page.locator('x-city')`,
  )
  .replace("('Floor')", "('Floor').nth(4)")}
${steps(["622 4455", "944 1212", "M1", "1AE", "Lu", "Back door", "Porto", "7"])
  .replace("('Floor')", "('Floor').nth(4)")
  .replace(
    "  await page.locator('x-city')",
    "  await page.locator('.is-chosen').click();\n  await page.locator('x-city')",
  )}`;

const folder = mkdtempSync(join(tmpdir(), "record-"));
const decode = join(folder, "decode.mjs");
writeFileSync(
  decode,
  "export default ({ body }) => JSON.parse(Buffer.from(body.replace(/-/g, '+'), 'base64').toString());\n",
);
let odd: Awaited<ReturnType<typeof openForm>>;
before(async () => {
  const accepts = (sent: URLSearchParams): boolean => {
    const text = [...sent.keys()][0] ?? "";
    return JSON.parse(Buffer.from(text.replace(/-/g, "+"), "base64").toString()).city !== "";
  };
  const answer = (sent: URLSearchParams) =>
    accepts(sent) ? { status: 200, html: "Welcome" } : { status: 422, html: "No city" };
  odd = await openForm("odd", PEOPLE, ODD, answer, 0, {}, { decode });
});
after(async () => {
  await odd?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Makes the contract of a form from a test's source. */
async function recorded(site: typeof odd, source: string): Promise<void> {
  const env: FormsEnvironment = site.env;
  const runs = runsIn(source, "form.spec.ts", env.tasks);
  await (env.contracts as Contracts).record(site.task(0), await env.runner(), runs);
}

test("a recording makes a contract of what a search does not find, and a third person wins by it", async () => {
  await recorded(odd, RECORDING);
  const { fields, not_learned, steps, recorded: isRecorded, refused } = odd.contract();
  assert.deepEqual(not_learned, {});
  assert.equal(isRecorded, true);
  assert.deepEqual(refused, ["status 422"]);
  assert.deepEqual(steps, [{ locator: "getByRole('button', { name: 'Continue' })", nth: 0 }]);
  assert.equal(fields.Floor?.step, 1);
  assert.deepEqual([fields["Home phone"]?.wire?.nth, fields["Work phone"]?.wire?.nth], [0, 1]);
  assert.deepEqual(fields.Postcode?.wire, {
    key: "zip.a",
    notation: { as: "pieces", keys: ["zip.a", "zip.b"], between: " " },
  });
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

test("people are recorded in a window; a form that saves each field is judged at its end", async () => {
  const people = ["MV Havbris", "Santa Rita", "Nordlys"].map((Vessel, i) => ({ Vessel, Crew: 14 + i }));
  const site = await openForm("saves", people, SAVES, () => "closed");
  const host = new BrowserHost({ headless: true });
  try {
    const file = join(folder, "saves.spec.ts");
    await recordPeople(await host.browser(), site.env.site, site.env.tasks, file, async (page, panel, { fields }) => {
      for (const [label, value] of Object.entries(fields)) {
        await page.getByLabel(label).click();
        await page.keyboard.type(String(value));
      }
      await page.getByText("Close").click();
      await page.waitForTimeout(500);
      assert.ok(await panel.getByText(String(fields.Vessel)).isVisible());
      await panel.getByText("I have sent it").click();
    });
    await recorded(site, readFileSync(file, "utf8"));
    const { saves, fields, request } = site.contract();
    assert.deepEqual(saves, ["/draft/*"]);
    assert.equal(fields.Crew?.wire?.key, "before /draft/* c");
    assert.deepEqual(request, { method: "POST", path: "/close/*" });
    assert.equal((await site.policy("oracle", 2)).reward, 1);
    const { reward } = await site.env.play(
      site.task(2),
      async () => ({ text: "fill Vessel | Nordlys\nsubmit" }),
      new Map(),
    );
    assert.ok((reward as number) < 0.6);
  } finally {
    await host.close();
    await site.close();
  }
});
