import assert from "node:assert/strict";
import { test } from "node:test";
import { using } from "../page-site.js";

test("a page that takes too much memory ends alone, and by name", { skip: process.platform !== "linux" }, async () => {
  const fill = (each: string): string =>
    `<script>const all = []; setInterval(() => { for (let i = 0; i < 4; i++) ${each}; }, 20);</script>`;
  const pages = { "/buffers": fill("all.push(new Uint8Array(5e7).fill(7))"), "/small": "<p>small</p>" };
  await using(pages, { contexts: 2 }, async (runner) => {
    const visit = (path: string) =>
      runner.converse(async (session) => {
        await session.goto(path);
        await session.page.waitForTimeout(path === "/small" ? 100 : 60_000);
        return "open";
      }, 90_000);
    const bomb = await visit("/buffers");
    assert.match("fault" in bomb ? bomb.fault : "", /took more than \d+ MB of memory/);
    const small = await visit("/small");
    assert.equal("result" in small && small.result, "open");
  });
});
