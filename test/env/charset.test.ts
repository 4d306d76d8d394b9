import assert from "node:assert/strict";
import { test } from "node:test";
import { taskFor, using } from "./page-site.js";

const page = (charset: string, more = ""): Buffer =>
  Buffer.from(
    `<!doctype html><meta charset="${charset}"><title>Form</title><form method=post ${more}><label>Name <input name=n></label><button>Send</button></form>`,
  );

test("a form is read in the charset that its page writes: another umlaut is another name", async () => {
  const charsets: Readonly<Record<string, readonly [Buffer, string, string]>> = {
    "/latin": [page("windows-1252"), "M\u00fcller", "M\u00f6ller"],
    "/latin-parts": [page("windows-1252", 'enctype="multipart/form-data"'), "M\u00fcller", "M\u00f6ller"],
    "/shift": [page("Shift_JIS"), "\u5c71\u7530", "\u5c71\u672c"],
    "/gbk": [page("gbk"), "\u738b\u82b3", "\u738b\u82ac"],
    "/accepts": [page("utf-8", 'accept-charset="windows-1252"'), "M\u00fcller", "M\u00f6ller"],
    "/get": [page("windows-1252", "method=get"), "M\u00fcller", "M\u00f6ller"],
    "/utf": [page("utf-8"), "M\u00fcller", "M\u00f6ller"],
  };
  const answer = ({ method, url }: { method: string; url: string }, response: import("node:http").ServerResponse) => {
    if (method !== "GET" || url.includes("?")) return false;
    response.setHeader("content-type", "text/html");
    response.end(charsets[url]?.[0]);
    return true;
  };
  await using({}, { answer, contexts: 4 }, async (runner) => {
    await Promise.all(
      Object.entries(charsets).map(async ([path, [, right, wrong]]) => {
        const task = { ...taskFor(path, { Name: right }), success: { status: [200, 404] } };
        const [own, other] = await Promise.all(
          [right, wrong].map((name) => runner.run(task, `fill Name | ${name}\nsubmit`)),
        );
        assert.deepEqual([path, own?.fault, own?.received.Name], [path, undefined, right]);
        assert.equal(own?.fieldAccuracy, 1);
        assert.ok((other?.fieldAccuracy ?? 1) < 1, path);
      }),
    );
  });
});
