import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page, Request, Route } from "playwright";
import { EnvironmentFault } from "../../../src/env/browser/browser.js";
import {
  forwardSubmission,
  isServerFault,
  isSubmission,
  ownerOf,
  type Submission,
} from "../../../src/env/browser/submission.js";

const FORM = "application/x-www-form-urlencoded";

interface Exchange {
  readonly method?: string;
  readonly url?: string;
  readonly type?: string;
  readonly navigation?: boolean;
  readonly body?: string;
  readonly contentType?: string | null;
  readonly status?: number;
  readonly text?: string | Error;
}

const headersOf = (x: Exchange): Record<string, string> => ({
  accept: "text/html",
  connection: "keep-alive",
  ...(x.contentType === null ? {} : { "content-type": x.contentType ?? FORM }),
});

const requestOf = (x: Exchange): Request =>
  ({
    method: () => x.method ?? "POST",
    headers: () => headersOf(x),
    url: () => x.url ?? "http://site/send",
    resourceType: () => x.type ?? "document",
    isNavigationRequest: () => x.navigation ?? false,
    postDataBuffer: () => (x.body === undefined ? null : Buffer.from(x.body)),
  }) as unknown as Request;

/** Forwards one request to a server that answers as said. @returns what was read of it, and what the page got. */
async function forward(x: Exchange): Promise<{ got: Promise<Submission>; page: unknown[] }> {
  const page: unknown[] = [];
  const response = {
    status: () => x.status ?? 200,
    text: async () => {
      if (x.text instanceof Error) throw x.text;
      return x.text ?? "";
    },
  };
  const route = {
    request: () => requestOf(x),
    fetch: async (options: unknown) => {
      const headers = { ...headersOf(x), connection: "close" };
      assert.deepEqual(options, { headers, maxRedirects: 0, timeout: 1234 });
      if (x.status === 0) throw new Error("refused\ndetails");
      return response;
    },
    fulfill: async (answer: unknown) => page.push(answer),
    abort: async (reason: string) => page.push(reason),
  } as unknown as Route;
  const got = forwardSubmission(route, 1234);
  await got.catch(() => undefined);
  return { got, page };
}

test("a post is what the server received, and accepted unless it says otherwise", async () => {
  const accepted = async (status: number, text = ""): Promise<boolean> =>
    (await (await forward({ status, text, body: "a=1" })).got).accepted;
  assert.deepEqual(await (await forward({ url: "http://site/send?x=1", body: "a=1&b=2", status: 302 })).got, {
    method: "POST",
    path: "/send",
    posted: [
      ["a", "1"],
      ["b", "2"],
    ],
    status: 302,
    accepted: true,
  });
  for (const status of [200, 201, 204, 302, 399]) assert.equal(await accepted(status), true, String(status));
  for (const status of [400, 403, 404, 422, 499]) assert.equal(await accepted(status), false, String(status));
  for (const refusal of [
    { success: false },
    { ok: false },
    { accepted: false },
    { error: "no" },
    { errors: ["name"] },
    { errors: { name: "missing" } },
  ])
    assert.equal(await accepted(200, JSON.stringify(refusal)), false, JSON.stringify(refusal));
  for (const answer of [
    "",
    "Errors: none",
    '{"success":false',
    '"error"',
    { success: true, ok: true, accepted: true, error: null, errors: [] },
    { errors: {} },
    { errors: null, error: false },
    { errors: 3 },
    { success: 0 },
  ]) {
    const text = typeof answer === "string" ? answer : JSON.stringify(answer);
    assert.equal(await accepted(200, text), true, text);
  }
});

test("a form with method GET is read from its address", async () => {
  const { got } = await forward({ method: "GET", url: "http://site/find?q=a+b&q=c&empty=", body: "x=1" });
  assert.deepEqual((await got).posted, [
    ["q", "a b"],
    ["q", "c"],
    ["empty", ""],
  ]);
  assert.deepEqual((await (await forward({ contentType: null, body: '{"a":1}' })).got).posted, [["a", "1"]]);
});

test("a navigation gets 204, so that the page stays; a script gets its answer", async () => {
  const [navigation] = (await forward({ navigation: true, status: 302 })).page;
  assert.deepEqual(navigation, { status: 204 });
  const [script] = (await forward({ navigation: false })).page as { response: { status(): number } }[];
  assert.equal(script?.response.status(), 200);
});

test("a server that is broken or does not answer is a fault of the environment", async () => {
  for (const status of [408, 425, 429, 500, 503, 599]) {
    const { got } = await forward({ status });
    await assert.rejects(
      got,
      (e) => e instanceof EnvironmentFault && e.message.includes(`HTTP ${status} for POST /send`),
    );
  }
  for (const status of [200, 302, 400, 404, 422, 499]) assert.equal(isServerFault(status), false, String(status));
  for (const [navigation, left] of [
    [true, { status: 204 }],
    [false, "failed"],
  ] as const) {
    const { got, page } = await forward({ status: 0, navigation });
    await assert.rejects(
      got,
      (e) => e instanceof EnvironmentFault && /no answer to POST \/send: refused$/.test(e.message),
    );
    assert.deepEqual(page, [left]);
    const half = await forward({ text: new Error("reset"), navigation });
    await assert.rejects(half.got, EnvironmentFault);
    assert.deepEqual(half.page, [left]);
  }
});

test("a form post is what changes something, or a navigation of the page with a query", () => {
  const query = { method: "GET", url: "http://site/?a=1", navigation: true };
  for (const [exchange, owner, expected] of [
    [{ method: "POST" }, "page", true],
    [{ method: "PUT", type: "fetch" }, "frame", true],
    [{ method: "DELETE", type: "xhr" }, "popup", true],
    [{ method: "POST", type: "ping" }, "page", false],
    [{ method: "POST", type: "beacon" }, "page", false],
    [{ method: "POST", type: "cspreport" }, "page", false],
    [query, "page", true],
    [query, "frame", false],
    [query, "popup", false],
    [{ ...query, navigation: false }, "page", false],
    [{ ...query, url: "http://site/" }, "page", false],
    [{ ...query, method: "HEAD", navigation: false }, "page", false],
    [{ ...query, method: "OPTIONS", navigation: false }, "page", false],
  ] as const)
    assert.equal(isSubmission(requestOf(exchange), owner), expected, JSON.stringify([exchange, owner]));
});

test("a request belongs to the page, to a frame in it, or to another window", () => {
  const main = {};
  const page = { mainFrame: () => main } as unknown as Page;
  const from = (frame: () => unknown): Request => ({ frame }) as unknown as Request;
  assert.equal(
    ownerOf(
      from(() => main),
      page,
    ),
    "page",
  );
  assert.equal(
    ownerOf(
      from(() => ({ page: () => page })),
      page,
    ),
    "frame",
  );
  assert.equal(
    ownerOf(
      from(() => ({ page: () => ({}) })),
      page,
    ),
    "popup",
  );
  const early = (): never => {
    throw new Error("no frame yet");
  };
  assert.equal(ownerOf(from(early), page), "popup");
});
