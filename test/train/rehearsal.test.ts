import assert from "node:assert/strict";
import { test } from "node:test";
import { FormsEnvironment } from "../../src/env/environments/forms.js";
import type { Task } from "../../src/env/site.js";
import { rehearse } from "../../src/train/rehearsal.js";
import { FORMS_OPTIONS, servePages, taskFor } from "../env/page-site.js";

const FORM = `<form method=post action=/send><label>Name <input name=n></label><label>Seat <input name=s></label><button>Send</button></form>`;

/** Rehearses one form. @returns the messages about it. */
async function told(answer: (body: string) => string, success?: Task["success"]): Promise<string[]> {
  const task = { ...taskFor("/form", { Name: "Ann Lee", Seat: "12" }), ...(success === undefined ? {} : { success }) };
  const site = await servePages({ "/form": FORM }, ({ method, body }, response) => {
    if (method !== "POST") return false;
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(`<!doctype html>${answer(body)}`);
    return true;
  });
  const environment = new FormsEnvironment({ ...site, tasks: () => [task], rehearse: 1 }, FORMS_OPTIONS);
  const notes: string[] = [];
  try {
    await rehearse(environment, [task], (text) => void notes.push(text));
  } finally {
    await environment.close();
  }
  return notes;
}

test("a form is sent wrong as well, and what the site said to it is told", async () => {
  const strict = await told(
    (body) => (/n=.+&s=.+/.test(body) ? "<h1>Danke</h1>" : `<p>Bitte alles ausfüllen</p>${FORM}`),
    { text: "Danke" },
  );
  assert.deepEqual(strict, [
    'The form form, sent wrong: empty: not accepted: the declared success was not seen; the page shows "Bitte alles ausfüllen"; without its first value: not accepted: the declared success was not seen; the page shows "Bitte alles ausfüllen"',
  ]);
});

test("a site that accepts everything is told, not refused", async () => {
  const [note = ""] = await told(() => "<h1>Danke</h1>", { text: "Danke" });
  assert.match(note, /empty: accepted; without its first value: accepted\n.*name what an accepted one shows/);
});

test("a form that is shown again is accepted by its declared success", async () => {
  const answer = (body: string): string => `${/n=[^&]+/.test(body) ? "<p>Vielen Dank</p>" : "<p>Fehler</p>"}${FORM}`;
  await assert.rejects(told(answer, { text: "Thank you" }), (error: Error) => {
    assert.match(error.message, /not accepted: the declared success was not seen; the page shows "Vielen Dank"/);
    return true;
  });
  const [note = ""] = await told(answer, { text: "Vielen Dank" });
  assert.match(note, /empty: not accepted: the declared success was not seen/);
});
