import type { Field } from "./fields.js";

/** One control as the scripted form's configuration gives it. */
interface ControlConfig {
  kind: Field["kind"];
  label: string;
  name: string;
  required: boolean;
  star: boolean;
  preset?: Field["preset"];
  options?: Field["options"];
  min?: number;
  max?: number;
  step?: number;
}

/** Tells what `<url>/form-config` answers for these fields. */
export function formConfig(fields: readonly Field[]): { controls: ControlConfig[] } {
  return {
    controls: fields.map(({ source: _source, labelling: _labelling, ...config }) => config),
  };
}

/**
 * Builds the scripted form in the browser out of its configuration, and posts it by fetch. While it builds, the form is
 * `aria-busy`. All texts go through `textContent` and attributes: none is read as HTML.
 */
export const FORM_SCRIPT = `
"use strict";
const form = document.querySelector("form[data-config]");
const status = document.querySelector("[role=status]");

function element(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== undefined) node.setAttribute(name, String(value));
  }
  node.append(...children);
  return node;
}

function starOf(config) {
  if (!config.star) return [];
  return config.required ? [element("span", { class: "star", "aria-hidden": "true" }, " *")] : [" *"];
}

function choice(type, config, option, index) {
  const chosen = [config.preset].flat().includes(option.text);
  const required = type === "radio" && config.required && index === 0;
  const input = element("input", { type, name: config.name, value: option.value, checked: chosen, required });
  return element("label", { class: "choice" }, input, option.text);
}

function build(config) {
  const id = "c-" + config.name;
  const common = { id, name: config.name, required: config.required };
  if (config.kind === "radio" || config.kind === "checkbox-group") {
    const type = config.kind === "radio" ? "radio" : "checkbox";
    const legend = element("legend", {}, config.label, ...starOf(config));
    return element("fieldset", {}, legend, ...config.options.map((option, i) => choice(type, config, option, i)));
  }
  if (config.kind === "checkbox") {
    const box = element("input", { ...common, type: "checkbox", checked: config.preset === true });
    return element("label", { class: "choice" }, box, element("span", {}, config.label, ...starOf(config)));
  }
  let control;
  if (config.kind === "select") {
    control = element("select", common);
    if (config.preset === undefined) control.append(element("option", { value: "" }, "Choose one"));
    for (const option of config.options) {
      control.append(element("option", { value: option.value, selected: option.text === config.preset }, option.text));
    }
  } else if (config.kind === "textarea") {
    control = element("textarea", common, config.preset ?? "");
  } else {
    const { min, max, step } = config;
    control = element("input", { ...common, type: config.kind, value: config.preset, min, max, step });
  }
  const fragment = document.createDocumentFragment();
  fragment.append(element("label", { for: id }, config.label, ...starOf(config)), control);
  return fragment;
}

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
  for (const config of controls) {
    const wide = config.kind === "textarea" || config.kind === "radio" || config.kind === "checkbox-group";
    form.append(element("div", { class: wide ? "field wide" : "field" }, build(config)));
  }
  form.append(element("div", { class: "actions" }, element("button", { type: "submit" }, "Submit")));
  form.addEventListener("submit", submit);
  form.removeAttribute("aria-busy");
}

start().catch(() => {
  status.textContent = "The form could not be loaded. Please reload the page.";
});
`;
