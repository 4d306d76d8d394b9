import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { servePages } from "../../env/page-site.js";
import { started } from "./clients.js";

const FORM = `<form method="post" action="/take"><label>Guest Name <input name="guest"></label><button>Book</button></form>`;
const LOOP = "for (;;) {}";
const PAGES = {
  "/form": FORM,
  "/loads": `${FORM}<script>${LOOP}</script>`,
  "/input": `${FORM}<script>document.forms[0].guest.oninput = () => { ${LOOP} };</script>`,
  "/later": `${FORM}<script>document.forms[0].guest.oninput = () => setTimeout(() => { ${LOOP} }, 500);</script>`,
  "/press": `${FORM}<script>document.forms[0].onsubmit = (e) => { e.preventDefault(); fetch("/take", { method: "POST", body: "guest=x" }); setTimeout(() => { ${LOOP} }, 200); };</script>`,
  "/hangs": FORM.replace("/take", "/never"),
};

describe("refusion-train mcp, where a page does not answer", async () => {
  const call = async (name: string, path: string): Promise<{ isError: boolean; text: string; ms: number }> => {
    const url = site.baseUrl + path;
    const begun = performance.now();
    const args = name === "fill_form" ? { url, values: { "Guest Name": "Ines Meyer" } } : { url };
    const { content, isError } = await client.callTool({ name, arguments: args });
    const [{ text }] = content as [{ text: string }];
    return { isError: isError === true, text, ms: performance.now() - begun };
  };
  const posts = (): string[] => site.received.flatMap(({ method, url }) => (method === "POST" ? [url] : []));
  const site = await servePages(PAGES, ({ url }) => url === "/never" || url === "/silent");
  const client = await started("--origin", site.baseUrl);
  after(() => client.close());
  after(() => site.stop());
  const isWell = async (): Promise<void> => {
    const { isError, text } = await call("fill_form", "/form");
    assert.deepEqual([isError, /Ines Meyer/.test(text)], [false, true], text);
  };

  for (const [path, name] of [
    ["/loads", "read_form"],
    ["/silent", "read_form"],
    ["/input", "fill_form"],
  ] as const)
    it(`gives up ${path}, and answers the next call`, async () => {
      const { isError, text } = await call(name, path);
      assert.deepEqual([isError, /has not answered|Timeout/.test(text)], [true, true], text);
      await isWell();
    });

  it("gives up a page that hangs between two calls", async () => {
    await call("fill_form", "/later");
    assert.equal((await call("submit_form", "/later")).isError, true);
    assert.deepEqual(posts(), []);
    await isWell();
  });

  it("reports a form as sent, once, whose page hangs after it, or whose server does not answer", async () => {
    for (const [path, target] of [
      ["/press", "/take"],
      ["/hangs", "/never"],
    ] as const) {
      await call("fill_form", path);
      site.received.length = 0;
      const { isError, text } = await call("submit_form", path);
      assert.equal(isError, false, text);
      assert.equal(JSON.parse(text).sent.url, site.baseUrl + target);
      assert.match((await call("submit_form", path)).text, /No page of .* is open/);
      assert.deepEqual(posts(), [target]);
    }
    await isWell();
  });
});
