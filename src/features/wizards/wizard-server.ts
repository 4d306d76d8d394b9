import type { Hono } from "hono";
import { html } from "hono/html";
import { sha256 } from "../../core/files.js";
import { spoken } from "../../env/forms/oracle.js";
import type { FieldValue } from "../../env/site.js";
import type { Field } from "../embedded/fields.js";
import { pathOf } from "../embedded/form.js";
import { card, type Html, labelled } from "../embedded/pages.js";
import type { FormRecord } from "../embedded/records.js";
import { type Posted, postedValues, siteApp } from "../embedded/server.js";
import { isApplicable, REVIEW_HEADING, stepHeading, WIZARDS, type Wizard } from "./wizards.js";

/** Most unfinished wizards that are kept; beyond that the oldest ones are forgotten. */
const MOST_OPEN = 10_000;

/** Writes the rules for the page's script: the condition of each field, and the checks before the next step. */
const rulesOf = (wizard: Wizard): string =>
  JSON.stringify(
    wizard.fields.map((field) => ({
      name: field.name,
      label: field.label,
      required: field.required,
      min: field.min,
      max: field.max,
      when: conditionOf(wizard, field),
    })),
  );

function conditionOf(wizard: Wizard, { label }: Field): { name: string; value: string | boolean } | undefined {
  const [[where, is] = []] = Object.entries(wizard.when[label] ?? {});
  const other = wizard.fields.find((field) => field.label === where);
  if (is === undefined || other === undefined) return undefined;
  return { name: other.name, value: other.options?.find((option) => option.text === is)?.value ?? is };
}

/** Makes one page of a server's wizard, or all steps of a browser's. @param held values shown after a complaint. */
function wizardPage(wizard: Wizard, page: number, token: string, held: FormRecord = {}, complaint = ""): Html {
  const path = pathOf(wizard, "wizard");
  const { pages, steps, title } = wizard;
  const shown = (fields: readonly Field[]): Html[] =>
    fields.map((field) => {
      const value = held[field.label];
      const preset = value === undefined ? field : { ...field, preset: value };
      return html`<div class="field" data-field="${field.name}">${labelled(preset)}</div>
`;
    });
  const step = (k: number): Html => html`<h2>${stepHeading(k, pages.length)}</h2>`;
  const body =
    steps === "server"
      ? html`${step(page)}${shown(pages[page] ?? [])}
<div class="actions"><button type="submit">${page + 1 === pages.length && !wizard.review ? "Submit" : "Next"}</button></div>`
      : html`${pages.map(
          (
            fields,
            k,
          ) => html`<section class="step" data-step="${k}"${k === 0 ? "" : html` hidden`}>${step(k)}${shown(fields)}
<div class="actions">${
            k + 1 === pages.length
              ? html`<button type="submit">${wizard.review ? "Continue" : "Submit"}</button>`
              : html`<button type="button" data-next="${k + 1}">Next</button>`
          }</div></section>
`,
        )}`;
  return card(
    title,
    html`<h1>${title}</h1>
<div id="complaint">${complaint === "" ? "" : html`<p class="error" role="alert">${complaint}</p>`}</div>
<form method="post" action="${path}" novalidate data-rules="${rulesOf(wizard)}">
<input type="hidden" name="wizard" value="${token}"><input type="hidden" name="page" value="${page}">
${body}</form>`,
    "/static/wizard.js",
  );
}

function reviewPage(wizard: Wizard, token: string, values: FormRecord): Html {
  const rows = Object.entries(values).map(
    ([label, value]) => html`<dt>${label}</dt><dd>${spoken(value)}</dd>
`,
  );
  return card(
    wizard.title,
    html`<h1>${wizard.title}</h1><h2>${REVIEW_HEADING}</h2><dl>${rows}</dl>
<form method="post" action="${pathOf(wizard, "wizard")}"><input type="hidden" name="wizard" value="${token}">
<input type="hidden" name="page" value="review"><div class="actions"><button type="submit">Confirm</button></div></form>`,
  );
}

const thanksPage = (wizard: Wizard): Html =>
  card(wizard.title, html`<h1>Thank you</h1><p role="status">${wizard.title}: we have received it.</p>`);

/** Reads the posted values by label, with the texts of options. */
function read(fields: readonly Field[], posted: Posted): FormRecord {
  return Object.fromEntries(
    fields.map((field): [string, FieldValue] => {
      const given = [posted[field.name] ?? []].flat();
      const text = (value: string): string => field.options?.find((option) => option.value === value)?.text ?? value;
      if (field.kind === "checkbox") return [field.label, given.length > 0];
      if (field.kind === "checkbox-group") return [field.label, given.map(text)];
      return [field.label, text(given[0] ?? "")];
    }),
  );
}

/** Returns the complaint about a page's values; empty if they are right. */
function complaintOf(wizard: Wizard, fields: readonly Field[], values: FormRecord): string {
  const applicable = fields.filter((field) => isApplicable(wizard, field.label, values));
  const missing = applicable.filter((field) => {
    const value = values[field.label];
    return field.required && (value === false || value === undefined || String(value).trim() === "");
  });
  if (missing.length > 0) return `Required: ${missing.map((field) => field.label).join(", ")}`;
  const off = applicable.find(({ kind, label, min = -Infinity, max = Infinity }) => {
    const text = String(values[label] ?? "");
    return kind === "number" && text !== "" && !(Number(text) >= min && Number(text) <= max);
  });
  return off === undefined ? "" : `Invalid: ${off.label} has to be from ${off.min} to ${off.max}`;
}

/** Makes the site as a Hono application, so that tests can call it without a socket. */
export function createApp(): Hono {
  const app = siteApp();
  const open = new Map<string, FormRecord>();
  /** Makes a token that depends only on the values so far, so that a replayed episode posts the same. */
  const keep = (path: string, values: FormRecord): string => {
    const token = sha256(JSON.stringify([path, values])).slice(0, 16);
    open.delete(token);
    open.set(token, values);
    const [oldest] = open.keys();
    if (open.size > MOST_OPEN && oldest !== undefined) open.delete(oldest);
    return token;
  };
  app.get("/static/wizard.js", (c) => c.body(WIZARD_SCRIPT, 200, { "content-type": "text/javascript; charset=utf-8" }));
  for (const wizard of WIZARDS) {
    const path = pathOf(wizard, "wizard");
    app.get(path, (c) => c.html(wizardPage(wizard, 0, keep(path, {}))));
    app.post(path, async (c) => {
      const posted = await postedValues(c);
      const token = [posted?.wizard ?? ""].flat()[0] ?? "";
      const before = open.get(token);
      if (posted === undefined || before === undefined)
        return c.html(wizardPage(wizard, 0, keep(path, {}), {}, "Error: this form has expired"), 422);
      const values: Record<string, FieldValue> = { ...before };
      if (posted.page === "review") {
        const complaint = wizard.pages.map((fields) => complaintOf(wizard, fields, values)).find((text) => text !== "");
        if (complaint !== undefined || Object.keys(values).length === 0)
          return c.html(wizardPage(wizard, 0, token, values, complaint ?? "Error: nothing was filled in"), 422);
        return c.html(thanksPage(wizard));
      }
      const page = wizard.steps === "client" ? 0 : Number(posted.page);
      const fields = wizard.steps === "client" ? wizard.fields : wizard.pages[page];
      if (fields === undefined) return c.html(wizardPage(wizard, 0, token, values, "Error: no such step"), 422);
      const given = read(fields, posted);
      const complaint = complaintOf(wizard, fields, given);
      if (complaint !== "") return c.html(wizardPage(wizard, page, token, given, complaint), 422);
      for (const { label } of fields)
        if (isApplicable(wizard, label, given)) values[label] = given[label] as FieldValue;
      if (wizard.steps === "server" && page + 1 < wizard.pages.length)
        return c.html(wizardPage(wizard, page + 1, keep(path, values)));
      if (wizard.review) return c.html(reviewPage(wizard, keep(path, values), values));
      return c.html(thanksPage(wizard));
    });
  }
  return app;
}

/** Shows conditional fields, and goes from step to step in wizards of the browser. */
const WIZARD_SCRIPT = `
"use strict";
const form = document.querySelector("form[data-rules]");
const rules = JSON.parse(form.dataset.rules);
const boxOf = (name) => form.querySelector('[data-field="' + name + '"]');
const valueOf = (name) => {
  const inputs = [...form.elements].filter((e) => e.name === name && !e.disabled);
  const first = inputs[0];
  if (first === undefined) return "";
  if (first.type === "checkbox" && inputs.length === 1) return first.checked;
  if (first.type === "radio" || first.type === "checkbox") return inputs.filter((e) => e.checked).map((e) => e.value).join();
  return first.value;
};
function arrange() {
  for (const rule of rules) {
    if (rule.when === undefined || boxOf(rule.name) === null) continue;
    const applies = valueOf(rule.when.name) === rule.when.value;
    boxOf(rule.name).hidden = !applies;
    for (const input of boxOf(rule.name).querySelectorAll("input,select,textarea")) input.disabled = !applies;
  }
}
function complain(text) {
  const place = document.getElementById("complaint");
  place.replaceChildren();
  if (text === "") return;
  const p = document.createElement("p");
  p.className = "error";
  p.setAttribute("role", "alert");
  p.textContent = text;
  place.append(p);
}
function problemIn(step) {
  const here = rules.filter((r) => step.contains(boxOf(r.name)) && !boxOf(r.name).hidden);
  const missing = here.filter((r) => r.required && [false, ""].includes(valueOf(r.name)));
  if (missing.length > 0) return "Required: " + missing.map((r) => r.label).join(", ");
  const off = here.find((r) => r.min !== undefined && valueOf(r.name) !== "" &&
    !(Number(valueOf(r.name)) >= r.min && Number(valueOf(r.name)) <= r.max));
  return off === undefined ? "" : "Invalid: " + off.label + " has to be from " + off.min + " to " + off.max;
}
form.addEventListener("input", arrange);
form.addEventListener("change", arrange);
for (const button of form.querySelectorAll("button[data-next]")) {
  button.addEventListener("click", () => {
    const step = button.closest(".step");
    const problem = problemIn(step);
    complain(problem);
    if (problem !== "") return;
    step.hidden = true;
    form.querySelector('[data-step="' + button.dataset.next + '"]').hidden = false;
  });
}
arrange();
`;
