import type { ControlKind } from "../../site.js";
import type { PageKit } from "./kit.js";

/**
 * How a control is operated. `native`: an input, select or textarea. The rest are what component libraries make of ARIA
 * roles; `parts`: a date in two or three fields; `digits`: a code with a field a character; `tags`: a text field that
 * turns what is typed into chips; `found`: things to click beside a text, without any role.
 */
export type WidgetName =
  | "native"
  | "combobox"
  | "listbox"
  | "boxes"
  | "switch"
  | "spin"
  | "slider"
  | "edit"
  | "picker"
  | "calendar"
  | "segments"
  | "parts"
  | "digits"
  | "tags"
  | "found";

export interface Widget {
  readonly widget: WidgetName;
  readonly kind: ControlKind;
  /** The control itself, or the members of a group. */
  readonly members: readonly HTMLElement[];
  /** What holds the members and may name them. */
  readonly group?: HTMLElement;
}

export interface AriaKit extends PageKit {
  /** What may be a control or part of one. */
  readonly candidates: string;
  /** The widget that an element is; undefined where it is none, or belongs to another one. */
  widgetOf(element: HTMLElement): Widget | undefined;
  isOn(element: Element): boolean;
  boxName(box: HTMLElement): string;
  optionText(option: Element): string;
  optionValue(option: Element): string;
  /** The list that a combobox opens, where the page says which. */
  listOf(element: Element): Element | undefined;
  /** What a combobox or picker shows as chosen. */
  shownValue(element: HTMLElement): string;
  /** What a control holds now. */
  held(control: { readonly kind: ControlKind; readonly widget: WidgetName }, members: readonly HTMLElement[]): Held;
}

/** A control's content: text, a tick, and for choices each option and whether it is chosen. */
export interface Held {
  value: string;
  checked: boolean;
  options: { text: string; value: string; chosen: boolean }[];
}

/** Runs IN THE PAGE: knows the widgets that component libraries make, by role and state. Self-contained. */
export function ariaKit(kit: PageKit): AriaKit {
  const { clean, all, parentOf, shown, isDisabled } = kit;
  const candidates =
    "input,select,textarea,[role=combobox],[role=listbox],[role=switch],[role=checkbox],[role=menuitemcheckbox],[role=radiogroup],[role=radio],[role=spinbutton],[role=slider],[role=textbox],[role=searchbox],[role=grid],[role=group],[role=toolbar],[contenteditable],[aria-pressed],[aria-haspopup],[aria-checked]";
  const DATE_WORDS =
    /date|\bday\b|birth|\bborn\b|calendar|\bwhen\b|arriv|depart|check.?(?:in|out)|\bstart|\bend\b|\bfrom\b|until|\bdue\b|deadline|\byyyy|\bdd\b|\bmm\b/i;
  const roleOf = (element: Element): string => clean(element.getAttribute("role")).split(" ")[0] ?? "";
  const isNative = (element: Element): boolean => /^(?:INPUT|SELECT|TEXTAREA)$/.test(element.tagName);
  const isOn = (element: Element): boolean =>
    ["aria-checked", "aria-pressed", "aria-selected"].some((state) => element.getAttribute(state) === "true") ||
    (element as HTMLInputElement).checked === true ||
    ["checked", "on", "selected", "active"].includes(element.getAttribute("data-state") ?? "");

  /** What a box or radio button is called: where its label is a picture or a mark, by what that says. */
  function boxName(box: HTMLElement): string {
    const labels = kit.labelsOf(box);
    const said = [kit.ownLabel(box), clean(box.nextSibling?.textContent)].find((text) => /[\p{L}\p{N}]/u.test(text));
    const around = labels.flatMap((label) => [
      clean(label.title),
      kit.ariaName(label),
      clean(label.querySelector("img")?.alt),
      clean(label.querySelector("svg title,[aria-label]")?.getAttribute("aria-label") ?? ""),
    ]);
    return (
      said ?? ([clean(box.title), ...around].find((text) => text !== "") || clean((box as HTMLInputElement).value))
    );
  }

  const optionText = (option: Element): string =>
    (isNative(option) ? boxName(option as HTMLElement) : clean(option.getAttribute("aria-label"))) ||
    kit.ariaName(option) ||
    clean((option as HTMLElement).innerText ?? option.textContent) ||
    clean(option.getAttribute("title"));
  const optionValue = (option: Element): string =>
    option.getAttribute("data-value") ??
    option.getAttribute("value") ??
    [...option.attributes].find(
      (a) => /^data-(?!state|slot|reactid|testid|index$)/.test(a.name) && a.value !== "" && a.value.length < 100,
    )?.value ??
    option.id;

  function listOf(element: Element): Element | undefined {
    const root = element.getRootNode() as Document | ShadowRoot;
    for (const attribute of ["aria-controls", "aria-owns"]) {
      for (const id of clean(element.getAttribute(attribute)).split(" ")) {
        const list = id === "" ? null : (root.getElementById(id) ?? element.ownerDocument.getElementById(id));
        if (
          list !== null &&
          (list.matches("[role=listbox]") || list.querySelector("[role=option],[role=treeitem]") !== null)
        )
          return list;
      }
    }
    return undefined;
  }

  function isPopup(list: HTMLElement): boolean {
    if (list.id === "") return list.closest("[role=dialog],[popover]") !== null;
    return all("[aria-controls],[aria-owns]").some(
      (owner) =>
        owner !== list &&
        `${owner.getAttribute("aria-controls")} ${owner.getAttribute("aria-owns")}`.split(" ").includes(list.id),
    );
  }

  /** What surrounds one control and no other, as a person takes it for the control. */
  function bodyOf(element: HTMLElement): HTMLElement {
    let body = element;
    for (
      let up = parentOf(element) as HTMLElement | null;
      up !== null && up.tagName !== "FORM" && up.tagName !== "BODY" && up.tagName !== "LABEL";
      up = parentOf(up) as HTMLElement | null
    ) {
      const others = [
        ...up.querySelectorAll<HTMLElement>(
          "input:not([type=hidden]),select,textarea,[role=combobox],[contenteditable]",
        ),
      ];
      if (
        others.some(
          (other) => !body.contains(other) && other !== element && other.getAttribute("aria-hidden") !== "true",
        )
      )
        break;
      if (up.querySelector("label,legend,h1,h2,h3,button[type=submit]") !== null && body !== element) break;
      body = up;
      if (up.querySelector("label,legend,h1,h2,h3") !== null) break;
    }
    return body;
  }

  function shownValue(element: HTMLElement): string {
    const held = (element as HTMLInputElement).value;
    if (typeof held === "string" && held !== "" && element.tagName !== "BUTTON") return clean(held);
    if (!isNative(element)) {
      const own = textWithout(element);
      if (own !== "" || element.querySelector("input") === null) return own;
    }
    return textWithout(bodyOf(element));
  }

  function textWithout(element: Element): string {
    const copy = element.cloneNode(true) as Element;
    const noise =
      "label,legend,[role=listbox],[role=option],[role=dialog],[aria-live],[role=log],[role=status],[class*=placeholder i],[class*=error i],input,select,textarea,script,style,svg,ul[hidden],[hidden]";
    for (const part of copy.querySelectorAll(noise)) part.remove();
    return clean(copy.textContent);
  }

  function dateLike(element: HTMLElement): boolean {
    const said = `${kit.ownLabel(element)} ${element.getAttribute("placeholder") ?? ""} ${element.id} ${element.className} ${isNative(element) ? "" : (element.textContent ?? "")}`;
    return DATE_WORDS.test(said);
  }

  const inGroup = (element: HTMLElement, selector: string): HTMLElement | undefined => {
    for (
      let up = parentOf(element) as HTMLElement | null;
      up !== null && up.tagName !== "FORM" && up.tagName !== "BODY";
      up = parentOf(up) as HTMLElement | null
    ) {
      const members = [...up.querySelectorAll<HTMLElement>(selector)];
      if (members.length < 2) {
        if (up.matches("label,li,[role=group],fieldset") && up.matches("[role=group],fieldset")) return undefined;
        continue;
      }
      // a container of other fields is a section, not a group
      const others = [...up.querySelectorAll<HTMLElement>("input:not([type=hidden]),select,textarea,[role=combobox]")];
      return others.some(
        (other) =>
          !members.some((m) => m.contains(other) || m === other) && other.getAttribute("aria-hidden") !== "true",
      )
        ? undefined
        : up;
    }
    return undefined;
  };

  function group(element: HTMLElement, selector: string, widget: WidgetName, kind: ControlKind): Widget {
    const around = inGroup(element, selector);
    const named =
      around !== undefined &&
      (widget !== "boxes" ||
        kind === "radio" ||
        around.matches("[role=group],[role=toolbar],fieldset") ||
        around.closest("fieldset,[role=group]") !== null);
    if (!named) return { widget: "switch", kind: "checkbox", members: [element] };
    return { widget, kind, members: [...around.querySelectorAll<HTMLElement>(selector)].filter(shown), group: around };
  }

  function triggerOf(element: HTMLElement): Widget | undefined {
    const popup = clean(element.getAttribute("aria-haspopup"));
    if (popup === "listbox" || popup === "tree") return { widget: "combobox", kind: "select", members: [element] };
    const labelled = kit.labelsOf(element).length > 0 || element.hasAttribute("aria-labelledby");
    if (popup === "dialog" || popup === "grid") {
      if (dateLike(element) || popup === "grid") return { widget: "picker", kind: "date", members: [element] };
      return labelled ? { widget: "combobox", kind: "select", members: [element] } : undefined;
    }
    return labelled && popup !== "" && popup !== "false"
      ? { widget: "combobox", kind: "select", members: [element] }
      : undefined;
  }

  function nativeTrigger(input: HTMLInputElement): Widget | undefined {
    if (input.tagName !== "INPUT" || !/^(?:text|search|tel|)$/.test(input.type)) return undefined;
    if (roleOf(input) === "combobox") return { widget: "combobox", kind: "select", members: [input] };
    const popup = clean(input.getAttribute("aria-haspopup"));
    if (popup === "listbox") return { widget: "combobox", kind: "select", members: [input] };
    if (!input.readOnly) return undefined;
    const around = `${input.className} ${input.parentElement?.className ?? ""} ${input.parentElement?.parentElement?.className ?? ""}`;
    const opens =
      popup !== "" ||
      input.hasAttribute("aria-expanded") ||
      input.hasAttribute("onclick") ||
      /picker|select|dropdown|calendar|combo|cascader/i.test(around) ||
      /select|choose|pick|date|\byyyy/i.test(input.placeholder);
    if (!opens || kit.isStepped(input)) return undefined;
    return dateLike(input) || /calendar|date/i.test(around)
      ? { widget: "picker", kind: "date", members: [input] }
      : { widget: "combobox", kind: "select", members: [input] };
  }

  function widgetOf(element: HTMLElement): Widget | undefined {
    if (isDisabled(element)) return undefined;
    if (isNative(element)) return nativeTrigger(element as HTMLInputElement);
    if (!shown(element)) return undefined;
    const role = roleOf(element);
    switch (role) {
      case "combobox": {
        const input = element.querySelector<HTMLElement>("input:not([type=hidden]):not([aria-hidden=true])");
        return { widget: "combobox", kind: "select", members: [input ?? element] };
      }
      case "listbox": {
        const options = [...element.querySelectorAll<HTMLElement>("[role=option]")];
        if (options.length === 0 || isPopup(element)) return undefined;
        const kind = element.getAttribute("aria-multiselectable") === "true" ? "checkbox-group" : "radio";
        return { widget: "boxes", kind, members: options, group: element };
      }
      case "switch":
        return { widget: "switch", kind: "checkbox", members: [element] };
      case "checkbox":
      case "menuitemcheckbox":
        return group(element, `[role=${role}]`, "boxes", "checkbox-group");
      case "radiogroup": {
        let members = all("[role=radio]", element).filter(shown);
        if (members.length === 0) {
          if (element.querySelector("input[type=radio]") !== null) return undefined;
          members = all("button,[aria-checked],[tabindex]", element).filter(shown);
        }
        return members.length === 0 ? undefined : { widget: "boxes", kind: "radio", members, group: element };
      }
      case "radio":
        return element.closest("[role=radiogroup]") === null
          ? group(element, "[role=radio]", "boxes", "radio")
          : undefined;
      case "spinbutton": {
        const around = inGroup(element, "[role=spinbutton]");
        if (around === undefined) return { widget: "spin", kind: "number", members: [element] };
        const members = [...around.querySelectorAll<HTMLElement>("[role=spinbutton]")];
        const isTime =
          members.some((m) => /hour|minute/i.test(kit.ariaName(m))) &&
          !members.some((m) => /year/i.test(kit.ariaName(m)));
        return { widget: "segments", kind: isTime ? "time" : "date", members, group: around };
      }
      case "slider":
        return { widget: "slider", kind: "number", members: [element] };
      case "textbox":
      case "searchbox":
        return { widget: "edit", kind: "textarea", members: [element] };
      case "grid": {
        const days = [...element.querySelectorAll("[role=gridcell],td,button")].filter((cell) =>
          /^\d{1,2}$/.test(clean(cell.textContent)),
        );
        if (days.length < 28 || element.closest("[role=dialog],[popover],dialog") !== null) return undefined;
        return { widget: "calendar", kind: "date", members: [element] };
      }
      case "option":
        return undefined;
    }
    if (["", "true", "plaintext-only"].includes(element.getAttribute("contenteditable") ?? "no"))
      return { widget: "edit", kind: "textarea", members: [element] };
    if (element.hasAttribute("aria-pressed")) return group(element, "[aria-pressed]", "boxes", "checkbox-group");
    if (element.hasAttribute("aria-checked")) return group(element, "[aria-checked]", "boxes", "radio");
    if (element.hasAttribute("aria-haspopup")) return triggerOf(element);
    return undefined;
  }

  const two = (text: string): string => text.replace(/\D+/g, "").padStart(2, "0");

  /** A date or a time out of its parts, which may be fields, selects with names of months, or spin buttons. */
  function joined(members: readonly HTMLElement[], kind: ControlKind): string {
    const textOfPart = (part: HTMLElement): string =>
      part.getAttribute("aria-valuenow") ??
      (part.tagName === "SELECT"
        ? monthNumber(part as HTMLSelectElement)
        : ((part as HTMLInputElement).value ?? part.textContent ?? ""));
    const parts = ordered(members).map((part) => (part === undefined ? "" : textOfPart(part)));
    if (parts.some((part) => part === "" || /[^\d\s]/.test(part))) return "";
    return kind === "time"
      ? parts.slice(0, 2).map(two).join(":")
      : [(parts[0] ?? "").padStart(4, "0"), ...parts.slice(1).map(two)].join("-");
  }

  function monthNumber(select: HTMLSelectElement): string {
    const text = clean(select.selectedOptions[0]?.text);
    const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    const month = months.indexOf(text.slice(0, 3).toLowerCase());
    if (month >= 0) return String(month + 1);
    return /^\d+$/.test(text) ? text : select.value;
  }

  /** Spin buttons by what they are called: year, month, day; hour, minute. Fields of a date come in this order already. */
  function ordered(members: readonly HTMLElement[]): (HTMLElement | undefined)[] {
    if (members[0]?.getAttribute("role") !== "spinbutton") return [...members];
    const named = (words: RegExp): HTMLElement | undefined =>
      members.find((m) =>
        words.test(`${kit.ariaName(m)} ${m.getAttribute("data-type") ?? ""} ${m.getAttribute("data-segment") ?? ""}`),
      );
    const hour = named(/hour/i);
    return hour === undefined ? [named(/year/i), named(/month/i), named(/day/i)] : [hour, named(/minute/i)];
  }

  function held(
    { kind, widget }: { readonly kind: ControlKind; readonly widget: WidgetName },
    members: readonly HTMLElement[],
  ): Held {
    const element = members[0];
    const nothing: Held = { value: "", checked: false, options: [] };
    if (element === undefined) return nothing;
    const choices = (): Held["options"] =>
      members.map((m) => ({ text: optionText(m), value: optionValue(m), chosen: isOn(m) }));
    switch (widget) {
      case "native": {
        if (element.tagName === "SELECT") {
          const options = [...(element as HTMLSelectElement).options].map((o) => ({
            text: clean(o.text),
            value: o.value,
            chosen: o.selected,
          }));
          return { value: (element as HTMLSelectElement).value, checked: false, options };
        }
        const input = element as HTMLInputElement;
        const grouped = kind === "radio" || kind === "checkbox-group";
        const options = grouped
          ? (members as HTMLInputElement[]).map((m) => ({
              text: boxName(m),
              value: m.value,
              chosen: m.checked,
            }))
          : [];
        return {
          value: kind === "file" ? clean(input.files?.[0]?.name) : (input.value ?? ""),
          checked: input.checked === true,
          options,
        };
      }
      case "boxes":
        return { ...nothing, options: choices() };
      case "switch":
        return { ...nothing, checked: isOn(element) };
      case "combobox": {
        const list = listOf(element);
        const options = list === undefined ? [] : [...list.querySelectorAll("[role=option]")];
        return {
          value: shownValue(element),
          checked: false,
          options: options.map((o) => ({ text: optionText(o), value: optionValue(o), chosen: isOn(o) })),
        };
      }
      case "spin":
      case "slider":
        return {
          ...nothing,
          value:
            element.getAttribute("aria-valuenow") ?? clean((element as HTMLInputElement).value ?? element.textContent),
        };
      case "edit":
        return { ...nothing, value: element.innerText ?? element.textContent ?? "" };
      case "segments":
      case "parts":
        return { ...nothing, value: joined(members, kind) };
      case "digits":
        return { ...nothing, value: members.map((m) => (m as HTMLInputElement).value).join("") };
      case "found":
        return {
          ...nothing,
          checked: isOn(element),
          value: members.length === 1 ? shownValue(element) : "",
          options: members.length > 1 ? choices() : [],
        };
      case "picker":
        return { ...nothing, value: shownValue(element) };
      default:
        return { ...nothing, value: (element as HTMLInputElement).value ?? "" };
    }
  }

  return { ...kit, held, candidates, widgetOf, isOn, boxName, optionText, optionValue, listOf, shownValue };
}
