import type { ControlKind, FieldValue } from "../../site.js";
import type { Field, NameKit } from "./names.js";

/** Facts of a control that may be known before its page is read. */
export interface KnownControl {
  readonly kind: ControlKind;
  /** Accessible name. */
  readonly label: string;
  /** The key that it is posted under; its `id` if it has no name. */
  readonly name: string;
  readonly required: boolean;
  /** Options of selects, members of radio and checkbox groups; the posted value of a single checkbox. */
  readonly options: readonly { readonly text: string; readonly value: string }[];
}

/** Plain data of one control, as it is read from the page. */
export interface RawControl extends KnownControl {
  /** The notation of a date if a text field names it: `YYYY/MM/DD`. */
  readonly notation?: string;
  readonly value: FieldValue;
  /** Tells whether it is on the page and usable now. */
  present: boolean;
}

export interface RawButton {
  label: string;
  submits: boolean;
  /** Set if the button belongs to the form with most of the controls. */
  main: boolean;
}

export interface ReadOptions {
  readonly patienceMs: number;
  /** The controls if they are known: they are looked up by name, without labels. */
  readonly declared?: readonly KnownControl[] | undefined;
  /** Labels; the page counts as drawn once one of them is there. */
  readonly labels: readonly string[];
  /** Controls of the page that this one has replaced: they keep their indices. */
  readonly known: readonly KnownControl[];
}

/** The page's elements behind the data: they stay in the page and are addressed by index. */
export interface PageForm extends NameKit {
  /** For each control: its element, or the members of a radio or checkbox group. */
  elements: HTMLElement[][];
  controls: RawControl[];
  buttons: HTMLElement[];
  buttonData: RawButton[];
  /** Set once the button that was aimed at is clicked. */
  clicked: boolean;
  /** Reads the page again: known controls keep their index, new ones come after them. */
  scan(): void;
}

interface Entry {
  readonly members: Field[];
  readonly raw: RawControl;
}

/** Runs IN THE PAGE: finds controls and reads their values. Self-contained. */
export function fieldKit(kit: NameKit) {
  const FIELDS = "input,select,textarea";
  const KINDS = /^(?:email|tel|url|password|number|date|time|file|checkbox|radio)$/;
  const DATE_HINT = /^(?:yyyy([-/.])mm\1dd|(?:mm([-/.])dd|dd([-/.])mm)(?:\2|\3)yyyy)$/i;
  const { all, shown, clean, labelsOf, parentOf, isSelect, nameOf, groupName } = kit;
  const { getAttribute, matches } = Element.prototype;

  const isOff = (field: Field): boolean => field.disabled || matches.call(field, "fieldset[disabled] *");
  const usable = (field: Field): boolean =>
    !isOff(field) &&
    !(field.tagName === "INPUT" && /^(?:hidden|submit|button|reset|image)$/.test(field.type)) &&
    // styled checkboxes and file inputs are hidden behind a visible label
    (shown(field) ||
      (/^(?:checkbox|radio|file)$/.test(field.type) && labelsOf(field).some(shown)) ||
      (field.type === "file" && shown(parentOf(field) ?? field)));

  function kindOf(field: Field): ControlKind {
    if (field.tagName === "TEXTAREA") return "textarea";
    if (isSelect(field)) return field.multiple ? "checkbox-group" : "select";
    return field.type === "range" ? "number" : KINDS.test(field.type) ? (field.type as ControlKind) : "text";
  }

  function rawOf(members: readonly Field[], declaredAs?: KnownControl): RawControl {
    const [field] = members as [Field];
    const kind =
      declaredAs?.kind ?? (members.length > 1 && field.type === "checkbox" ? "checkbox-group" : kindOf(field));
    const present = members.some(usable);
    if (declaredAs !== undefined) return { ...declaredAs, value: held(kind, members, declaredAs.options), present };
    const hint = kind === "text" ? clean(getAttribute.call(field, "placeholder")) : "";
    const group = kind === "radio" || (kind === "checkbox-group" && !isSelect(field));
    const options = isSelect(field)
      ? [...field.options].map(({ text, value }) => ({ text: clean(text), value }))
      : group || kind === "checkbox"
        ? members.map((member) => ({ text: nameOf(member), value: member.value }))
        : [];
    return {
      kind: DATE_HINT.test(hint) ? "date" : kind,
      label: (group ? groupName(members) : nameOf(field)).slice(0, 1000),
      name: field.name || field.id,
      required: members.some((member) => member.required),
      ...(DATE_HINT.test(hint) ? { notation: hint.toUpperCase() } : {}),
      options: options
        .slice(0, 2000)
        .map(({ text, value }) => ({ text: text.slice(0, 1000), value: value.slice(0, 1000) })),
      value: held(kind, members),
      present,
    };
  }

  function held(kind: ControlKind, members: readonly Field[], options?: RawControl["options"]): FieldValue {
    const [field] = members as [Field];
    const optionText = (member: Field): string =>
      options?.find(({ value }) => value === member.value)?.text ?? nameOf(member);
    const texts = (): string[] =>
      isSelect(field)
        ? [...field.selectedOptions].filter(({ value }) => value !== "").map(({ text }) => clean(text))
        : members.filter(({ checked }) => checked).map(optionText);
    if (kind === "checkbox") return field.checked;
    if (kind === "checkbox-group") return texts();
    if (kind === "select" || kind === "radio") return texts()[0] ?? "";
    return kind === "file" ? (field.files?.[0]?.name ?? "") : field.value;
  }

  /** Lists all controls with their elements, in page order. */
  function entries(): Entry[] {
    const fields = (all(FIELDS) as Field[]).filter(usable).slice(0, 1000);
    const taken = new Set<Field>();
    return fields.flatMap((field) => {
      if (taken.has(field)) return [];
      const together = /^(?:radio|checkbox)$/.test(field.type) && field.name !== "";
      const members = together
        ? fields.filter((other) => other.type === field.type && other.name === field.name && other.form === field.form)
        : [field];
      for (const member of members) taken.add(member);
      return [{ members, raw: rawOf(members) }];
    });
  }

  return { ...kit, FIELDS, isOff, rawOf, entries };
}

/** Functions that read the HTML controls and the buttons of a page. */
export type FormKit = ReturnType<typeof formKit>;

/** Runs IN THE PAGE: finds HTML controls with their names, and the buttons. Self-contained. */
export function formKit(kit: ReturnType<typeof fieldKit>) {
  const PLAIN = "button,input[type=submit],input[type=image],input[type=button],[role=button]";
  const { all, shown, clean } = kit;
  const loose = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
  const wantedBy = (labels: readonly string[]): ((control: RawControl) => boolean) => {
    const wanted = new Set(labels.map(loose));
    return ({ label, options }) => wanted.has(loose(label)) || options.some(({ text }) => wanted.has(loose(text)));
  };

  function mostOf<T>(items: readonly T[]): T | undefined {
    const counts = new Map<T, number>();
    for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
  }

  function ownEntries(labels: readonly string[]): Entry[] {
    const found = kit.entries();
    const isWanted = wantedBy(labels);
    const main = mostOf(found.filter(({ raw }) => isWanted(raw)).map(({ members }) => members[0]?.form));
    return main === undefined ? found : found.filter(({ members }) => members[0]?.form === main);
  }

  /** Looks up known controls by name. */
  function lookUp(page: PageForm, declared: readonly KnownControl[]): void {
    declared.forEach((control, i) => {
      const members = all(`[name=${JSON.stringify(control.name)}]`).filter((e) =>
        Element.prototype.matches.call(e, kit.FIELDS),
      ) as Field[];
      page.elements[i] = members;
      const value = page.controls[i]?.value ?? "";
      page.controls[i] = members.length > 0 ? kit.rawOf(members, control) : { ...control, value, present: false };
    });
  }

  const signature = ({ kind, label, name }: KnownControl): string => [kind, label, name].join("\n");

  /** Finds the controls of the form with most of the labels, without a search, a newsletter or a login form. */
  function find(page: PageForm, labels: readonly string[]): void {
    for (const control of page.controls) control.present = false;
    const used = new Set<number>();
    for (const { members, raw } of ownEntries(labels)) {
      const same = page.controls.findIndex((_, i) => !used.has(i) && page.elements[i]?.[0] === members[0]);
      const alike = page.controls.findIndex(
        (old, i) => !used.has(i) && !old.present && signature(old) === signature(raw),
      );
      const index = same >= 0 ? same : alike >= 0 ? alike : page.controls.length;
      used.add(index);
      page.elements[index] = members;
      page.controls[index] = raw;
    }
  }

  function readButtons(page: PageForm): void {
    page.buttons = all(PLAIN).filter(
      (button) => shown(button) && !kit.isOff(button as Field) && button.getAttribute("aria-disabled") !== "true",
    );
    const forms = page.elements.flatMap(([field], i) => (page.controls[i]?.present ? [(field as Field).form] : []));
    const main = mostOf(forms) ?? null;
    page.buttonData = page.buttons.map((button) => {
      const { form = null, type } = button as HTMLInputElement;
      return {
        label: kit.ariaName(button) || clean(button.textContent) || clean((button as HTMLInputElement).value),
        submits: form !== null && (type === "submit" || type === "image"),
        main: form === main,
      };
    });
  }

  return { ...kit, wantedBy, lookUp, find, readButtons };
}

/**
 * Runs IN THE PAGE: reads the page. Waits for a form that a script builds, at most `patienceMs`: until one of the
 * labels is there and no form is busy.
 */
export async function readPage({ patienceMs, declared, labels, known }: ReadOptions, kit: FormKit): Promise<PageForm> {
  /** Time limit for a style sheet, in milliseconds. */
  const STYLE_MS = 1000;
  const { all } = kit;
  const page: PageForm = {
    ...kit,
    elements: known.map(() => []),
    controls: known.map((control) => ({ ...control, value: "", present: false })),
    buttons: [],
    buttonData: [],
    clicked: false,
    scan: () => {
      if (declared === undefined) kit.find(page, labels);
      else kit.lookUp(page, declared);
      kit.readButtons(page);
    },
  };
  const isWanted = kit.wantedBy(labels);
  const start = performance.now();
  const isDrawn = (): boolean => {
    // without its style a page has another layout, and a button would move before the click
    const bare = all("link[rel=stylesheet]").some((link) => (link as HTMLLinkElement).sheet === null);
    if (bare && performance.now() < start + STYLE_MS && document.readyState !== "complete") return false;
    if (all("form[aria-busy=true]").length > 0) return false;
    page.scan();
    const present = page.controls.filter(({ present }) => present);
    // a page that follows another one need not have controls
    if (known.length > 0 && document.readyState === "complete") return true;
    return present.length > 0 && (declared !== undefined || labels.length === 0 || present.some(isWanted));
  };
  while (!isDrawn() && performance.now() < start + patienceMs) await new Promise((resolve) => setTimeout(resolve, 10));
  return page;
}

/** Runs IN THE PAGE: reads the page again. */
export function readAgain(page: PageForm): Pick<PageForm, "controls" | "buttonData"> {
  page.scan();
  return { controls: page.controls, buttonData: page.buttonData };
}
