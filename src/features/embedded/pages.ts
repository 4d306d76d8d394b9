import { html, raw } from "hono/html";
import type { Tier } from "../../env/site.js";
import type { Field } from "./fields.js";
import { type Form, fieldsOf, pathOf } from "./form.js";

/** Markup with every inserted text escaped. */
export type Html = ReturnType<typeof html>;

function layout(title: string, body: Html, script?: string): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${raw(STYLE)}</style>
${script === undefined ? "" : html`<script src="${script}" defer></script>`}
</head>
<body>
<header class="site"><a href="/">Civic Forms</a></header>
<main>${body}</main>
</body>
</html>
`;
}

/** Lays a page out as one card. */
export const card = (title: string, body: Html, script?: string): Html =>
  layout(title, html`<div class="card">${body}</div>`, script);

/** Writes a boolean attribute, if it holds. */
const flag = (name: string, holds: boolean): Html => raw(holds ? ` ${name}` : "");
const attribute = (name: string, value: string | number | undefined): Html =>
  value === undefined ? raw("") : html` ${raw(name)}="${value}"`;

/**
 * Writes a label's text. The star of a required field is hidden from assistive technology, which announces `required`
 * itself; the star of any other field is part of the text, as on many real forms.
 */
function caption(field: Field): Html {
  if (!field.star) return html`${field.label}`;
  return field.required ? html`${field.label}<span class="star" aria-hidden="true"> *</span>` : html`${field.label} *`;
}

function choices(field: Field, type: "radio" | "checkbox"): Html {
  const preset = [field.preset].flat();
  const boxes = (field.options ?? []).map(
    (option, i) =>
      html`<label class="choice"><input type="${type}" name="${field.name}" value="${option.value}"${flag(
        "checked",
        preset.includes(option.text),
      )}${flag("required", type === "radio" && field.required && i === 0)}>${option.text}</label>
`,
  );
  return html`<fieldset><legend>${caption(field)}</legend>
${boxes}</fieldset>`;
}

function control(field: Field, id: string): Html {
  const shared = html`${attribute("id", field.labelling === "for" ? id : undefined)} name="${field.name}"${attribute(
    "aria-label",
    field.labelling === "aria" ? field.label : undefined,
  )}${flag("required", field.required)}`;
  if (field.kind === "select") {
    const open = field.preset === undefined ? html`<option value="">Choose one</option>` : "";
    const rows = (field.options ?? []).map(
      (option) =>
        html`<option value="${option.value}"${flag("selected", option.text === field.preset)}>${option.text}</option>`,
    );
    return html`<select${shared}>${open}${rows}</select>`;
  }
  if (field.kind === "textarea") return html`<textarea${shared} rows="3">${field.preset ?? ""}</textarea>`;
  const preset = field.preset === undefined ? undefined : String(field.preset);
  return html`<input type="${field.kind}"${shared}${attribute("value", preset)}${attribute("min", field.min)}${attribute(
    "max",
    field.max,
  )}${attribute("step", field.step)}>`;
}

export function labelled(field: Field): Html {
  const id = `c-${field.name}`;
  if (field.kind === "radio") return choices(field, "radio");
  if (field.kind === "checkbox-group") return choices(field, "checkbox");
  if (field.kind === "checkbox") {
    const box = html`<input type="checkbox" name="${field.name}"${flag("checked", field.preset === true)}${flag(
      "required",
      field.required,
    )}>`;
    return html`<label class="choice">${box}<span>${caption(field)}</span></label>`;
  }
  switch (field.labelling) {
    case "for":
      return html`<label for="${id}">${caption(field)}</label>${control(field, id)}`;
    case "wrap":
      return html`<label>${caption(field)}${control(field, id)}</label>`;
    case "aria":
      return html`<span class="caption" aria-hidden="true">${caption(field)}</span>${control(field, id)}`;
    case "heading":
      return html`<h4>${caption(field)}</h4>${control(field, id)}`;
  }
}

const WIDE: readonly Field["kind"][] = ["textarea", "radio", "checkbox-group"];

/** Writes a field with its label, as a cell of its form. */
export const fieldHtml = (field: Field): Html =>
  html`<div class="${WIDE.includes(field.kind) ? "field wide" : "field"}">${labelled(field)}</div>
`;

/** Makes the page of one form; that of a scripted form has an empty form and the script that builds it. */
export function formPage(form: Form, tier: Tier): Html {
  const path = pathOf(form, tier);
  const head = html`<h1>${form.title}</h1>
<p class="intro">${form.intro}</p>
`;
  if (form.scripted) {
    const shell = html`<form method="post" action="${path}" data-config="${path}/form-config" aria-busy="true"></form>`;
    return card(form.title, html`${head}${shell}<p role="status"></p>`, "/static/form.js");
  }
  const fields = fieldsOf(form, tier).map(fieldHtml);
  const encoding = attribute("enctype", form.encoding === "multipart" ? "multipart/form-data" : undefined);
  return card(
    form.title,
    html`${head}<form method="post" action="${path}"${encoding}>
${fields}<div class="actions"><button type="submit">Submit</button></div>
</form>`,
  );
}

/** Makes the start page, with all forms by domain. */
export function indexPage(forms: readonly Form[]): Html {
  const domainOf = (form: Form): string => form.id.split("/")[0] ?? "";
  const sections = [...new Set(forms.map(domainOf))].map((domain) => {
    const rows = forms
      .filter((form) => domainOf(form) === domain)
      .map(
        (form) => html`<li><a href="${pathOf(form, "full")}">${form.title}</a>
<a class="aside" href="${pathOf(form, "starter")}">short form</a></li>
`,
      );
    return html`<section class="card"><h2>${domain}</h2><ul>${rows}</ul></section>`;
  });
  return layout("Civic Forms", html`<div class="domains">${sections}</div>`);
}

/** Makes the page for an address without a form. */
export const missingPage = (): Html => card("Not found", html`<h1>Not found</h1><p>There is no such form.</p>`);

/** The style sheet of all pages. It is part of each page, since a further request costs time in each episode. */
const STYLE = `
:root { --ink: #1f2a37; --soft: #5b6776; --line: #cfd7e1; --brand: #1d6b5a; --paper: #fff; --ground: #f1f4f3; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, "Segoe UI", sans-serif; }
header.site { background: var(--brand); color: #fff; padding: .75rem 1.5rem; }
header.site a { color: inherit; text-decoration: none; font-weight: 600; }
main { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
.card { background: var(--paper); border: 1px solid var(--line); border-radius: .6rem; padding: 1.5rem 2rem 2rem; }
h1 { margin: 0; font-size: 1.7rem; }
.intro { margin: .25rem 0 1.5rem; color: var(--soft); }
form { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 1rem 1.5rem; }
.field { min-width: 0; }
.field.wide, .actions { grid-column: 1 / -1; }
.field > label, .caption, legend, .field > h4 { display: block; margin: 0 0 .25rem; padding: 0; font-size: 1rem; font-weight: 600; }
.star { color: #b3261e; }
input:not([type=checkbox], [type=radio]), select, textarea {
  display: block; width: 100%; padding: .5rem .65rem; border: 1px solid var(--line); border-radius: .35rem;
  background: #fff; color: inherit; font: inherit; }
.field > label > input:not([type=checkbox]) { margin-top: .25rem; font-weight: 400; }
textarea { min-height: 5rem; resize: vertical; }
fieldset { margin: 0; padding: 0; border: 0; }
.choice { display: inline-flex; align-items: center; gap: .45rem; margin: 0 1.1rem .2rem 0; }
.field:has(> .choice) { align-self: end; padding-bottom: .4rem; }
.field > label.choice { display: inline-flex; }
input[type=checkbox], input[type=radio] { width: 1.1rem; height: 1.1rem; accent-color: var(--brand); }
:focus-visible { outline: 2px solid var(--brand); outline-offset: 1px; }
button { padding: .6rem 1.6rem; border: 0; border-radius: .35rem; background: var(--brand); color: #fff; font: inherit;
  font-weight: 600; cursor: pointer; }
button:hover { background: #15503f; }
[role=status] { margin: 1rem 0 0; font-weight: 600; }
.domains { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 1rem; }
.domains h2 { margin: 0 0 .4rem; font-size: 1.1rem; text-transform: capitalize; }
.domains ul { margin: 0; padding: 0; list-style: none; }
.domains a { color: var(--brand); }
.domains .aside { color: var(--soft); font-size: .85rem; }
`;
