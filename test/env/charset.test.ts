import assert from "node:assert/strict";
import { test } from "node:test";
import { type Answer, FORM, taskFor, using } from "./page-site.js";

const UMLAUTS = ["M\u00fcller", "M\u00f6ller"] as const;
const page = (charset: string, attributes = "method=post"): Buffer => {
  const form = FORM.replace("method=post", attributes);
  return Buffer.from(`<!doctype html><meta charset="${charset}"><title>Form</title>${form}`);
};

test("a form is read in the charset that its page writes: another umlaut is another name", async () => {
  const charsets: Readonly<Record<string, readonly [Buffer, string, string]>> = {
    "/latin": [page("windows-1252"), ...UMLAUTS],
    "/latin-parts": [page("windows-1252", 'method=post enctype="multipart/form-data"'), ...UMLAUTS],
    "/shift": [page("Shift_JIS"), "\u5c71\u7530", "\u5c71\u672c"],
    "/gbk": [page("gbk"), "\u738b\u82b3", "\u738b\u82ac"],
    "/accepts": [page("utf-8", 'method=post accept-charset="windows-1252"'), ...UMLAUTS],
    "/get": [page("windows-1252", "method=get"), ...UMLAUTS],
    "/utf": [page("utf-8"), ...UMLAUTS],
  };
  const answer: Answer = ({ method, url }, response) => {
    if (method !== "GET" || url.includes("?")) return false;
    response.setHeader("content-type", "text/html").end(charsets[url]?.[0]);
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
