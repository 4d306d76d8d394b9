import type { ControlKind } from "../site.js";

/** What the page holds at one control, before it is a FieldValue: plain data that crosses from the page. */
export interface RawControl {
  kind: ControlKind;
  label: string;
  name: string;
  id: string;
  required: boolean;
  /** How a date has to be written, where its control is a text field that says so: `YYYY/MM/DD`. */
  notation?: string;
  /** Options of selects, members of radio and checkbox groups. */
  options: { text: string; value: string; chosen: boolean }[];
  /** Text, or a file's name. */
  value: string;
  checked: boolean;
}

export interface RawButton {
  label: string;
  submits: boolean;
  /** How many of the controls belong to the button's form. */
  formControls: number;
}

/** The page's own objects behind the data: they stay in the page and are reached by index. */
export interface PageForm {
  /** Per control: its element, or the members of a radio or checkbox group. */
  elements: (HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement)[][];
  buttons: HTMLElement[];
  controls: RawControl[];
  buttonData: RawButton[];
  /** Submit events since the last click on a submit button, and how many of them a script has stopped. */
  submits: number;
  prevented: number;
  /** Whether the button that was aimed at has been clicked. */
  clicked: boolean;
}

/**
 * Runs IN THE PAGE: finds every control a person could fill in, in page order, with its accessible name.
 * Self-contained, since Playwright sends its source text. Custom widgets without a native control are not seen.
 *
 * The name, first of: aria-labelledby, aria-label, <label>, for groups the legend; then the nearest text before the
 * control (heading, legend, label without `for`, table head), placeholder, title, name.
 *
 * A form that a script builds is waited for, at most `patienceMs`: until there is a control and no form is busy.
 */
export async function readPage(patienceMs: number): Promise<PageForm> {
  type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
  const KINDS: Record<string, ControlKind> = {
    email: "email",
    tel: "tel",
    url: "url",
    password: "password",
    number: "number",
    range: "number",
    date: "date",
    time: "time",
    file: "file",
    checkbox: "checkbox",
    radio: "radio",
  };
  const FIELDS = "input,select,textarea";
  const DATE_HINT = /^(?:yyyy([-/.])mm\1dd|(?:mm([-/.])dd|dd([-/.])mm)(?:\2|\3)yyyy)$/i;
  const clean = (text: string | null | undefined): string => (text ?? "").replace(/\s+/g, " ").trim();

  /** Text of an element without the controls and scripts inside it. */
  function textOf(element: Element): string {
    const copy = element.cloneNode(true) as Element;
    for (const inner of copy.querySelectorAll("input,select,textarea,button,option,script,style")) inner.remove();
    return clean(copy.textContent);
  }

  function ariaName(element: Element): string {
    const ids = clean(element.getAttribute("aria-labelledby"));
    if (ids !== "") {
      const parts = ids.split(" ").map((id) => element.ownerDocument.getElementById(id));
      const text = clean(parts.map((part) => (part === null ? "" : textOf(part))).join(" "));
      if (text !== "") return text;
    }
    return clean(element.getAttribute("aria-label"));
  }

  function ownLabel(field: Field): string {
    return ariaName(field) || clean([...(field.labels ?? [])].map(textOf).join(" "));
  }

  /** The nearest text before an element that is not the label or the neighbour of another control. */
  function textBefore(element: Element, members: readonly Field[]): string {
    const own = new Set(members.flatMap((member) => [...(member.labels ?? [])]));
    for (
      let node: Element | null = element;
      node !== null && node.tagName !== "FORM" && node.tagName !== "BODY";
      node = node.parentElement
    ) {
      for (let before = node.previousElementSibling; before !== null; before = before.previousElementSibling) {
        if (own.has(before as HTMLLabelElement)) continue;
        if (before.matches(FIELDS) || before.querySelector(FIELDS) !== null) return "";
        if (before.matches("h1,h2,h3,h4,h5,h6,legend,label,th,td,dt,p,span,strong,b,div") && textOf(before) !== "")
          return textOf(before);
      }
    }
    return "";
  }

  function groupName(members: readonly Field[]): string {
    const first = members[0] as Field;
    for (let node = first.parentElement; node !== null && node.tagName !== "FORM"; node = node.parentElement) {
      if (!members.every((member) => node?.contains(member))) continue;
      // a container that also holds other fields names a section, not this group
      const others = [...node.querySelectorAll<Field>(FIELDS)].filter(
        (f) => f.type !== "hidden" && !members.includes(f),
      );
      if (others.length > 0) break;
      const legend = node.tagName === "FIELDSET" ? node.querySelector(":scope > legend") : null;
      const name = ariaName(node) || (legend === null ? "" : textOf(legend));
      if (name !== "") return name;
    }
    return textBefore(first, members) || clean(first.name);
  }

  function fieldName(field: Field): string {
    return (
      ownLabel(field) ||
      textBefore(field, [field]) ||
      clean(field.getAttribute("placeholder")) ||
      clean(field.title) ||
      clean(field.name)
    );
  }

  function usable(field: Field): boolean {
    if (field.disabled || field.matches("fieldset[disabled] *")) return false;
    if (field instanceof HTMLInputElement && ["hidden", "submit", "button", "reset", "image"].includes(field.type))
      return false;
    // styled checkboxes and file inputs are hidden behind a visible label
    return [field, ...(field.labels ?? [])].some((shown) => shown.checkVisibility());
  }

  const end = performance.now() + patienceMs;
  while (performance.now() < end) {
    const built =
      [...document.querySelectorAll<Field>(FIELDS)].some(usable) &&
      document.querySelector("form[aria-busy=true]") === null;
    if (built) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }

  const page: PageForm = {
    elements: [],
    buttons: [],
    controls: [],
    buttonData: [],
    submits: 0,
    prevented: 0,
    clicked: false,
  };
  const fields = [...document.querySelectorAll<Field>(FIELDS)].filter(usable);
  const grouped = new Set<Field>();
  for (const field of fields) {
    if (grouped.has(field)) continue;
    let members: Field[] = [field];
    let kind: ControlKind = "text";
    if (field instanceof HTMLTextAreaElement) kind = "textarea";
    else if (field instanceof HTMLSelectElement) kind = field.multiple ? "checkbox-group" : "select";
    else kind = KINDS[field.type] ?? "text";
    if ((kind === "radio" || kind === "checkbox") && field.name !== "") {
      members = fields.filter((f) => f.type === field.type && f.name === field.name && f.form === field.form);
      if (kind === "checkbox" && members.length > 1) kind = "checkbox-group";
    }
    for (const member of members) grouped.add(member);
    // scripted date pickers are text fields that show in which notation they want the date
    const hint = kind === "text" ? clean(field.getAttribute("placeholder")) : "";
    const notation = DATE_HINT.test(hint) ? hint.toUpperCase() : undefined;
    if (notation !== undefined) kind = "date";
    const isGroup = kind === "radio" || (kind === "checkbox-group" && field instanceof HTMLInputElement);
    const options =
      field instanceof HTMLSelectElement
        ? [...field.options].map((o) => ({ text: clean(o.text), value: o.value, chosen: o.selected }))
        : isGroup
          ? (members as HTMLInputElement[]).map((m) => ({
              text: ownLabel(m) || clean(m.nextSibling?.textContent) || m.value,
              value: m.value,
              chosen: m.checked,
            }))
          : [];
    page.elements.push(members);
    page.controls.push({
      kind,
      label: isGroup ? groupName(members) : fieldName(field),
      name: field.name,
      id: field.id,
      required: members.some((member) => member.required),
      ...(notation === undefined ? {} : { notation }),
      options,
      value: kind === "file" ? clean((field as HTMLInputElement).files?.[0]?.name) : field.value,
      checked: field instanceof HTMLInputElement && field.checked,
    });
  }
  for (const button of document.querySelectorAll<HTMLElement>(
    "button,input[type=submit],input[type=image],input[type=button],input[type=reset],[role=button]",
  )) {
    if ((button as HTMLButtonElement).disabled === true || !button.checkVisibility()) continue;
    const label =
      ariaName(button) || textOf(button) || clean(button.textContent) || clean((button as HTMLInputElement).value);
    const form = (button as HTMLButtonElement).form ?? null;
    const type: string = (button as HTMLButtonElement).type;
    page.buttons.push(button);
    page.buttonData.push({
      label,
      submits: form !== null && (type === "submit" || type === "image"),
      formControls: page.elements.filter((e) => (e[0] as Field).form === form).length,
    });
  }
  window.addEventListener("submit", () => page.submits++, true);
  // last in line: by now every other listener has had its say
  window.addEventListener("submit", (event) => {
    if (event.defaultPrevented) page.prevented++;
  });
  return page;
}

/**
 * Runs IN THE PAGE: waits, at most so long, until answers that have left the server have come to the page's scripts too.
 * A page without these entries (a failed request may have none) is not waited for any longer.
 */
export async function awaitAnswers({
  urls,
  patienceMs,
}: {
  urls: readonly string[];
  patienceMs: number;
}): Promise<void> {
  const end = performance.now() + patienceMs;
  const come = (url: string): boolean => performance.getEntriesByName(url, "resource").length > 0;
  while (performance.now() < end && !urls.every(come)) await new Promise((resolve) => setTimeout(resolve, 10));
  // the scripts' own turn
  await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Runs IN THE PAGE: the controls' values now, in the order of `readPage`. */
export function readValues(page: PageForm): Pick<RawControl, "value" | "checked" | "options">[] {
  return page.controls.map((control, i) => {
    const elements = page.elements[i] ?? [];
    const element = elements[0];
    const chosen = (k: number): boolean =>
      element instanceof HTMLSelectElement
        ? element.options[k]?.selected === true
        : (elements[k] as HTMLInputElement | undefined)?.checked === true;
    return {
      value: control.kind === "file" ? ((element as HTMLInputElement).files?.[0]?.name ?? "") : (element?.value ?? ""),
      checked: element instanceof HTMLInputElement && element.checked,
      options: control.options.map((option, k) => ({ ...option, chosen: chosen(k) })),
    };
  });
}
