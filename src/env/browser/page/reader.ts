import type { Held } from "./aria.js";
import type { Entry, Field, FieldKit, RawControl } from "./fields.js";
import type { NameKit } from "./names.js";

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
  /** Whether the mouse went down beside it. */
  missed: boolean;
  /** Whether scripts of the page may listen: it then has to be used as a person does it. */
  scripted: boolean;
  /** Changes of the document so far. */
  changes: number;
  /** Controls whose element has been replaced by another one. */
  redrawn: number[];
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
  kit: FieldKit,
  { patienceMs, known, labels }: { patienceMs: number; known: readonly KnownControl[]; labels: readonly string[] },
): Promise<PageForm> {
  const FIELDS = "input,select,textarea";
  const IDLE_MS = 1500;
  /** A style sheet that does not come is not waited for any longer. */
  const STYLE_MS = 1000;
  const { isField, parentOf } = kit;
  const { getAttributeNames } = Element.prototype;

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
      /(?:press|hit|type|and|with)\W+(?:the\W+)?(?:enter|return)\b|(?:press|hit|type)\W+(?:the\W+|a\W+)?comma\b|add (?:a |another )?(?:tag|skill|item|keyword|topic)/i.test(
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

  function entries(): Entry[] {
    const all = kit.all(kit.candidates);
    const fields = all.filter((e): e is Field => isField(e) && kit.usable(e));
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
        found.push(kit.widgetEntry(widget));
      } else if (isField(element)) {
        const entry = kit.nativeEntry(element, fields);
        for (const member of entry.members) taken.add(member);
        if (takesTags(element)) Object.assign(entry.raw, { widget: "tags", kind: "checkbox-group" });
        found.push(entry);
      }
    }
    const together = [
      ...kit.composites(fields.filter((f) => !/^(?:checkbox|radio|file)$/.test(f.type))),
      ...kit.askedGroups(fields, labels),
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
      if (last < 0 && index < page.controls.length) page.redrawn.push(index);
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
      const form = kit.formOf(button);
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
    missed: false,
    scripted: false,
    changes: 0,
    redrawn: [],
    departures: 0,
    add: /^(?:\+|\+?\s*add(?: (?:tag|item|skill|topic|keyword|another|more))?)$/i,
    scan,
  };

  const start = performance.now();
  while (performance.now() < start + patienceMs) {
    // without its style a page has another layout, and what is aimed at is elsewhere a moment later
    const bare = kit.all("link[rel=stylesheet]").some((link) => (link as HTMLLinkElement).sheet === null);
    const styled = !bare || performance.now() > start + STYLE_MS || document.readyState === "complete";
    if (styled && document.querySelector("form[aria-busy=true]") === null && entries().length > 0) break;
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
