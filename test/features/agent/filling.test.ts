import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright";
import { fieldsOf, withForm } from "../../../src/features/agent/filling.js";
import { servePages } from "../../env/page-site.js";
import { testBrowser } from "../../support/page.js";
import { filled } from "./filled.js";

const browser = await testBrowser();

/**
 * A list that a script draws, whose search box forgets what is typed; a switch; a slider; a field in a shadow root that is
 * named by its host; a field that takes a day only by keys and shows it in another notation; a search beside the form.
 */
const PAGE = `<!doctype html><title>Berth</title>
<form action="/search"><label>Search <input name="q"></label></form>
<form method="post" action="http://127.0.0.1:9/send">
<p><label>Skipper <input name="skipper"></label></p>
<div><label id="l1">Harbour</label> <span id="harbour" role="combobox" aria-labelledby="l1" tabindex="0">Choose</span></div>
<div><label for="boat">Boat</label> <input id="boat" role="combobox" aria-autocomplete="list"></div>
<div><span id="l2">Power</span> <span id="power" role="switch" aria-checked="false" aria-labelledby="l2" tabindex="0">off</span></div>
<div><span id="l3">Nights</span> <span id="nights" role="slider" aria-labelledby="l3" aria-valuenow="1" tabindex="0">1</span></div>
<x-field label="Call sign"></x-field>
<p><label>Arrival <input id="arrival" name="arrival"></label></p>
<button>Book</button></form>
<ul id="list" role="listbox" hidden></ul>
<script>
const open = (box, texts) => { list.hidden = false; list.replaceChildren(...texts.map((text) => {
  const li = Object.assign(document.createElement("li"), { textContent: text }); li.setAttribute("role", "option");
  li.onmousedown = (e) => { e.preventDefault(); if ("value" in box) { box.value = text; box.dataset.taken = text; } else box.textContent = text; list.hidden = true; }; return li; })); };
harbour.onclick = () => list.hidden ? open(harbour, ["Kiel", "Malmo", "Gdansk"]) : (list.hidden = true);
boat.oninput = () => open(boat, ["Sloop", "Ketch", "Yawl"].filter((t) => t.toLowerCase().startsWith(boat.value.toLowerCase())));
boat.onblur = () => { boat.value = boat.dataset.taken ?? ""; list.hidden = true; };
power.onclick = () => { const on = power.ariaChecked !== "true"; power.ariaChecked = on; power.textContent = on ? "on" : "off"; };
nights.onkeydown = (e) => { const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key] ?? 0; const now = Number(nights.ariaValueNow) + by; nights.ariaValueNow = now; nights.textContent = now; };
customElements.define("x-field", class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: "open" }).innerHTML = "<input>"; } });
arrival.onchange = (e) => { const m = /^(\\d\\d)\\.(\\d\\d)\\.(\\d{4})$/.exec(arrival.value); if (m === null) arrival.value = ""; };
arrival.placeholder = "DD.MM.YYYY (day first)";
</script>`;

const VALUES = {
  ...{ Skipper: "Ines Meyer", Harbour: "Malmo", Boat: "Ketch", Power: true, Nights: 4 },
  ...{ "Call sign": "DK-77", Arrival: "2026-07-09" },
};

async function open(content: string): Promise<{ page: Page; sent: string[] }> {
  const page = await browser.newPage();
  const sent: string[] = [];
  page.on("request", (request) => sent.push(request.url()));
  await page.setContent(content);
  return { page, sent };
}

async function fillsDrawn({ page, sent }: Awaited<ReturnType<typeof open>>): Promise<void> {
  const { records, labels } = await filled(page, VALUES);
  assert.deepEqual(
    records.map(({ action, fate }) => ["label" in action && action.label, fate]),
    Object.keys(VALUES).map((label) => [label, "done"]),
  );
  assert.deepEqual(labels, Object.keys(VALUES));
  const now = await page.evaluate(() => {
    const text = (id: string): string => document.getElementById(id)?.textContent ?? "";
    const value = (css: string): string => (document.querySelector(css) as HTMLInputElement).value;
    const shadow = document.querySelector("x-field")?.shadowRoot?.querySelector("input")?.value;
    const drawn = [text("harbour"), value("#boat"), text("power"), text("nights"), shadow];
    return [value("[name=skipper]"), ...drawn, value("#arrival")];
  });
  assert.deepEqual(now, ["Ines Meyer", "Malmo", "Ketch", "on", "4", "DK-77", "09.07.2026"]);
  assert.deepEqual(sent, []);
  assert.equal(await page.locator("[data-refusion-field]").count(), 0);
  // what held the form back has gone with the work
  await page.route("**/send", (route) => route.fulfill({ body: "sent" }));
  await Promise.all([page.waitForRequest("**/send"), page.getByRole("button", { name: "Book" }).click()]);
}

test("on a page that Playwright has looked into before, what the page draws itself is filled in by marks", async () => {
  const opened = await open(PAGE);
  await opened.page.getByRole("button", { name: "Book" }).waitFor();
  await fillsDrawn(opened);
});

test("what a page draws itself is filled in, until the page shows it when it is left; nothing is sent", async () => {
  await fillsDrawn(await open(PAGE));
});

test("lists are opened for their options where a text is read, and closed again", async () => {
  const { page } = await open(PAGE);
  const found = await withForm(page, [], (opened) => fieldsOf(opened, {}, true));
  const harbour = found.find(({ label }) => label === "Harbour");
  assert.deepEqual([harbour?.kind, harbour?.options.map(({ text }) => text)], ["select", ["Kiel", "Malmo", "Gdansk"]]);
  assert.equal(await page.locator("#list").isHidden(), true);
  assert.equal(await page.locator("#harbour").textContent(), "Choose");
});

test("no key, button or script sends the values meanwhile; one that no way puts in is told, and the rest is filled in", async () => {
  await using site = await servePages({
    "/": `<form method="post"><label>Name <input id="name"></label><label>City <input id="city"></label>
      <label>Tag <input id="tag" role="combobox"></label><button>Go</button></form>
      <script>tag.onblur = () => { tag.value = ""; };
      const send = () => fetch("/saved", { method: "POST", body: document.getElementById("name").value + " " + city.value }).catch(() => undefined);
      document.forms[0].oninput = send; document.onkeydown = (e) => { if (e.key === "Enter") send(); };</script>`,
  });
  const page = await browser.newPage();
  await page.goto(site.baseUrl);
  const { records, sent, held } = await filled(page, { Name: "Ann", City: "Kiel", Tag: "blue" }, 15_000);
  assert.equal(records.map(({ fate }) => fate).join(), "done,done,rejected");
  assert.equal(await page.inputValue("#name"), "Ann");
  const posts = (): string[] => site.received.filter(({ method }) => method === "POST").map(({ body }) => body);
  assert.deepEqual([posts(), sent, held], [[], [], [`POST ${site.baseUrl}/saved`]]);
  const [request] = await Promise.all([page.waitForRequest("**/saved"), page.locator("#city").press("Enter")]);
  assert.equal(request.postData(), "Ann Kiel");
});

test("the window that a form is in stays open, whatever keys are tried", async () => {
  const { page } = await open(`<!doctype html><div id="window" role="dialog"><form><label>Name <input id="name"></label>
    <label>Port <input id="port" role="combobox"></label></form></div>
    <script>document.addEventListener("keydown", (e) => { if (e.key === "Escape") document.getElementById("window").hidden = true; });</script>`);
  const { records } = await filled(page, { Name: "Ann", Port: "Kiel" }, 10_000);
  assert.equal(records[0]?.fate, "done");
  assert.equal(await page.locator("#window").isVisible(), true);
});
