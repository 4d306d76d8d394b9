import assert from "node:assert/strict";
import { test } from "node:test";
import { closing } from "../../../../src/core/closing.js";
import { REWARDS } from "../../../../src/env/forms/own-reward.js";
import type { Task } from "../../../../src/env/site.js";
import { PagesEnvironment } from "../../../../src/features/wizards/environments/pages.js";
import { rehearse } from "../../../../src/train/rehearsal.js";
import { FORMS_OPTIONS, servePages, taskFor } from "../../../env/page-site.js";

const FORM = `<form method=post action=/send><label>Name <input name=n></label><label>Day <select name=d>
<option value="">choose<option>Monday<option>Friday</select></label><button>Send</button></form>`;

/** Rehearses a form of pages that learns from its site's verdict alone. @returns the notes and the error. */
async function proved(accepts: (body: string) => boolean): Promise<string> {
  const site = await servePages({ "/form": FORM }, ({ method, body }, response) => {
    if (method !== "POST") return false;
    response.writeHead(200, { "content-type": "text/html" }).end(accepts(body) ? "<p>Booked</p>" : `<p>No</p>${FORM}`);
    return true;
  });
  const task: Task = { ...taskFor("/form", { Name: "Ann" }), fields: {}, success: { text: "Booked" } };
  const environment = { kind: "pages", turns: 3, page_characters: 2000 };
  const options = { ...FORMS_OPTIONS, plan: "template" as const, prompt: { style: "page" as const }, environment };
  const rehearsed = { ...site, tasks: () => [task], rehearse: 1 };
  await using pages = closing(new PagesEnvironment(rehearsed, options, REWARDS.verdict));
  const notes: string[] = [];
  const failed = await rehearse(pages, [task], (text) => void notes.push(text)).catch((error: Error) => error);
  return [...notes, (failed as Error | undefined)?.message ?? "fine"].join("\n");
}

test("pages whose verdict alone is learned from are sent empty and with random values, and have to refuse them", async () => {
  assert.match(await proved(() => true), /form accepts empty in 1 .*\n.*form accepts random values in 1 of 1/);
  assert.match(await proved((body) => body === "n=Ann&d=Friday"), /sent random values: 0 of 1 accepted.*\nfine$/);
});
