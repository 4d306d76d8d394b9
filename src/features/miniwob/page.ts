/** Reads a task page: named elements and lines of text. All functions run IN THE PAGE. */

/** An element that can be filled in, chosen, ticked or clicked, or a line of text. */
export interface Thing {
  readonly index: number;
  readonly kind:
    | "text"
    | "date"
    | "time"
    | "number"
    | "select"
    | "list"
    | "checkbox"
    | "radio"
    | "button"
    | "link"
    | "text-line";
  /** Name of the element: its label, its text, or its kind and number (`text 2`). Names need not be unique. */
  readonly name: string;
  readonly value: string;
  readonly options: readonly string[];
}

/** Lists all visible elements of the page except the goal, in page order. */
export function readThings(): Thing[] {
  const clean = (text: string | null): string => (text ?? "").replace(/\s+/g, " ").trim();
  const shown = (e: Element): boolean => {
    const { width, height } = e.getBoundingClientRect();
    const style = getComputedStyle(e);
    return (
      width > 0 && height > 0 && style.visibility !== "hidden" && style.display !== "none" && style.opacity !== "0"
    );
  };
  const area = document.getElementById("wrap") ?? document.body;
  const aside = "#query,#reward-display,#click-canvas,#sync-task-cover,script,style";
  const ownText = (e: Element): string =>
    clean([...e.childNodes].map((n) => (n.nodeType === Node.TEXT_NODE ? n.textContent : "")).join(" "));
  const labelOf = (e: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement): string => {
    const [label] = e.labels ?? [];
    if (label !== undefined) return clean(label.textContent);
    const before = e.previousElementSibling;
    if (before !== null && /^(?:LABEL|SPAN|B)$/.test(before.tagName) && clean(before.textContent) !== "")
      return clean(before.textContent).replace(/:$/, "");
    return e.getAttribute("aria-label") ?? e.getAttribute("placeholder") ?? "";
  };
  type Described = Pick<Thing, "kind" | "name"> & Partial<Pick<Thing, "value" | "options">>;
  const describe = (e: Element): Described | undefined => {
    const text = clean(e.textContent);
    if (e instanceof HTMLInputElement && !["submit", "button", "image", "hidden"].includes(e.type)) {
      const name = labelOf(e);
      if (e.type === "checkbox" || e.type === "radio") return { kind: e.type, name, value: e.checked ? "yes" : "" };
      const kind = e.type === "date" || e.type === "time" || e.type === "number" ? e.type : "text";
      return { kind, name, value: e.value };
    }
    if (e instanceof HTMLTextAreaElement) return { kind: "text", name: labelOf(e), value: e.value };
    if (e instanceof HTMLSelectElement) {
      const texts = (some: Iterable<HTMLOptionElement>): string[] => [...some].map((option) => clean(option.text));
      const kind = e.multiple || e.size > 1 ? "list" : "select";
      return { kind, name: labelOf(e), value: texts(e.selectedOptions).join(", "), options: texts(e.options) };
    }
    if (e.matches("button,input,[role=button]"))
      return { kind: "button", name: text || (e as HTMLInputElement).value || (e.getAttribute("title") ?? "") };
    if (e.matches("a,.alink,[role=tab],[role=menuitem]") && text !== "" && e.querySelector("a,button") === null)
      return { kind: "link", name: text };
    if (ownText(e) === "" || e.closest("button,a,option,select") !== null) return undefined;
    // a line is represented by its outermost element with the same text
    const isRepeated = found.some((other) => other !== e && other.contains(e) && clean(other.textContent) === text);
    return isRepeated ? undefined : { kind: "text-line", name: text };
  };
  const all = [...document.body.querySelectorAll("*")].filter(
    (e) =>
      (area.contains(e) || e.closest(".ui-dialog,.ui-datepicker,.ui-menu,.ui-autocomplete") !== null) &&
      e.closest(aside) === null,
  );
  const counts: Record<string, number> = {};
  const things: Thing[] = [];
  const found: Element[] = [];
  for (const e of all) {
    const described = shown(e) ? describe(e) : undefined;
    if (described === undefined) continue;
    const { kind, name, value = "", options = [] } = described;
    counts[kind] = (counts[kind] ?? 0) + 1;
    found.push(e);
    const shownName = name === "" ? `${kind} ${counts[kind]}` : name.slice(0, 300);
    things.push({ index: things.length, kind, name: shownName, value, options });
  }
  (globalThis as { things?: Element[] }).things = found;
  return things;
}

/** Scrolls an element into view. @returns its centre, and whether a click there hits it. */
export function aimAtThing(index: number): { x: number; y: number; hit: boolean } | undefined {
  const e = (globalThis as { things?: Element[] }).things?.[index];
  if (e === undefined || !e.isConnected) return undefined;
  e.scrollIntoView({ block: "nearest" });
  const box = e.getBoundingClientRect();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const top = document.elementFromPoint(x, y);
  return { x, y, hit: top !== null && (e.contains(top) || top.contains(e)) };
}

/** Sets a field's value with the usual events, or chooses options of a list by text. @returns whether it succeeded. */
export function setThing({ index, value }: { index: number; value: string }): boolean {
  const e = (globalThis as { things?: Element[] }).things?.[index];
  if (e instanceof HTMLSelectElement) {
    const same = (a: string, b: string): boolean => a.replace(/\s+/g, " ").trim().toLowerCase() === b.toLowerCase();
    const parts = [...e.options].some((o) => same(o.text, value))
      ? [value]
      : value.split(",").map((part) => part.trim());
    const chosen = [...e.options].filter((o) => parts.some((part) => same(o.text, part)));
    if (chosen.length === 0) return false;
    if (e.multiple) for (const o of e.options) o.selected = chosen.includes(o);
    else e.selectedIndex = (chosen[0] as HTMLOptionElement).index;
  } else if (e instanceof HTMLInputElement || e instanceof HTMLTextAreaElement) {
    e.focus();
    e.value = value;
    if (e.value !== value) return false;
  } else return false;
  for (const type of ["input", "change"]) e.dispatchEvent(new Event(type, { bubbles: true }));
  return true;
}
