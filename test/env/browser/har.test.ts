import assert from "node:assert/strict";
import { it } from "node:test";
import { closing } from "../../../src/core/closing.js";
import { BrowserHost } from "../../../src/env/browser/browser.js";
import { HarRecorder } from "../../../src/env/browser/har.js";
import { servePages } from "../page-site.js";

it("keeps no header that may hold a secret, of requests and answers", async () => {
  const secret = "s3cr3t-of-this-test";
  const names = ["authorization", "x-api-key", "x-csrf-token", "x-anything", "api-key"];
  const secrets = Object.fromEntries(names.map((name) => [name, secret]));
  await using site = await servePages({}, ({ url }, response) => {
    response.writeHead(200, {
      ...{ "content-type": "text/html", "set-cookie": `a=${secret}; HttpOnly`, "www-authenticate": secret },
      ...{ "x-session": secret, etag: secret, refresh: `1000;url=/?${secret}`, link: `</?${secret}>; rel=next` },
    });
    response.end(url === "/" ? "<!doctype html><title>Here</title>" : "answered");
    return true;
  });
  await using host = closing(new BrowserHost({ headless: true }));
  const context = await (await host.browser()).newContext({ extraHTTPHeaders: secrets });
  await context.addCookies([{ name: "session", value: secret, url: site.baseUrl }]);
  const recorder = new HarRecorder(context, () => undefined);
  // as an episode does: a routed request shows its cookies
  await context.route("**", (route) => route.continue());
  const page = await context.newPage();
  await page.goto(site.baseUrl);
  await page.evaluate((headers) => fetch("/send", { method: "POST", body: "n=Ann", headers }), secrets);
  const { log } = await recorder.end();
  assert.ok(site.received.every(({ headers }) => headers["x-api-key"] === secret));
  assert.ok(site.received.every(({ cookie }) => cookie?.includes(secret)));
  assert.equal(log.entries.length, 2);
  const text = JSON.stringify(log);
  assert.ok(!text.includes(secret), text);
  // what Playwright replays is there
  assert.match(text, /"name":"content-type","value":"text\/html"/);
});
