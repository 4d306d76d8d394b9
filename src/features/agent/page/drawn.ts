import type { PageForm } from "../../../env/browser/page/form.js";
import type { ControlKind, FieldValue } from "../../../env/site.js";

/** A control that a page draws itself, or that is in a shadow root. */
export interface DrawnControl {
  readonly kind: ControlKind;
  readonly label: string;
  /** Texts of its options, as far as they exist before it is opened. */
  readonly options: readonly string[];
  readonly value: FieldValue;
}

/** The controls that cannot be set by a value alone, and the positions of all. */
export type DrawnPage = ReturnType<typeof readDrawn>;

/**
 * Runs IN THE PAGE: finds elements with the role of a control, in open shadow roots too, and names them by ARIA, labels
 * or their host.
 * @param picker CSS of HTML controls that are pickers.
 */
export function readDrawn(page: PageForm, picker: string) {
  const { elements, controls, shown, clean, textOf, listedIn } = page;
  const NATIVE = "input,select,textarea";
  const LISTS = "button[aria-haspopup=listbox],[role=button][aria-haspopup=listbox]";
  const ROLES: Readonly<Record<string, ControlKind>> = {
    combobox: "select",
    listbox: "select",
    slider: "number",
    spinbutton: "number",
    switch: "checkbox",
    checkbox: "checkbox",
    radiogroup: "radio",
    textbox: "textarea",
  };
  const DRAWN = `${Object.keys(ROLES)
    .map((role) => `[role=${role}]`)
    .join()},[contenteditable=''],[contenteditable=true],${LISTS}`;
  const known = new Set<Element>(elements.flat());
  const near = (e: Element): DOMRect => e.getBoundingClientRect();
  const isSeen = (e: Element): boolean => shown(e) && near(e).width > 1 && near(e).height > 1;

  /** Elements of the page and of its open shadow roots, in page order. */
  const all: Element[] = [];
  const visit = (root: Document | ShadowRoot): void => {
    for (const e of root.querySelectorAll("*")) {
      if (all.length > 20_000) return;
      all.push(e);
      if (e.shadowRoot !== null) visit(e.shadowRoot);
    }
  };
  visit(document);

  const hostOf = (e: Element): Element | null => {
    const root = e.getRootNode();
    return root instanceof ShadowRoot ? root.host : null;
  };
  const labelled = (e: Element): string => page.labelOf(e) || clean(e.getAttribute("label"));
  /** Returns the label before an element, in a box with no other label. */
  const before = (e: Element): string => {
    for (let box = e.parentElement, n = 0; box !== null && n < 6; box = box.parentElement, n++) {
      const label = box.querySelector("label,legend,[class*=label i]");
      if (label !== null && !label.contains(e) && box.querySelectorAll("label,legend").length < 2) return textOf(label);
    }
    return "";
  };
  const nameOf = (e: Element): string => {
    for (let at: Element | null = e; at !== null; at = hostOf(at)) {
      const name = labelled(at) || (hostOf(at) === null ? before(at) : "");
      if (name !== "") return name;
    }
    return clean(e.getAttribute("placeholder"));
  };

  const partsOf = (e: Element, role: string): Element[] => {
    const roots = [e, hostOf(e) ?? e, ...listedIn(e, "aria-controls"), ...listedIn(e, "aria-owns")];
    return [...new Set(roots.flatMap((root) => [...root.querySelectorAll(`[role=${role}]`)]))];
  };
  const nativeKind = (e: HTMLInputElement): ControlKind | undefined => {
    if (e.localName === "textarea") return "textarea";
    if (e.localName === "select") return "select";
    if (/^(?:checkbox|email|tel|url|number|date|time)$/.test(e.type)) return e.type as ControlKind;
    if (e.type === "range") return "number";
    return /^(?:text|search)$/.test(e.type) ? "text" : undefined;
  };
  const isOn = (e: Element): boolean =>
    (e as HTMLInputElement).checked === true ||
    ["aria-checked", "aria-selected"].some((name) => e.getAttribute(name) === "true");
  const drawnOf = (e: Element): DrawnControl | undefined => {
    const isNative = e.matches(NATIVE);
    const role = e.getAttribute("role") ?? "";
    const kind =
      isNative && role !== "combobox"
        ? nativeKind(e as HTMLInputElement)
        : e.matches(LISTS)
          ? "select"
          : (ROLES[role] ?? (role === "group" ? "text" : "textarea"));
    const number = e.getAttribute("aria-valuenow");
    const now = number ?? (e as HTMLInputElement).value ?? "";
    const name = nameOf(e);
    // a label may contain the value of its slider
    const label = (now !== "" && name.endsWith(` ${now}`) ? name.slice(0, -now.length - 1) : name)
      .replace(/:\s*[\d.,]+\s?[^\s\d:]{0,4}$/, "")
      .replace(/[\s*:]+$/, "")
      .slice(0, 1000);
    if (kind === undefined || !/[\p{L}\p{N}]/u.test(label)) return undefined;
    const parts = kind === "select" ? partsOf(e, "option") : kind === "radio" ? partsOf(e, "radio") : [];
    const own = e.localName === "select" ? [...(e as HTMLSelectElement).options] : parts;
    const nameIn = (part: Element): string => labelled(part) || clean(part.textContent);
    const chosen = own.filter(isOn).map(nameIn);
    const many = e.getAttribute("aria-multiselectable") === "true";
    const written = isNative ? (e as HTMLInputElement).value : (number ?? clean(e.textContent));
    return {
      kind: many ? "checkbox-group" : kind,
      label,
      options: [...new Set(own.map(nameIn))].filter((text) => text !== "").slice(0, 300),
      value: many ? chosen : kind === "checkbox" ? isOn(e) : (chosen[0] ?? (kind === "select" ? "" : written)),
    };
  };

  const taken = new Set(controls.filter(({ present }) => present).map(({ label }) => clean(label).toLowerCase()));
  const drawn: DrawnControl[] = [];
  /** The position of each control in pixels, the drawn ones last. */
  const places = elements.map((members): [top: number, left: number] => {
    const { top = 0, left = 0 } = members[0] === undefined ? {} : near(members[0]);
    return [Math.round(top), Math.round(left)];
  });
  for (const one of all) {
    if (drawn.length > 200) break;
    // the parts of a day or a time are one field
    const parts = one.matches("[role=spinbutton]") ? one.closest("[role=group]") : null;
    const isPart = parts !== null && parts.querySelectorAll("[role=spinbutton]").length > 1 && nameOf(parts) !== "";
    const e = isPart ? parts : one;
    const isHidden = hostOf(e) !== null && e.matches(NATIVE);
    if (known.has(e) || !(isPart || e.matches(DRAWN) || isHidden) || !isSeen(e)) continue;
    // an open list belongs to its combobox
    if (e.matches("[role=listbox]") && e.parentElement?.closest("[role=combobox]")) continue;
    const control = drawnOf(e);
    if (control === undefined || taken.has(control.label.toLowerCase())) continue;
    taken.add(control.label.toLowerCase());
    drawn.push(control);
    places.push([Math.round(near(e).top), Math.round(near(e).left)]);
  }
  /** Indices of HTML controls whose value has to be picked from a list or a calendar. */
  const pickers = elements.flatMap(([e], i) =>
    e?.matches(`input:is(${picker},[role=spinbutton])`) === true ? [i] : [],
  );
  return { drawn, pickers, places };
}

/** Runs IN THE PAGE: tells whether there is an element with a control's role, or a control in a shadow root. */
export function isDrawn(): boolean {
  const has = (root: Document | ShadowRoot): boolean =>
    root.querySelector(
      "[role=combobox],[role=listbox],[aria-haspopup=listbox],[role=slider],[role=spinbutton],[role=switch],[role=radiogroup],[role=textbox]",
    ) !== null ||
    (root !== document && root.querySelector("input,select,textarea") !== null) ||
    [...root.querySelectorAll("*")].some((e) => e.shadowRoot !== null && has(e.shadowRoot));
  return has(document);
}
