/** Reads a task page: elements by name, and the text on it. All runs IN THE PAGE. */

/** One thing that can be filled in, chosen, ticked or clicked. */
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
  /** Name of the element: its label, its text, or its kind and number (`text 2`). Several may have one name. */
  readonly name: string;
  readonly value: string;
  readonly options: readonly string[];
  /** Its middle, in pixels of the view. */
  readonly x: number;
  readonly y: number;
}

/** @returns everything that is shown of the page but the goal, in page order. */
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
  const counts: Record<string, number> = {};
  const things: Thing[] = [];
  const found: Element[] = [];
  const own = (e: Element): string =>
    clean([...e.childNodes].map((n) => (n.nodeType === Node.TEXT_NODE ? n.textContent : "")).join(" "));
  const labelOf = (e: HTMLInputElement): string => {
    const [label] = e.labels ?? [];
    if (label !== undefined) return clean(label.textContent);
    const before = e.previousElementSibling;
    if (before !== null && /^(?:LABEL|SPAN|B)$/.test(before.tagName) && clean(before.textContent) !== "")
      return clean(before.textContent).replace(/:$/, "");
    return e.getAttribute("aria-label") ?? e.getAttribute("placeholder") ?? "";
  };
  const all = [...document.body.querySelectorAll("*")].filter(
    (e) =>
      (area.contains(e) || e.closest(".ui-dialog,.ui-datepicker,.ui-menu,.ui-autocomplete") !== null) &&
      e.closest(aside) === null,
  );
  for (const e of all) {
    if (!shown(e)) continue;
    let kind: Thing["kind"] | undefined;
    let name = "";
    let value = "";
    let options: string[] = [];
    if (e instanceof HTMLInputElement && !["submit", "button", "image", "hidden"].includes(e.type)) {
      kind =
        e.type === "checkbox" || e.type === "radio" || e.type === "date" || e.type === "time" || e.type === "number"
          ? e.type
          : "text";
      name = labelOf(e);
      value = kind === "checkbox" || kind === "radio" ? (e.checked ? "yes" : "") : e.value;
    } else if (e instanceof HTMLTextAreaElement) [kind, name, value] = ["text", labelOf(e as never), e.value];
    else if (e instanceof HTMLSelectElement) {
      kind = e.multiple || e.size > 1 ? "list" : "select";
      name = labelOf(e as never);
      options = [...e.options].map((option) => clean(option.text));
      value = [...e.selectedOptions].map((option) => clean(option.text)).join(", ");
    } else if (e.matches("button,input,[role=button]"))
      [kind, name] = [
        "button",
        clean(e.textContent) || (e as HTMLInputElement).value || (e.getAttribute("title") ?? ""),
      ];
    else if (
      e.matches("a,.alink,[role=tab],[role=menuitem]") &&
      clean(e.textContent) !== "" &&
      e.querySelector("a,button") === null
    )
      [kind, name] = ["link", clean(e.textContent)];
    else if (own(e) !== "" && e.closest("button,a,option,select") === null)
      [kind, name] = ["text-line", clean(e.textContent)];
    if (
      kind === undefined ||
      found.some(
        (other) => kind === "text-line" && other.contains(e) && other !== e && clean(other.textContent) === name,
      )
    )
      continue;
    counts[kind] = (counts[kind] ?? 0) + 1;
    if (name === "") name = `${kind} ${counts[kind]}`;
    const box = e.getBoundingClientRect();
    found.push(e);
    things.push({
      index: things.length,
      kind,
      name: name.slice(0, 300),
      value,
      options,
      x: box.x + box.width / 2,
      y: box.y + box.height / 2,
    });
  }
  (globalThis as { things?: Element[] }).things = found;
  return things;
}

/** Brings a thing into view. @returns its middle, and whether a click there meets it. */
export function aimAtThing(index: number): { x: number; y: number; hit: boolean } | undefined {
  const e = (globalThis as { things?: Element[] }).things?.[index];
  if (e === undefined || !e.isConnected) return undefined;
  e.scrollIntoView({ block: "nearest" });
  const box = e.getBoundingClientRect();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const top = document.elementFromPoint(x, y);
  return { x, y, hit: top !== null && (e.contains(top) || top.contains(e)) };
}

/** Gives a field a value as its own editor would, or chooses options of a list by text. @returns whether it took. */
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
