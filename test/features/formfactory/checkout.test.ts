import assert from "node:assert/strict";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { UserError } from "../../../src/core/errors.js";
import { CATALOG, type CatalogRow, formId } from "../../../src/features/formfactory/catalog.js";
import { openCheckout } from "../../../src/features/formfactory/checkout.js";
import { createApp } from "../../../src/features/formfactory/server.js";
import { temporaryFolder } from "../../support/temporary.js";
import { MADE_FORMS, madeCheckout } from "./made-checkout.js";

const ROWS: readonly CatalogRow[] = CATALOG.filter((row) => (MADE_FORMS as readonly string[]).includes(formId(row)));

function problem(changes: Readonly<Record<string, string | undefined>>, rows = ROWS): UserError {
  try {
    openCheckout(madeCheckout(changes), rows);
  } catch (error) {
    assert.ok(error instanceof UserError, String(error));
    return error;
  }
  return assert.fail("nothing was wrong");
}

const empty = temporaryFolder("no-checkout");

test("without a checkout: what is missing, and what to clone", () => {
  writeFileSync(join(empty, "file"), "");
  for (const [path, message] of [
    [join(empty, "gone"), /gone does not exist/],
    [join(empty, "file"), /file is not a directory/],
    [empty, /is no checkout of FormFactory: app\.py, templates, data\/data1, data\/data2 missing/],
  ] as const) {
    assert.throws(() => openCheckout(path, CATALOG), { name: "UserError", message, hint: /git clone https/ });
  }
});

test("every file that is missing or changed is named, all at once", () => {
  const error = problem({
    "templates/job-application.html": undefined,
    "templates/course-registration.html": "{% for x in y %}",
    "data/data1/IT_support.json": undefined,
    "data/data1/student_courses.json": "[{]",
    "data/data1/grant_applications.json": '{"a": 1}',
    "data/data2/Contrator_onboard.txt": undefined,
  });
  for (const part of [
    /job-application\.html: there is no such template/,
    /course-registration\.html, line 1: \{% for x in y %\} is not understood/,
    /IT_support\.json is missing/,
    /student_courses\.json is not valid JSON/,
    /grant_applications\.json: expected a list of objects/,
    /Contrator_onboard\.txt is missing/,
  ])
    assert.match(error.message, part);
  assert.match(error.hint ?? "", /git clone/);
  const many = /nothing is served at \/academic-research\/scholarship-application[\s\S]*and \d+ more/;
  assert.match(problem({}, CATALOG).message, many);
  const { message } = problem({ "app.py": "print('hello')" });
  assert.match(message, /app\.py: nothing is served at \/academic-research\/job/);
});

test("pages, static files and answers are the checkout's own; nothing outside of it is served", async () => {
  const made = madeCheckout();
  symlinkSync(join(made, "app.py"), join(made, "static", "link.py"));
  const app = createApp(openCheckout(made, ROWS));
  const page = await (await app.request("/academic-research/job-application")).text();
  assert.match(page, /<title>Job & more<\/title>\n<link rel="stylesheet" href="https:\/\/cdn\.invalid/);
  assert.match(page, /action="\/academic-research\/job-application"/);
  assert.match(page, /src="\/static\/js\/missing\.js"/);
  assert.equal(await (await app.request("/")).text(), "<h1>Made forms</h1>");
  const settings = (await (await app.request("/settings")).json()) as object;
  assert.equal(Object.keys(settings).join(), "title,strict,limit,fields");
  assert.equal((await app.request("/static/css/made.css")).headers.get("content-type"), "text/css; charset=utf-8");
  for (const path of ["js/missing.js", "../app.py", "%2e%2e/app.py", "..%2fapp.py", "link.py"])
    assert.equal((await app.request(`/static/${path}`)).status, 404, path);
  const body = new FormData();
  for (const value of ["B1", "B2"]) body.append("courses[]", value);
  body.append("who", "Ann");
  body.append("scan", new File(["x"], "x.txt"));
  const answer = await app.request("/academic-research/course-registration", { method: "POST", body });
  assert.deepEqual(await answer.json(), { data: { "courses[]": "B1", who: "Ann" }, message: "Form 2 Received!" });
  assert.equal((await app.request("/settings", { method: "POST" })).status, 404);
});
