import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { messageOf } from "../../core/errors.js";
import { type Served, serveApp } from "../../core/serve.js";
import { TIERS } from "../../env/site.js";
import type { Field } from "./fields.js";
import { type Form, fieldsOf, pathOf } from "./form.js";
import { fieldHtml, formPage, indexPage, missingPage } from "./pages.js";

/** Largest accepted body in bytes, enough for a form with one small file. */
const BODY_LIMIT = 1 << 20;

/** Posted values by input name. */
export type Posted = Readonly<Record<string, string | string[]>>;

/** Refuses a body that is too large for a form with one small file. */
const limit = bodyLimit({ maxSize: BODY_LIMIT, onError: (c) => c.json({ error: "The body is too large" }, 413) });

/** Reads the posted values by input name: a file as its name, a repeated name as a list; undefined if unreadable. */
export async function postedValues(context: Context): Promise<Posted | undefined> {
  const body = await context.req.parseBody({ all: true }).catch(() => undefined);
  if (body === undefined) return undefined;
  const nameOf = (value: string | File): string => (typeof value === "string" ? value : value.name);
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, Array.isArray(value) ? value.map(nameOf) : nameOf(value)]),
  );
}

const isMissing = (field: Field, posted: Posted): boolean =>
  field.required && [posted[field.name] ?? ""].flat().every((value) => value.trim() === "");

/** Makes an application without forms, whose posts are limited in size. */
export function siteApp(): Hono {
  const app = new Hono();
  app.post("*", limit);
  app.get("/favicon.ico", (c) => c.body(null, 204));
  app.notFound((c) => c.html(missingPage(), 404));
  app.onError((error, c) => c.json({ error: messageOf(error) }, 500));
  return app;
}

/** Makes the site as a Hono application, so that tests can call it without a socket. */
export function createApp(forms: readonly Form[]): Hono {
  const app = siteApp();
  app.get("/", (c) => c.html(indexPage(forms)));
  app.get("/static/form.js", (c) => c.body(FORM_SCRIPT, 200, { "content-type": "text/javascript; charset=utf-8" }));
  for (const form of forms) {
    for (const tier of TIERS) {
      const path = pathOf(form, tier);
      const fields = fieldsOf(form, tier);
      app.get(path, (c) => c.html(formPage(form, tier)));
      if (form.scripted)
        app.get(`${path}/form-config`, (c) => c.json({ controls: fields.map((field) => String(fieldHtml(field))) }));
      app.post(path, async (c) => {
        const posted = await postedValues(c);
        if (posted === undefined) return c.json({ error: "The body is not a form" }, 400);
        const missing = fields.filter((field) => isMissing(field, posted));
        if (missing.length > 0)
          return c.json({ error: `Required: ${missing.map((field) => field.label).join(", ")}` }, 400);
        return c.json({ data: posted, message: `${form.title} Submitted Successfully!` });
      });
    }
  }
  return app;
}

/**
 * Serves the forms on the loopback interface.
 * @param port 0: any free one. @throws UserError if the port is taken or may not be used.
 */
export const serveForms = (forms: readonly Form[], port: number): Promise<Served> =>
  serveApp(createApp(forms), port, "embedded site");

/**
 * Builds the scripted form in the browser from the HTML controls in `<url>/form-config`, and posts it by fetch. Until
 * it is complete, the form is `aria-busy`.
 */
const FORM_SCRIPT = `
"use strict";
const form = document.querySelector("form[data-config]");
const status = document.querySelector("[role=status]");

async function submit(event) {
  event.preventDefault();
  try {
    const response = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    const answer = await response.json();
    status.textContent = answer.message ?? answer.error;
  } catch {
    status.textContent = "The form could not be sent. Please try again.";
  }
}

async function start() {
  const response = await fetch(form.dataset.config);
  const { controls } = await response.json();
  form.innerHTML = controls.join("") + '<div class="actions"><button type="submit">Submit</button></div>';
  form.addEventListener("submit", submit);
  form.removeAttribute("aria-busy");
}

start().catch(() => {
  status.textContent = "The form could not be loaded. Please reload the page.";
});
`;
