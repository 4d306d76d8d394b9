import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright";
import { Hold } from "../../../src/features/agent/hold.js";
import { type PageSite, servePages } from "../../env/page-site.js";
import { testBrowser } from "../../support/page.js";
import { filled } from "./filled.js";

const browser = await testBrowser();

/** Saves each field half a second after its last change, as `PATCH /draft`; looks cities up, and sends all by POST. */
const SAVES = `<form><label>Name <input name="name"></label><label>City <input name="city"></label><button>Go</button></form>
  <script>const form = document.forms[0];
  for (const field of form.querySelectorAll("input")) { let timer; field.addEventListener("input", () => { clearTimeout(timer);
    timer = setTimeout(() => fetch("/draft", { method: "PATCH", body: field.name + "=" + field.value }).then(() => (window.saved = true)), 500);
    if (field.name === "city") fetch("/cities?q=" + field.value); }); }
  form.onsubmit = (e) => { e.preventDefault(); fetch("/send", { method: "POST", body: "all" }); };</script>`;
const VALUES = { Name: "Ines Meyer", City: "Kiel" };

const fill = (page: Page) => filled(page, VALUES);

const writes = ({ received }: PageSite): string[] =>
  received.flatMap(({ method, url, body }) => (method === "GET" ? [] : [`${method} ${url} ${body}`]));

describe("what a page sends while it is filled in", () => {
  const open = async (site: PageSite, path = "/"): Promise<Page> => {
    const page = await browser.newPage();
    await page.goto(site.baseUrl + path);
    return page;
  };
  const all = ["PATCH /draft name=Ines Meyer", "PATCH /draft city=Kiel", "POST /send all"];

  it("is held, but for lookups, which are reported; a click lets it go, in its order", async () => {
    await using site = await servePages({ "/": SAVES });
    const page = await open(site);
    const { sent } = await fill(page);
    assert.deepEqual(sent, [`GET ${site.baseUrl}/cities?q=Kiel`]);
    await page.evaluate(() => new Promise((done) => setTimeout(done, 600)));
    assert.deepEqual(writes(site), []);
    await Promise.all([page.waitForResponse("**/send"), page.getByRole("button").click()]);
    assert.deepEqual([writes(site).at(-1), writes(site).sort()], [all[2], [...all].sort()]);
    // no hold is left
    const saved = page.waitForResponse((answer) => answer.request().postData() === "city=Bergen");
    await Promise.all([saved, page.fill("[name=city]", "Bergen")]);
    assert.equal(writes(site).at(-1), "PATCH /draft city=Bergen");
  });

  it("lets a form go that a click sends, as a document", async () => {
    const form = `<form method="post" action="/send"><label>Name <input name="name"></label><label>City <input name="city"></label><button>Go</button></form>`;
    await using site = await servePages({ "/": form });
    const page = await open(site);
    await fill(page);
    await page.getByRole("button").click();
    await page.waitForURL("**/send");
    assert.deepEqual(writes(site), ["POST /send name=Ines+Meyer&city=Kiel"]);
  });

  it("is held as long as nobody touches the page, again after a second filling in, and until it is released", async () => {
    await using site = await servePages({ "/": SAVES });
    const page = await open(site);
    await fill(page);
    const { held } = await fill(page);
    await page.evaluate(() => document.forms[0]?.requestSubmit());
    await page.evaluate(() => new Promise((done) => setTimeout(done, 600)));
    assert.deepEqual([writes(site), held], [[], [`PATCH ${site.baseUrl}/draft`].slice(0, held.length)]);
    await Hold.release(page);
    assert.deepEqual(new Set(writes(site)), new Set(all));
  });

  it("tells what a link prefetches meanwhile, and holds it afterwards", async () => {
    const prefetch = (name: string): string =>
      `form.${name}.oninput = () => document.body.append(Object.assign(document.createElement("link"), { rel: "prefetch", href: "/p?" + form.${name}.value }));`;
    await using site = await servePages({ "/": `${SAVES}<script>${prefetch("name")}</script>` });
    const page = await open(site);
    const { sent } = await fill(page);
    const fetched = (): string[] => site.received.flatMap(({ url }) => (url.startsWith("/p?") ? [url] : []));
    assert.ok(
      fetched().every((url) => sent.includes(`GET ${site.baseUrl}${url}`)),
      `${fetched()} but ${sent}`,
    );
    const before = fetched().length;
    await page.evaluate(`form.name.value = "typed later"; form.name.oninput()`);
    await page.waitForTimeout(600);
    assert.equal(fetched().length, before);
    await Promise.all([page.waitForResponse("**/send"), page.getByRole("button").click()]);
  });

  it("does not keep the page's user from going on", async () => {
    await using site = await servePages({
      "/": `${SAVES}<a href="/next">On</a><script>form.addEventListener("input", () => setTimeout(() => (location.href = "/gone?" + form.name.value), 600))</script>`,
      "/next": "<h1>Next</h1>",
    });
    const byHand = (page: Page) => page.goto(`${site.baseUrl}/next`);
    for (const go of [byHand, (page: Page) => page.getByText("On").click()]) {
      const page = await open(site);
      await fill(page);
      await page.evaluate(() => new Promise((done) => setTimeout(done, 700)));
      assert.equal(page.url(), `${site.baseUrl}/`);
      await go(page);
      await page.getByRole("heading", { name: "Next" }).waitFor();
    }
    const page = await open(site);
    await fill(page);
    await page.reload();
    assert.equal(await page.inputValue("[name=name]"), "");
    assert.ok(site.received.every(({ url }) => !url.startsWith("/gone")));
  });
});
