import assert from "node:assert/strict";
import { after, test } from "node:test";
import { FormsEnvironment } from "../../src/env/environments/forms.js";
import type { Task } from "../../src/env/site.js";
import { rehearse } from "../../src/train/rehearsal.js";
import { FORMS_OPTIONS, servePages, taskFor } from "../env/page-site.js";

const FORM = `<form method=post action=/send><label>Name <input name=n></label><label>Seat <input name=s></label><button>Send</button></form>`;

let answer: (body: string) => string = () => "";
const site = await servePages({ "/form": FORM }, ({ method, body }, response) => {
  if (method !== "POST") return false;
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(`<!doctype html>${answer(body)}`);
  return true;
});
const task = taskFor("/form", { Name: "Ann Lee", Seat: "12" });
const environment = new FormsEnvironment({ ...site, tasks: () => [task], rehearse: 1 }, FORMS_OPTIONS);
after(() => environment.close());

/** Rehearses the form on a site that answers so and declares a success. @returns the messages about it. */
async function told(text: string, given: typeof answer): Promise<string[]> {
  answer = given;
  const notes: string[] = [];
  await rehearse(environment, [{ ...task, success: { text } } as Task], (note) => void notes.push(note));
  return notes;
}

test("a form is sent wrong as well, and what the site said to it is told", async () => {
  const refusal = `<p>Bitte alles ausfüllen</p>${FORM}`;
  const strict = await told("Danke", (body) => (/n=.+&s=.+/.test(body) ? "<h1>Danke</h1>" : refusal));
  const said = 'not accepted: the declared success was not seen; the page shows "Bitte alles ausfüllen"';
  assert.deepEqual(strict, [`The form form, sent wrong: empty: ${said}; without its first value: ${said}`]);
});

test("a site that accepts everything is told, not refused", async () => {
  const [note = ""] = await told("Danke", () => "<h1>Danke</h1>");
  assert.match(note, /empty: accepted; without its first value: accepted\n.*name what an accepted one shows/);
});

test("a form that is shown again is accepted by its declared success", async () => {
  const shown = (body: string): string => `${/n=[^&]+/.test(body) ? "<p>Vielen Dank</p>" : "<p>Fehler</p>"}${FORM}`;
  const message = /not accepted: the declared success was not seen; the page shows "Vielen Dank"/;
  await assert.rejects(told("Thank you", shown), { message });
  const [note = ""] = await told("Vielen Dank", shown);
  assert.match(note, /empty: not accepted: the declared success was not seen/);
});
