import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page, Request } from "playwright";
import type { Control } from "../../../src/env/browser/controls.js";
import type { Exchange } from "../../../src/env/browser/network/exchange.js";
import { isServerFault, ownerOf } from "../../../src/env/browser/network/requests.js";
import { chooseSubmission, isOfForm, type Sent } from "../../../src/env/browser/submission.js";

const control = (index: number, name: string): Control => ({
  index,
  kind: "text",
  widget: "native",
  label: name,
  section: "",
  also: [],
  name,
  id: "",
  required: false,
  default: "",
  options: [],
  form: 0,
  present: true,
});

const SENT: Sent = {
  controls: [control(0, "name"), control(1, "city"), control(2, "note")],
  held: { values: ["Ann Lee", "Lund", ""] },
  target: {
    method: "POST",
    address: "http://site/send",
    names: ["name", "city", "note"],
    always: ["name", "city", "note"],
  },
  autosave: false,
  path: "/events/new",
};

const exchange = (path: string, posted: Exchange["posted"], more: Partial<Exchange> = {}): Exchange => ({
  method: "POST",
  url: `http://site${path}`,
  how: "script",
  owner: "page",
  posted,
  inPath: [],
  routine: false,
  phase: "submit",
  answer: { status: 200, contentType: "", text: "", url: `http://site${path}` },
  ...more,
});

const ALL = [
  ["q", "Ann Lee"],
  ["w", "Lund"],
] as const;
const chosen = (exchanges: readonly Exchange[], patient = true, sent = SENT): string | undefined => {
  const choice = chooseSubmission(exchanges, sent, patient);
  return choice === undefined ? undefined : new URL(choice.exchange.url).pathname;
};

test("the submission is what carries most of what was typed, and of equals the last", () => {
  const partial = exchange("/api/names", [["v", "Ann Lee"]]);
  const whole = exchange("/api/people", ALL);
  assert.equal(chosen([partial, whole]), "/api/people");
  assert.equal(chosen([whole, partial]), "/api/people");
  assert.equal(chosen([whole, exchange("/api/again", ALL)]), "/api/again");
  assert.equal(chosen([exchange("/log", [["event", "click"]])]), undefined);
  assert.equal(chosen([exchange("/api/people", ALL, { phase: "open" })]), undefined, "before the submit");
});

test("what pages send beside their forms is none, unless the page itself is called so", () => {
  for (const path of ["/validate", "/analytics/e", "/api/draft"]) {
    assert.equal(chosen([exchange(path, ALL)]), undefined, path);
    assert.equal(chosen([exchange("/api/people", ALL), exchange(path, ALL)]), "/api/people", path);
  }
  // the page is /events/new
  assert.equal(chosen([exchange("/events", ALL)]), "/events");
});

test("without a submit button what is saved is the submission, request by request", () => {
  const sent = { ...SENT, autosave: true };
  const saves = [
    exchange("/me/a", [["value", "Ann Lee"]], { phase: "open" }),
    exchange("/me/b", [["value", "Lund"]], { phase: "open" }),
  ];
  const choice = chooseSubmission(saves, sent, false);
  assert.deepEqual([choice?.with.length, choice?.plain], [2, true]);
});

test("a navigation is the form's where it carries what was typed, or the form's names to where the form says", () => {
  const isIts = (path: string, posted: Exchange["posted"], more: Partial<Exchange> = {}): boolean =>
    isOfForm(exchange(path, posted, { how: "navigation", ...more }), SENT);
  assert.equal(isIts("/elsewhere", ALL), true);
  assert.equal(isIts("/send", [["name", "something else"]]), true);
  assert.equal(isIts("/elsewhere", [["name", "Bo"]]), false);
  assert.equal(isIts("/send", [["other", "1"]]), false);
  assert.equal(isIts("/send", [["name", "x"]], { method: "GET" }), false);
});

test("a server that is busy or broken says nothing about the form", () => {
  for (const status of [408, 425, 429, 500, 503, 599]) assert.equal(isServerFault(status), true, String(status));
  for (const status of [200, 302, 400, 404, 422, 499]) assert.equal(isServerFault(status), false, String(status));
});

test("a request belongs to the page, to a frame or a worker in it, or to another window", () => {
  const main = {};
  const page = { mainFrame: () => main } as unknown as Page;
  const from = (frame: () => unknown, type = "document"): Request =>
    ({ frame, resourceType: () => type }) as unknown as Request;
  const owner = (request: Request): string => ownerOf(request, page);
  assert.equal(owner(from(() => main)), "page");
  assert.equal(owner(from(() => ({ page: () => page }))), "frame");
  assert.equal(owner(from(() => ({ page: () => ({}) }))), "popup");
  const early = (): never => {
    throw new Error("no frame yet");
  };
  assert.equal(owner(from(early)), "popup");
  assert.equal(owner(from(early, "fetch")), "frame");
});
