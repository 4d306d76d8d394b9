import type { AriaKit, Widget } from "./aria.js";

/** What a control is called: its name, what else a person may call it, and what it stands below or beside. */
export interface Names {
  readonly label: string;
  readonly also: readonly string[];
  readonly section: string;
}

export interface NameKit extends AriaKit {
  /** Names of an input, select or textarea. */
  ofField(field: HTMLElement): Names;
  /** Names of a group of boxes or fields. */
  ofGroup(members: readonly HTMLElement[]): Names;
  ofWidget(widget: Widget): Names;
  ofButton(button: HTMLElement): string;
  /** Nearest heading, legend or name of what an element stands in. */
  sectionOf(element: Element): string;
  groupName(members: readonly HTMLElement[]): string;
}

/**
 * Runs IN THE PAGE: finds accessible names, and where there is none what a person takes for one. Self-contained.
 *
 * The name, first of: aria-labelledby, aria-label, <label>, for groups the legend; the host of a web component; the
 * column of a table; the nearest text before the control, placeholder, title, name. The others of these, and the label
 * without its remarks, are what a person may call it too.
 */
export function nameKit(kit: AriaKit): NameKit {
  const FIELDS = "input,select,textarea";
  const ANY_FIELD = `${FIELDS},[role=combobox],[role=switch],[role=checkbox],[role=radio],[role=slider],[role=spinbutton],[contenteditable]:not([contenteditable=false])`;
  const REMARKS =
    "small,sup,abbr,[role=tooltip],[class*=hint i],[class*=help i],[class*=desc i],[class*=note i],[class*=tip i],[class*=count i],[class*=sub i],[class*=error i],[class*=optional i],[class*=required i]";
  const HEADINGS = "h1,h2,h3,h4,h5,h6,legend,summary,[role=heading],[class*=title i],[class*=header i]";
  const { clean, textOf, ariaName, ownLabel, parentOf } = kit;
  const labelsOf = (element: Element): HTMLElement[] => [...((element as HTMLInputElement).labels ?? [])];
  const hasField = (element: Element): boolean =>
    element.matches(ANY_FIELD) || element.querySelector(ANY_FIELD) !== null;

  /** What stands above a calendar. */
  const MONTH = /^(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z.]* \d{4}$/i;
  /** A list that is there for the form's post only. */
  const isReplaced = (select: Element): boolean => {
    const { width, height } = select.getBoundingClientRect();
    return width <= 4 || height <= 4;
  };

  function bareText(node: Element): string {
    const before = node.previousSibling;
    return before !== null && before.nodeType === Node.TEXT_NODE ? clean(before.textContent) : "";
  }

  /** The nearest text before an element that is not the label or the neighbour of another control. */
  function textBefore(element: Element, members: readonly HTMLElement[]): string {
    const own = new Set<Element>(members.flatMap(labelsOf));
    for (
      let node: Element | null = element;
      node !== null && node.tagName !== "FORM" && node.tagName !== "BODY";
      node = parentOf(node)
    ) {
      for (let before = node.previousElementSibling; before !== null; before = before.previousElementSibling) {
        if (own.has(before) || MONTH.test(textOf(before))) continue;
        if (before.tagName === "SELECT" && isReplaced(before)) continue;
        if (hasField(before)) return "";
        if (before.matches("h1,h2,h3,h4,h5,h6,legend,label,th,td,dt,p,span,strong,b,div") && textOf(before) !== "")
          return textOf(before);
      }
      // a bare text beside the control, as in <td>Name <input></td>
      const bare = bareText(node);
      if (bare !== "") return bare;
    }
    return "";
  }

  function textAfter(field: Element): string {
    const next = field.nextSibling;
    if (next === null) return "";
    if (next.nodeType === Node.TEXT_NODE && clean(next.textContent) !== "") return clean(next.textContent);
    const after = field.nextElementSibling;
    return after !== null && !hasField(after) ? textOf(after) : "";
  }

  /** A label that belongs to no control and stands behind the only field of its container: it floats above it. */
  function labelBehind(field: Element): string {
    for (let next = field.nextElementSibling; next !== null && !hasField(next); next = next.nextElementSibling)
      if (next.matches("label:not([for])") && labelsOf(field).length === 0) return textOf(next);
    return "";
  }

  /** What stands above an element in a table or a grid of rows: the cell of its column in a row that holds no field. */
  function columnOf(element: Element): string {
    for (
      let cell: Element = element, row = parentOf(element), up = 0;
      row !== null && up < 4 && row.tagName !== "FORM" && row.tagName !== "BODY";
      cell = row, row = parentOf(row), up++
    ) {
      const at = [...row.children].indexOf(cell);
      if (at < 0 || [...row.children].filter(hasField).length < 2) continue;
      const head = row.closest("table")?.tHead?.rows;
      let above: Element | null | undefined = row.tagName === "TR" ? head?.[head.length - 1] : undefined;
      for (above ??= row.previousElementSibling; above !== null && hasField(above); )
        above =
          row.tagName === "TR" || above.children.length === row.children.length ? above.previousElementSibling : null;
      if (above === null || above.children.length !== row.children.length || above.querySelector("[colspan]"))
        return "";
      const name = above.children[at];
      return name === undefined || [...above.children].filter((c) => textOf(c) !== "").length < 2 ? "" : textOf(name);
    }
    return "";
  }

  /** The text that begins an element's row, where the row holds several fields. */
  function rowOf(element: Element): string {
    const row = element.closest("tr,[role=row]");
    const first = row?.firstElementChild;
    if (row === null || first === null || first === undefined || hasField(first)) return "";
    return [...row.children].filter(hasField).length > 1 ? textOf(first) : "";
  }

  function groupName(members: readonly HTMLElement[]): string {
    const first = members[0] as HTMLElement;
    for (let node = parentOf(first); node !== null && node.tagName !== "FORM"; node = parentOf(node)) {
      if (!members.every((member) => node?.contains(member))) continue;
      // a container that also holds other fields names a section, not this group
      const others = [...node.querySelectorAll<HTMLInputElement>(FIELDS)].filter(
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

  /** A list without a name says what it is in its first, empty option. */
  function firstOption(field: Element): string {
    const first = field.tagName === "SELECT" ? (field as HTMLSelectElement).options[0] : undefined;
    return first === undefined || first.value !== "" ? "" : clean(first.text);
  }

  function fieldName(field: HTMLElement): string {
    const box = /^(?:checkbox|radio)$/.test((field as HTMLInputElement).type);
    const bare = box && field.previousElementSibling === null && bareText(field) === "" ? textAfter(field) : "";
    return (
      ownLabel(field) ||
      bare ||
      (field.getRootNode() === field.ownerDocument ? "" : hostName(field)) ||
      labelBehind(field) ||
      columnOf(field) ||
      textBefore(field, [field]) ||
      clean(field.getAttribute("placeholder")) ||
      clean(field.title) ||
      firstOption(field) ||
      clean((field as HTMLInputElement).name)
    );
  }

  /** A label without its remarks: small print, what stands in brackets, what comes after its first text. */
  function plain(element: Element): string[] {
    const copy = element.cloneNode(true) as Element;
    for (const part of copy.querySelectorAll(REMARKS)) part.remove();
    const first = [...element.childNodes].find(
      (n) => clean(n.textContent) !== "" && (n as Element).tagName !== "INPUT",
    );
    return [textOf(copy), first === undefined ? "" : clean(first.textContent)];
  }

  /** What a text asks for, as `Enter your name ...`. */
  const asked = (text: string): string =>
    clean(text)
      .replace(/^(?:please )?(?:enter|type|select|choose|pick|add|write)(?: in)?(?: an?| your| the| one)? /i, "")
      .replace(/^your /i, "")
      .replace(/[\s.\u2026:*]+$/, "");

  function otherNames(element: HTMLElement, label: string, section: string, isGroup: boolean): string[] {
    // of a group these name its members
    const labels = isGroup ? [] : kit.labelsOf(element);
    const hints = [element.getAttribute("placeholder"), element.title, firstOption(element)].map(clean);
    const heading = headingBefore(element);
    const before = textBefore(element, [element]);
    // a heading above a row of fields names all of them
    const isOwn = before !== heading || textOf(element.previousElementSibling ?? element) === heading;
    const texts = [
      ...labels.map(textOf),
      ...labels.flatMap(plain),
      isOwn ? before : "",
      columnOf(element),
      rowOf(element),
      ...hints,
      ...hints.map(asked),
    ];
    const bare = [label, ...texts].map((text) => clean(text.replace(/\s*\([^()]*\)/g, "")));
    const below = heading === section || heading === "" ? [] : [`${heading} ${label}`];
    return [...new Set([...texts, ...bare, ...below])].filter((text) => text !== "" && text !== label).slice(0, 20);
  }

  /** The nearest heading before an element, which need not hold it. */
  function headingBefore(element: Element): string {
    for (
      let node: Element | null = element;
      node !== null && node.tagName !== "FORM" && node.tagName !== "BODY";
      node = parentOf(node)
    )
      for (let before = node.previousElementSibling; before !== null; before = before.previousElementSibling)
        if (before.matches(HEADINGS) && !hasField(before) && textOf(before) !== "") return textOf(before);
    return "";
  }

  function sectionOf(element: Element): string {
    const row = rowOf(element);
    if (row !== "") return row;
    for (
      let node = parentOf(element);
      node !== null && node.tagName !== "BODY" && node.tagName !== "FORM";
      node = parentOf(node)
    ) {
      const name =
        ariaName(node) || textOf(node.querySelector(`:scope > :is(${HEADINGS})`) ?? document.createElement("i"));
      if (name !== "") return name;
    }
    return "";
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
    const own = ownLabel(element);
    if (own !== "" && !(widget === "calendar" && MONTH.test(own))) return own;
    return wrapped || (widget === "calendar" ? groupName([element]) : "") || fieldName(element);
  }

  function named(element: HTMLElement, label: string, isGroup = false): Names {
    const section = sectionOf(element);
    return { label, section, also: otherNames(element, label, section, isGroup) };
  }

  function ofButton(button: HTMLElement): string {
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

  return {
    ...kit,
    ofField: (field) => named(field, fieldName(field)),
    ofGroup: (members) => named(members[0] as HTMLElement, groupName(members), true),
    ofWidget: (widget) => named((widget.group ?? widget.members[0]) as HTMLElement, widgetName(widget)),
    ofButton,
    sectionOf,
    groupName,
  };
}
