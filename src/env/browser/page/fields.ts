import type { ControlKind } from "../../site.js";
import type { Widget, WidgetName } from "./aria.js";
import type { NameKit } from "./names.js";

/** What the page holds at one control, before it is a FieldValue: plain data that crosses from the page. */
export interface RawControl {
  kind: ControlKind;
  widget: WidgetName;
  label: string;
  /** What a person may call it too: a visible label where the name is another, a placeholder, the label without remarks. */
  also: readonly string[];
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

export type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** A control and the elements that it is made of. */
export interface Entry {
  readonly members: HTMLElement[];
  readonly raw: RawControl;
}

export interface FieldKit extends NameKit {
  isField(element: Element): element is Field;
  /** Whether a person could fill a field in. */
  usable(field: Field): boolean;
  /** The place of an element's form among the forms, dialogs and frames of the page; -1 where it is in none. */
  formOf(element: Element | null): number;
  nativeEntry(field: Field, fields: readonly Field[]): Entry;
  widgetEntry(widget: Widget): Entry;
  /** Several native fields that a person takes for one: a date in parts, a code with a field a character. */
  composites(fields: readonly Field[]): Entry[];
  /** Boxes below one name, which the task asks for as one: each may have a name of its own. */
  askedGroups(fields: readonly Field[], labels: readonly string[]): Entry[];
}

/** Runs IN THE PAGE: makes controls of native fields, alone and several together, and of widgets. Self-contained. */
export function fieldKit(kit: NameKit): FieldKit {
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
  const DATE_HINT = /^(?:yyyy([-/.])mm\1dd|(?:mm([-/.])dd|dd([-/.])mm)(?:\2|\3)yyyy)$/i;
  const { clean, textOf, ariaName, ownLabel, parentOf } = kit;
  const { matches } = Element.prototype;
  const isField = (element: Element): element is Field => /^(?:INPUT|SELECT|TEXTAREA)$/.test(element.tagName);
  const isSelect = (element: Element): element is HTMLSelectElement => element.tagName === "SELECT";
  const labelsOf = (element: HTMLElement): HTMLElement[] => [...((element as HTMLInputElement).labels ?? [])];

  function usable(field: Field): boolean {
    if (field.disabled || field.matches("fieldset[disabled] *")) return false;
    if (field.tagName === "INPUT" && ["hidden", "submit", "button", "reset", "image"].includes(field.type))
      return false;
    // a copy of a widget's value for form posts, or a trap for programs
    if (field.getAttribute("aria-hidden") === "true" && (field.tagName !== "SELECT" || labelsOf(field).length === 0))
      return false;
    if (isTyped(field) && !inSight(field)) return false;
    if (isSelect(field) && hasTwin(field)) return false;
    // styled checkboxes, selects and file inputs are hidden behind a visible label
    if ([field, ...labelsOf(field)].some(kit.shown)) return true;
    if (/^(?:file|checkbox|radio)$/.test(field.type))
      return field.closest("label") !== null
        ? kit.shown(field.closest("label") as Element)
        : field.type === "file" && parentOf(field) !== null && kit.shown(parentOf(field) as Element);
    return false;
  }

  /** A list that a library has hidden, and drawn anew beside it as a combobox: that is what a person uses. */
  function hasTwin(select: HTMLSelectElement): boolean {
    const box = select.getBoundingClientRect();
    if (kit.shown(select) && box.width > 4 && box.height > 4) return false;
    const next = select.nextElementSibling;
    const twin = next?.matches("[role=combobox]") ? next : next?.querySelector("[role=combobox]");
    return twin !== null && twin !== undefined && kit.shown(twin);
  }

  const isTyped = (field: Field): boolean =>
    field.tagName === "TEXTAREA" ||
    (field.tagName === "INPUT" && !/^(?:checkbox|radio|file|range|color)$/.test((field as HTMLInputElement).type));

  /** A field that is put off the page, or made too small to be seen, is there for programs that fill in everything. */
  function inSight(field: Element): boolean {
    const box = field.getBoundingClientRect();
    const view = field.ownerDocument.defaultView ?? window;
    const seen = view.getComputedStyle(field);
    if (!kit.shown(field)) return true;
    return (
      box.right + view.scrollX > 0 &&
      box.bottom + view.scrollY > 0 &&
      (box.width > 1 || box.height > 1) &&
      (seen.opacity !== "0" || box.width * box.height > 100)
    );
  }

  /** Forms, and what else holds fields of its own. */
  const forms: Element[] = [];
  function formOf(element: Element | null): number {
    let form = (element as HTMLInputElement | null)?.form ?? null;
    for (let node = element; form === null && node !== null; node = parentOf(node))
      // a frame is a form of its own
      if (matches.call(node, "form,[role=form],dialog,[role=dialog],iframe")) form = node as HTMLFormElement;
    if (form === null) return -1;
    if (!forms.includes(form)) forms.push(form);
    return forms.indexOf(form);
  }

  function common(element: HTMLElement): Pick<RawControl, "name" | "id" | "form" | "present"> {
    const host = (element.getRootNode() as ShadowRoot).host;
    return {
      name: (element as HTMLInputElement).name ?? element.getAttribute("name") ?? host?.getAttribute("name") ?? "",
      id: element.id || (host?.id ?? ""),
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
    } else if (kind === "radio") members = nameless(field, fields);
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
        ...(isGroup ? kit.ofGroup(members) : kit.ofField(field)),
        required: members.some((member) => member.required),
        ...(notation === undefined ? {} : { notation }),
        options: [],
        value: "",
        checked: false,
      },
    };
  }

  /** Radio buttons that a script keeps apart have no name: those of the smallest container that has several and no other field. */
  function nameless(field: Field, fields: readonly Field[]): Field[] {
    for (let node = parentOf(field); node !== null && node.tagName !== "BODY"; node = parentOf(node)) {
      const inside = fields.filter((f) => node?.contains(f));
      if (inside.some((f) => f.type !== "radio")) break;
      if (inside.length > 1) return inside;
    }
    return [field];
  }

  function widgetEntry(widget: Widget): Entry {
    const element = (widget.group ?? widget.members[0]) as HTMLElement;
    return {
      members: [...widget.members],
      raw: {
        ...common(element),
        kind: widget.kind,
        widget: widget.widget,
        ...kit.ofWidget(widget),
        required: element.getAttribute("aria-required") === "true",
        options: [],
        value: "",
        checked: false,
      },
    };
  }

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
        const isTime = parts && parts.length === 2;
        if (!digits && !parts) break;
        const legend = node.querySelector(":scope > legend,:scope > label:not([for])");
        const label = ariaName(node) || (legend === null ? "" : textOf(legend)) || kit.groupName(inside);
        if (label === "") break;
        found.push({
          members: digits ? [...inside] : (parts as Field[]),
          raw: {
            ...common(node as HTMLElement),
            name: "",
            kind: digits ? "text" : isTime ? "time" : "date",
            widget: digits ? "digits" : "parts",
            label,
            also: [],
            section: kit.sectionOf(node),
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

  function askedGroups(fields: readonly Field[], labels: readonly string[]): Entry[] {
    const boxes = fields.filter((f) => f.type === "checkbox");
    const seen = new Set<Element>();
    return boxes.flatMap((box): Entry[] => {
      for (let node = parentOf(box); node !== null && node.tagName !== "BODY"; node = parentOf(node)) {
        const inside = fields.filter((f) => node?.contains(f));
        if (inside.some((f) => f.type !== "checkbox")) return [];
        if (inside.length < 2) continue;
        if (seen.has(node)) return [];
        seen.add(node);
        const label = kit.groupName(inside);
        const asked = (text: string): boolean => labels.some((l) => kit.same(l, text));
        if (!asked(label) || inside.some((f) => asked(kit.boxName(f)))) continue;
        const names = kit.ofGroup(inside);
        return [
          {
            members: inside,
            raw: {
              ...common(node as HTMLElement),
              ...names,
              name: "",
              kind: "checkbox-group",
              widget: "boxes",
              required: false,
              options: [],
              value: "",
              checked: false,
            },
          },
        ];
      }
      return [];
    });
  }

  /** Year, month and day of these fields, or hour and minute; false where they are none. */
  function partsOf(fields: readonly Field[]): Field[] | false {
    const said = (f: Field): string =>
      `${ownLabel(f)} ${f.getAttribute("placeholder") ?? ""} ${f.name} ${f.id} ${isSelect(f) ? (f.options[0]?.text ?? "") : ""}`;
    const year = fields.find((f) => /year|yyyy/i.test(said(f)));
    const month = fields.find((f) => f !== year && /month|\bmm\b/i.test(said(f)));
    const day = fields.find((f) => f !== year && f !== month && /day|\bdd\b/i.test(said(f)));
    const hour = fields.find((f) => /hour|\bhh\b/i.test(said(f)));
    const minute = fields.find((f) => f !== hour && /minute|\bmm\b/i.test(said(f)));
    if (fields.length === 2 && hour !== undefined && minute !== undefined) return [hour, minute];
    return year !== undefined && month !== undefined && day !== undefined && fields.length === 3
      ? [year, month, day]
      : false;
  }

  return { ...kit, isField, usable, formOf, nativeEntry, widgetEntry, composites, askedGroups };
}
