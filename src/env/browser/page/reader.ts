import type { ControlKind } from "../../site.js";
import type { Held, Widget, WidgetName } from "./aria.js";
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
  /** A button by its element or role, and nothing that only may be one. */
  plain: boolean;
  /** Stands together with one field of a form that has several. */
  inline: boolean;
}

/** The page's own objects behind the data: they stay in the page and are reached by index. */
export interface PageForm {
  readonly kit: NameKit;
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
  /** Navigations to other documents that the page has begun. */
  departures: number;
  /** What a button says that adds an item to a list. */
  readonly add: RegExp;
  /** Reads the page again: known controls keep their index, new ones come after them. */
  scan(): void;
}

/** What is known of a control when its page is replaced by another one. */
export type KnownControl = Pick<RawControl, "kind" | "label" | "name" | "section">;

/**
 * Runs IN THE PAGE: finds every control a person could fill in, in page order, with its accessible name: native ones,
 * ARIA widgets, those in open shadow roots and in frames of the same origin. Self-contained, since its source is sent.
 *
 * A form that a script builds is waited for, at most `patienceMs`: until there is a control and no form is busy.
 */
export async function readPage(
  kit: NameKit,
  { patienceMs, known, labels }: { patienceMs: number; known: readonly KnownControl[]; labels: readonly string[] },
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
  const IDLE_MS = 1500;
  const DATE_HINT = /^(?:yyyy([-/.])mm\1dd|(?:mm([-/.])dd|dd([-/.])mm)(?:\2|\3)yyyy)$/i;
  const { clean, textOf, ariaName, ownLabel, parentOf } = kit;
  const { matches, getAttributeNames } = Element.prototype;
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
    // styled checkboxes, selects and file inputs are hidden behind a visible label
    if ([field, ...labelsOf(field)].some(kit.shown)) return true;
    if (/^(?:file|checkbox|radio)$/.test(field.type))
      return field.closest("label") !== null
        ? kit.shown(field.closest("label") as Element)
        : field.type === "file" && parentOf(field) !== null && kit.shown(parentOf(field) as Element);
    return false;
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

  type Entry = { members: HTMLElement[]; raw: RawControl };

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

  /** A button right behind a text field that adds what is typed to a list; where nothing else could send the form, it does that. */
  function adder(field: Field): HTMLElement | undefined {
    const { add } = page;
    if (!labels.some((label) => kit.same(label, kit.ofField(field).label))) return undefined;
    for (let next = field.nextElementSibling; next !== null; next = next.nextElementSibling) {
      if (next.matches("input,select,textarea,label")) return undefined;
      if (next.matches("button,[role=button],a,input[type=button]"))
        return add.test(kit.ofButton(next as HTMLElement)) &&
          ((next as HTMLButtonElement).form === null || (next as HTMLButtonElement).type === "button") &&
          kit
            .all("button,input[type=submit],[role=button]")
            .some((b) => b !== next && kit.shown(b) && !add.test(kit.ofButton(b)))
          ? (next as HTMLElement)
          : undefined;
    }
    return undefined;
  }

  /** Text fields that turn what is typed into chips say so by their surroundings. */
  function takesTags(field: Field): boolean {
    if (field.tagName !== "INPUT" || !/^(?:text|search|email|)$/.test(field.type) || !page.scripted) return false;
    if ((field as HTMLInputElement).readOnly || kit.isStepped(field)) return false;
    const hint = `${field.getAttribute("placeholder") ?? ""} ${field.getAttribute("aria-description") ?? ""} ${field.title}`;
    if (
      /(?:press|hit|type|and|with)\W+(?:the\W+)?(?:enter|return|comma)|add (?:a |another )?(?:tag|skill|item|keyword|topic)/i.test(
        hint,
      )
    )
      return true;
    if (adder(field) !== undefined) return true;
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

  /** Boxes below one name, which the task asks for as one: each may have a name of its own. */
  function askedGroups(fields: readonly Field[]): Entry[] {
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
    const together = [
      ...composites(fields.filter((f) => !/^(?:checkbox|radio|file)$/.test(f.type))),
      ...askedGroups(fields),
    ];
    const codes = new Set<Element>(together.flatMap((e) => (e.raw.widget === "parts" ? [] : e.members)));
    return [...found.filter((e) => !e.members.some((m) => codes.has(m))), ...together];
  }

  const signature = (raw: KnownControl): string => [raw.kind, raw.label, raw.name, raw.section].join("\n");

  function scan(): void {
    const free = new Map<string, number[]>();
    page.controls.forEach((raw, i) => {
      raw.present = false;
      if ((page.elements[i] ?? []).some((e) => e.isConnected && e.ownerDocument.defaultView !== null)) return;
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
      const label = kit.ofButton(button);
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
        plain: isButton,
        inline: isInline(button),
      });
    }
  }

  function isInline(button: Element): boolean {
    const count = (of: Element): number => of.querySelectorAll("input:not([type=hidden]),select,textarea").length;
    for (let node = parentOf(button), up = 0; node !== null && up < 2; node = parentOf(node), up++) {
      if (node.matches("form,body,main,dialog,[role=form],[role=dialog],table,tbody")) return false;
      const fields = count(node);
      if (fields > 0) return fields === 1 && count(node.closest("form") ?? document.body) > 1;
    }
    return false;
  }

  /** Whether anything in the page may listen to keys and changes. */
  function hasScripts(): boolean {
    return (
      kit.all("script").some((s) => (s as HTMLScriptElement).type !== "application/json") ||
      kit.all("*").some((e) => getAttributeNames.call(e).some((name) => name.startsWith("on")))
    );
  }

  const page: PageForm = {
    kit,
    elements: known.map(() => []),
    buttons: [],
    controls: known.map((k) => ({
      ...k,
      widget: "native",
      also: [],
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
    departures: 0,
    add: /^(?:\+|\+?\s*add(?: (?:tag|item|skill|topic|keyword|another|more))?)$/i,
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
  const { navigation } = window as { navigation?: EventTarget };
  navigation?.addEventListener("navigate", (event) => {
    if (!(event as Event & { destination: { sameDocument: boolean } }).destination.sameDocument) page.departures++;
  });
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
