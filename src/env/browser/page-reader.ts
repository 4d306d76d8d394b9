import type { ControlKind } from "../site.js";
import type { AriaKit, Held, Widget, WidgetName } from "./page-aria.js";

/** What the page holds at one control, before it is a FieldValue: plain data that crosses from the page. */
export interface RawControl {
  kind: ControlKind;
  widget: WidgetName;
  label: string;
  /** What names the group or section that the control stands in, as `Guest 2`; empty where nothing does. */
  section: string;
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
  /** Its form's place among the forms, dialogs and frames of the page; -1 where it is in none. */
  form: number;
  /** Whether it can be reached now: a step that was left behind, or a field taken away, cannot. */
  present: boolean;
}

export interface RawButton {
  label: string;
  submits: boolean;
  /** How many of the controls belong to the button's form. */
  formControls: number;
  form: number;
  /** The number of controls that stand before it in the page. */
  after: number;
  /** Made to look like the main one. */
  primary: boolean;
  /** Opens or toggles something. */
  opens: boolean;
}

/** The page's own objects behind the data: they stay in the page and are reached by index. */
export interface PageForm {
  readonly kit: AriaKit;
  /** Per control: its element, or the members of a radio or checkbox group. */
  elements: HTMLElement[][];
  buttons: HTMLElement[];
  controls: RawControl[];
  buttonData: RawButton[];
  /** Options that a widget has opened, by index. */
  options: HTMLElement[];
  /** Submit events since the last click on a submit button, and how many of them a script has stopped. */
  submits: number;
  prevented: number;
  /** Whether the button that was aimed at has been clicked. */
  clicked: boolean;
  /** Whether scripts of the page may listen: it then has to be used as a person does it. */
  scripted: boolean;
  /** Changes of the document so far. */
  changes: number;
  /** Reads the page again: known controls keep their index, new ones come after them. */
  scan(): void;
}

/** What is known of a control when its page is replaced by another one. */
export type KnownControl = Pick<RawControl, "kind" | "label" | "name" | "section">;

/**
 * Runs IN THE PAGE: finds every control a person could fill in, in page order, with its accessible name: native ones,
 * ARIA widgets, those in open shadow roots and in frames of the same origin. Self-contained, since its source is sent.
 *
 * The name, first of: aria-labelledby, aria-label, <label>, for groups the legend; then the nearest text before the
 * control (heading, legend, label without `for`, table head), placeholder, title, name.
 *
 * A form that a script builds is waited for, at most `patienceMs`: until there is a control and no form is busy.
 */
export async function readPage(
  kit: AriaKit,
  { patienceMs, known }: { patienceMs: number; known: readonly KnownControl[] },
): Promise<PageForm> {
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
  const ANY_FIELD = `${FIELDS},[role=combobox],[role=switch],[role=checkbox],[role=radio],[role=slider],[role=spinbutton],[contenteditable]:not([contenteditable=false])`;
  const IDLE_MS = 1500;
  const DATE_HINT = /^(?:yyyy([-/.])mm\1dd|(?:mm([-/.])dd|dd([-/.])mm)(?:\2|\3)yyyy)$/i;
  const { clean, textOf, ariaName, ownLabel, parentOf } = kit;
  const isField = (element: Element): element is Field => /^(?:INPUT|SELECT|TEXTAREA)$/.test(element.tagName);
  const isSelect = (element: Element): element is HTMLSelectElement => element.tagName === "SELECT";
  const labelsOf = (element: HTMLElement): HTMLElement[] => [...((element as HTMLInputElement).labels ?? [])];

  /** The nearest text before an element that is not the label or the neighbour of another control. */
  function textBefore(element: Element, members: readonly HTMLElement[]): string {
    const own = new Set<Element>(members.flatMap(labelsOf));
    for (
      let node: Element | null = element;
      node !== null && node.tagName !== "FORM" && node.tagName !== "BODY";
      node = parentOf(node)
    ) {
      for (let before = node.previousElementSibling; before !== null; before = before.previousElementSibling) {
        if (own.has(before)) continue;
        if (before.matches(ANY_FIELD) || before.querySelector(ANY_FIELD) !== null) return "";
        if (before.matches("h1,h2,h3,h4,h5,h6,legend,label,th,td,dt,p,span,strong,b,div") && textOf(before) !== "")
          return textOf(before);
      }
      // a bare text beside the control, as in <td>Name <input></td>
      const bare = bareText(node);
      if (bare !== "") return bare;
    }
    return "";
  }

  function bareText(node: Element): string {
    const before = node.previousSibling;
    return before !== null && before.nodeType === Node.TEXT_NODE ? clean(before.textContent) : "";
  }

  function groupName(members: readonly HTMLElement[]): string {
    const first = members[0] as HTMLElement;
    for (let node = parentOf(first); node !== null && node.tagName !== "FORM"; node = parentOf(node)) {
      if (!members.every((member) => node?.contains(member))) continue;
      // a container that also holds other fields names a section, not this group
      const others = [...node.querySelectorAll<Field>(FIELDS)].filter(
        (f) =>
          f.type !== "hidden" &&
          !members.some((m) => m === f || m.contains(f)) &&
          f.getAttribute("aria-hidden") !== "true",
      );
      if (others.length > 0) break;
      const legend = node.tagName === "FIELDSET" ? node.querySelector(":scope > legend") : null;
      const name =
        ariaName(node) ||
        (legend === null ? "" : textOf(legend)) ||
        (node.id === "" || node.getAttribute("role") === null ? "" : ownLabel(node));
      if (name !== "") return name;
    }
    return textBefore(first, members) || clean((first as HTMLInputElement).name);
  }

  /** The host of a web component stands for the control inside it. */
  function hostName(element: Element): string {
    const host = (element.getRootNode() as ShadowRoot).host;
    if (host === undefined) return "";
    return (
      ownLabel(host) ||
      clean(host.getAttribute("label")) ||
      textBefore(host, [host as HTMLElement]) ||
      clean(host.getAttribute("placeholder")) ||
      hostName(host)
    );
  }

  function fieldName(field: HTMLElement): string {
    const box = /^(?:checkbox|radio)$/.test((field as HTMLInputElement).type);
    const bare = box && field.previousElementSibling === null && bareText(field) === "" ? textAfter(field) : "";
    return (
      ownLabel(field) ||
      bare ||
      (field.getRootNode() === field.ownerDocument ? "" : hostName(field)) ||
      textBefore(field, [field]) ||
      clean(field.getAttribute("placeholder")) ||
      clean(field.title) ||
      clean((field as HTMLInputElement).name)
    );
  }

  function textAfter(field: Element): string {
    const next = field.nextSibling;
    if (next === null) return "";
    if (next.nodeType === Node.TEXT_NODE && clean(next.textContent) !== "") return clean(next.textContent);
    const after = field.nextElementSibling;
    return after !== null && !after.matches(ANY_FIELD) && after.querySelector(ANY_FIELD) === null ? textOf(after) : "";
  }

  /** Buttons of state and boxes say what they are by their own text, or what stands beside them. */
  function widgetName({ widget, members, group }: Widget): string {
    const element = members[0] as HTMLElement;
    if (group !== undefined) return ownLabel(group) || groupName(members);
    const wrapped = clean(element.closest("label") === null ? "" : textOf(element.closest("label") as Element));
    if (widget === "switch")
      return (
        ownLabel(element) ||
        wrapped ||
        clean(element.textContent) ||
        textAfter(element) ||
        hostName(element) ||
        textBefore(element, [element])
      );
    return ownLabel(element) || wrapped || (widget === "calendar" ? groupName([element]) : "") || fieldName(element);
  }

  function usable(field: Field): boolean {
    if (field.disabled || field.matches("fieldset[disabled] *")) return false;
    if (field.tagName === "INPUT" && ["hidden", "submit", "button", "reset", "image"].includes(field.type))
      return false;
    // a copy of a widget's value for form posts, or a trap for programs
    if (field.getAttribute("aria-hidden") === "true" && (field.tagName !== "SELECT" || labelsOf(field).length === 0))
      return false;
    // styled checkboxes, selects and file inputs are hidden behind a visible label
    if ([field, ...labelsOf(field)].some(kit.shown)) return true;
    if (/^(?:file|checkbox|radio)$/.test(field.type))
      return field.closest("label") !== null
        ? kit.shown(field.closest("label") as Element)
        : field.type === "file" && parentOf(field) !== null && kit.shown(parentOf(field) as Element);
    return false;
  }

  /** Forms, and what else holds fields of its own. */
  const forms: Element[] = [];
  function formOf(element: Element | null): number {
    let form = (element as HTMLInputElement | null)?.form ?? null;
    for (let node = element; form === null && node !== null; node = parentOf(node))
      if (
        node.matches("form,[role=form],dialog,[role=dialog],body") && node.ownerDocument !== document
          ? true
          : node.matches("form,[role=form],dialog,[role=dialog]")
      )
        form = node as HTMLFormElement;
    if (form === null) return -1;
    if (!forms.includes(form)) forms.push(form);
    return forms.indexOf(form);
  }

  function sectionOf(element: Element): string {
    for (let node = parentOf(element); node !== null && node.tagName !== "BODY"; node = parentOf(node)) {
      const name =
        ariaName(node) ||
        textOf(
          node.querySelector(
            ":scope > legend,:scope > h1,:scope > h2,:scope > h3,:scope > h4,:scope > h5,:scope > h6,:scope > summary,:scope > [class*=title i],:scope > [class*=header i]",
          ) ?? document.createElement("i"),
        );
      if (name !== "" && node.tagName !== "FORM") return name;
    }
    return "";
  }

  type Entry = { members: HTMLElement[]; raw: RawControl };

  function common(element: HTMLElement): Pick<RawControl, "name" | "id" | "section" | "form" | "present"> {
    const host = (element.getRootNode() as ShadowRoot).host;
    return {
      name: (element as HTMLInputElement).name ?? element.getAttribute("name") ?? host?.getAttribute("name") ?? "",
      id: element.id || (host?.id ?? ""),
      section: sectionOf(element),
      form: formOf(element),
      present: true,
    };
  }

  function nativeEntry(field: Field, fields: readonly Field[]): Entry {
    let members: Field[] = [field];
    let kind: ControlKind =
      field.tagName === "TEXTAREA"
        ? "textarea"
        : isSelect(field)
          ? field.multiple
            ? "checkbox-group"
            : "select"
          : (KINDS[field.type] ?? "text");
    if ((kind === "radio" || kind === "checkbox") && field.name !== "") {
      members = fields.filter((f) => f.type === field.type && f.name === field.name && f.form === field.form);
      if (kind === "checkbox" && members.length > 1) kind = "checkbox-group";
    }
    // scripted date pickers are text fields that show in which notation they want the date
    const hint = kind === "text" ? clean(field.getAttribute("placeholder")) : "";
    const notation = DATE_HINT.test(hint) ? hint.toUpperCase() : undefined;
    if (notation !== undefined) kind = "date";
    const isGroup = kind === "radio" || (kind === "checkbox-group" && !isSelect(field));
    const name = common(field);
    return {
      members,
      raw: {
        ...name,
        name: field.name || (name.name === field.name ? "" : name.name),
        kind,
        widget: "native",
        label: isGroup ? groupName(members) : fieldName(field),
        required: members.some((member) => member.required),
        ...(notation === undefined ? {} : { notation }),
        options: [],
        value: "",
        checked: false,
      },
    };
  }

  function widgetEntry(widget: Widget): Entry {
    const element = (widget.group ?? widget.members[0]) as HTMLElement;
    return {
      members: [...widget.members],
      raw: {
        ...common(element),
        kind: widget.kind,
        widget: widget.widget,
        label: widgetName(widget),
        required: element.getAttribute("aria-required") === "true",
        options: [],
        value: "",
        checked: false,
      },
    };
  }

  /** Text fields that turn what is typed into chips say so by their surroundings. */
  function takesTags(field: Field): boolean {
    if (field.tagName !== "INPUT" || !/^(?:text|search|email|)$/.test(field.type) || !page.scripted) return false;
    const hint = `${field.getAttribute("placeholder") ?? ""} ${field.getAttribute("aria-description") ?? ""} ${field.title}`;
    if (
      /(?:press|hit|type|and|with)\W+(?:the\W+)?(?:enter|return|comma)|add (?:a |another )?(?:tag|skill|item|keyword|topic)/i.test(
        hint,
      )
    )
      return true;
    let node: Element | null = field;
    for (let up = 0; up < 3 && node !== null && node.tagName !== "FORM"; up++, node = parentOf(node)) {
      if (up > 0 && node.querySelectorAll("input:not([type=hidden]),select,textarea").length > 1) return false;
      if (
        /(?:^|[-_\s])(?:tag|chip|token|pill)s?(?:[-_]?(?:input|field|list|box|container|wrap|wrapper|editor|area|control))?(?:$|\s)/i.test(
          String(node.className),
        )
      )
        return true;
    }
    return false;
  }

  /** Several native fields that a person takes for one: a date in parts, a code with a field a character. */
  function composites(fields: readonly Field[]): Entry[] {
    const found: Entry[] = [];
    const seen = new Set<Element>();
    for (const field of fields) {
      for (
        let up = 0, node = parentOf(field);
        up < 4 && node !== null && node.tagName !== "FORM" && node.tagName !== "BODY";
        up++, node = parentOf(node)
      ) {
        const inside = fields.filter((f) => node?.contains(f));
        if (inside.length < 2) continue;
        if (seen.has(node)) break;
        seen.add(node);
        const digits = inside.length >= 4 && inside.every((f) => (f as HTMLInputElement).maxLength === 1);
        const parts = inside.length <= 3 && partsOf(inside);
        if (!digits && !parts) break;
        const legend = node.querySelector(":scope > legend,:scope > label:not([for])");
        const label = ariaName(node) || (legend === null ? "" : textOf(legend)) || groupName(inside);
        if (label === "") break;
        found.push({
          members: digits ? [...inside] : (parts as Field[]),
          raw: {
            ...common(node as HTMLElement),
            name: "",
            kind: digits ? "text" : "date",
            widget: digits ? "digits" : "parts",
            label,
            required: false,
            options: [],
            value: "",
            checked: false,
          },
        });
        break;
      }
    }
    return found;
  }

  /** Year, month and day of these fields; false where they are none. */
  function partsOf(fields: readonly Field[]): Field[] | false {
    const said = (f: Field): string =>
      `${ownLabel(f)} ${f.getAttribute("placeholder") ?? ""} ${f.name} ${f.id} ${isSelect(f) ? (f.options[0]?.text ?? "") : ""}`;
    const year = fields.find((f) => /year|yyyy/i.test(said(f)));
    const month = fields.find((f) => f !== year && /month|\bmm\b/i.test(said(f)));
    const day = fields.find((f) => f !== year && f !== month && /day|\bdd\b/i.test(said(f)));
    return year !== undefined && month !== undefined && day !== undefined && fields.length === 3
      ? [year, month, day]
      : false;
  }

  function entries(): Entry[] {
    const all = kit.all(kit.candidates);
    const fields = all.filter((e): e is Field => isField(e) && usable(e));
    const taken = new Set<Element>();
    const found: Entry[] = [];
    for (const element of all) {
      if (taken.has(element) || (isField(element) && !fields.includes(element))) continue;
      const widget = kit.widgetOf(element);
      if (widget !== undefined) {
        if (widget.members.some((m) => taken.has(m))) continue;
        // a widget inside another one is a part of it
        if (
          [...taken].some(
            (t) =>
              t !== element &&
              t.contains(element) &&
              !isField(t) &&
              t.matches("[role=combobox],[role=listbox],[aria-haspopup]"),
          )
        )
          continue;
        for (const member of [element, ...widget.members]) taken.add(member);
        found.push(widgetEntry(widget));
      } else if (isField(element)) {
        const entry = nativeEntry(element, fields);
        for (const member of entry.members) taken.add(member);
        if (takesTags(element)) Object.assign(entry.raw, { widget: "tags", kind: "checkbox-group" });
        found.push(entry);
      }
    }
    const together = composites(fields.filter((f) => !/^(?:checkbox|radio|file)$/.test(f.type)));
    const codes = new Set<Element>(together.flatMap((e) => (e.raw.widget === "digits" ? e.members : [])));
    return [...found.filter((e) => !e.members.some((m) => codes.has(m))), ...together];
  }

  const signature = (raw: KnownControl): string => [raw.kind, raw.label, raw.name, raw.section].join("\n");

  function scan(): void {
    const free = new Map<string, number[]>();
    page.controls.forEach((raw, i) => {
      raw.present = false;
      if ((page.elements[i] ?? []).some((e) => e.isConnected)) return;
      const same = free.get(signature(raw)) ?? [];
      free.set(signature(raw), [...same, i]);
    });
    for (const { members, raw } of entries()) {
      const last = page.elements.findIndex((e, i) => e[0] === members[0] && page.controls[i]?.widget === raw.widget);
      const index = last >= 0 ? last : (free.get(signature(raw))?.shift() ?? page.controls.length);
      page.elements[index] = members;
      page.controls[index] = { ...raw, ...kit.held(raw, members) };
    }
    // what was found by its text stays as long as it is there
    page.controls.forEach((raw, i) => {
      if (raw.widget === "found" && (page.elements[i] ?? []).some(kit.shown)) raw.present = true;
    });
    readButtons();
  }

  function readButtons(): void {
    page.buttons = [];
    page.buttonData = [];
    const inControl = (e: Element): boolean =>
      page.elements.some((members, i) => page.controls[i]?.present && members.some((m) => m === e));
    const POSITIVE =
      /^(?:submit|send|save|apply|register|continue|sign ?up|book|order|confirm|create|join|next|finish|done|request|check ?out|pay|reserve|publish|post|place|complete|go\b)/i;
    const plain = "button,input[type=submit],input[type=image],input[type=button],input[type=reset],[role=button]";
    for (const button of kit.all(`${plain},a,[onclick],[tabindex="0"],[class*=btn i],[class*=button i]`)) {
      if (kit.isDisabled(button) || !kit.shown(button) || inControl(button)) continue;
      const label = labelOf(button);
      // a link or a box that works as a button says so
      const isButton = button.matches(plain);
      if (
        !isButton &&
        ((!POSITIVE.test(label) && !/^\+|^add\b/i.test(label)) ||
          label.length > 40 ||
          button.querySelector(`${plain},${FIELDS}`) !== null ||
          button.closest(plain) !== null)
      )
        continue;
      const type: string = (button as HTMLButtonElement).type;
      const form = formOf(button);
      const own = (button as HTMLButtonElement).form ?? null;
      page.buttons.push(button);
      page.buttonData.push({
        label,
        submits: own !== null && (type === "submit" || type === "image") && isButton,
        formControls: page.controls.filter((raw) => raw.present && raw.form === form).length,
        form,
        after: page.elements.filter(
          (members, i) =>
            page.controls[i]?.present &&
            members[0] !== undefined &&
            (members[0].compareDocumentPosition(button) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0,
        ).length,
        primary: /primary|submit|cta|success/i.test(String(button.className)),
        opens:
          button.hasAttribute("aria-haspopup") ||
          button.hasAttribute("aria-pressed") ||
          button.getAttribute("role") === "tab" ||
          button.hasAttribute("aria-expanded"),
      });
    }
  }

  function labelOf(button: HTMLElement): string {
    const slot = button.querySelector("slot");
    const host = (button.getRootNode() as ShadowRoot).host;
    return (
      ariaName(button) ||
      textOf(button) ||
      clean(button.textContent) ||
      clean((button as HTMLInputElement).value) ||
      (slot === null ? "" : textOf(slot)) ||
      clean(button.title) ||
      clean(button.querySelector("img")?.alt ?? (button as HTMLImageElement).alt) ||
      clean(button.querySelector("svg title")?.textContent) ||
      clean(host?.textContent) ||
      clean(host?.getAttribute("label"))
    );
  }

  /** Whether anything in the page may listen to keys and changes. */
  function hasScripts(): boolean {
    return (
      kit.all("script").some((s) => (s as HTMLScriptElement).type !== "application/json") ||
      kit.all("*").some((e) => [...e.attributes].some((a) => a.name.startsWith("on")))
    );
  }

  const page: PageForm = {
    kit,
    elements: known.map(() => []),
    buttons: [],
    controls: known.map((k) => ({
      ...k,
      widget: "native",
      id: "",
      required: false,
      options: [],
      value: "",
      checked: false,
      form: -1,
      present: false,
    })),
    buttonData: [],
    options: [],
    submits: 0,
    prevented: 0,
    clicked: false,
    scripted: false,
    changes: 0,
    scan,
  };

  const start = performance.now();
  while (performance.now() < start + patienceMs) {
    if (document.querySelector("form[aria-busy=true]") === null && entries().length > 0) break;
    // a form that something has to open first
    const opener =
      performance.now() > start + IDLE_MS &&
      document.readyState === "complete" &&
      kit.all("button,[role=button],a,summary").some(kit.shown);
    if (opener) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  page.scripted = hasScripts();
  scan();
  const observer = new MutationObserver((records) => {
    page.changes += records.length;
  });
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
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
export function readValues(page: PageForm): Held[] {
  return page.controls.map((control, i) => page.kit.held(control, page.elements[i] ?? []));
}
