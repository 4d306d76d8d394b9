/** An input, a text area or a list. */
export type Field = HTMLInputElement & Pick<HTMLSelectElement, "options" | "selectedOptions">;

/** Functions that read elements and their accessible names. */
export type NameKit = ReturnType<typeof nameKit>;

/**
 * Runs IN THE PAGE: finds accessible names: aria-labelledby, aria-label, label, or the legend of a group; else the text
 * before the control, its placeholder, title or name. Self-contained, since its source is sent.
 */
export function nameKit() {
  const FIELDS = "input,select,textarea";
  // controls with the name of a property would hide that of the form or the document: prototypes are used
  const { querySelectorAll, getElementById } = Document.prototype;
  const { checkVisibility, getAttribute, closest } = Element.prototype;
  const parentOf = Object.getOwnPropertyDescriptor(Node.prototype, "parentElement")?.get as () => HTMLElement | null;
  const clean = (text: string | null | undefined): string => (text ?? "").replace(/\s+/g, " ").trim();
  const all = (selector: string): HTMLElement[] => [...querySelectorAll.call(document, selector)] as HTMLElement[];
  const shown = (element: Element): boolean =>
    element.isConnected && checkVisibility.call(element, { visibilityProperty: true });
  const labelsOf = (element: Element): HTMLElement[] => [...((element as HTMLInputElement).labels ?? [])];
  const isSelect = (field: Element): boolean => field.tagName === "SELECT";
  const hasField = (element: Element): boolean => element.matches(FIELDS) || element.querySelector(FIELDS) !== null;

  /** Returns an element's text without that of the controls and options in it. */
  function textOf(element: Element): string {
    const copy = element.cloneNode(true) as Element;
    for (const part of copy.querySelectorAll(
      `${FIELDS},button,option,script,style,template,[role=option],[role=listbox]`,
    ))
      part.remove();
    return clean(copy.textContent);
  }

  /** Finds the elements whose ids an attribute lists. */
  function listedIn(element: Element, attribute: string): Element[] {
    const root = element.getRootNode();
    const ids = clean(getAttribute.call(element, attribute)).split(" ");
    return ids.flatMap(
      (id) => (root instanceof ShadowRoot ? root.getElementById(id) : getElementById.call(document, id)) ?? [],
    );
  }

  const joined = (parts: readonly Element[]): string => clean(parts.map(textOf).join(" "));
  /** Returns the text of aria-labelledby, else aria-label. */
  const ariaName = (element: Element): string =>
    joined(listedIn(element, "aria-labelledby")) || clean(getAttribute.call(element, "aria-label"));
  const labelOf = (element: Element): string => ariaName(element) || joined(labelsOf(element));

  /** Returns the nearest text before an element that belongs to no other control. */
  function textBefore(element: Element): string {
    for (let node: Element | null = element; node !== null; node = parentOf.call(node)) {
      if (node.tagName === "FORM" || node.tagName === "BODY") return "";
      for (let before = node.previousSibling; before !== null; before = before.previousSibling) {
        const element = before.nodeType === Node.ELEMENT_NODE ? (before as Element) : undefined;
        if (element !== undefined && hasField(element)) return "";
        if (element?.matches("button,script,style") === true) continue;
        const isText = before.nodeType === Node.TEXT_NODE;
        const text = element !== undefined ? textOf(element) : isText ? clean(before.textContent) : "";
        if (text !== "") return text;
      }
    }
    return "";
  }

  /** Returns the head of a box's column where its row has several of its name: a scale, with a question a row. */
  function columnOf(box: Field): string {
    const cell = closest.call(box, "td,th") as HTMLTableCellElement | null;
    const row = closest.call(box, "tr") as HTMLTableRowElement | null;
    const table = closest.call(box, "table") as HTMLTableElement | null;
    const inRow = [...(row?.querySelectorAll<HTMLInputElement>("input") ?? [])];
    if (cell === null || table === null || inRow.filter(({ name }) => name === box.name).length < 2) return "";
    const head = [...table.rows].find((other) => !hasField(other))?.cells[cell.cellIndex];
    return head === undefined ? "" : textOf(head);
  }

  function nameOf(field: Field): string {
    const label = labelOf(field);
    if (label !== "") return label;
    const box = /^(?:checkbox|radio)$/.test(field.type);
    const after = box ? clean(field.nextSibling?.textContent) || columnOf(field) : "";
    return (
      after || textBefore(field) || clean(getAttribute.call(field, "placeholder")) || clean(field.title) || field.name
    );
  }

  /** Returns the name of a group of checkboxes or radio buttons. */
  function groupName(members: readonly Element[]): string {
    const [first] = members as [Element];
    for (let node = parentOf.call(first); node !== null && node.tagName !== "FORM"; node = parentOf.call(node)) {
      if (!members.every((member) => node.contains(member))) continue;
      if ([...node.querySelectorAll(FIELDS)].some((field) => !members.includes(field))) break;
      const legend = node.querySelector(":scope > legend");
      const name = ariaName(node) || (legend === null ? "" : textOf(legend));
      if (name !== "") return name;
    }
    return textBefore((closest.call(first, "label") as Element | null) ?? first) || (first as Field).name;
  }

  return {
    all,
    shown,
    clean,
    labelsOf,
    parentOf: (element: Element): HTMLElement | null => parentOf.call(element),
    isSelect,
    textOf,
    listedIn,
    ariaName,
    labelOf,
    nameOf,
    groupName,
  };
}
