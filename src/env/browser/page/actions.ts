import type { PageForm } from "./form.js";

/** One change to a control: only indices and values are sent to the page. */
export type PageOp =
  | { readonly op: "value"; readonly control: number; readonly value: string }
  /** `option`: index among the control's options; `value`: the option's posted value. */
  | {
      readonly op: "option";
      readonly control: number;
      readonly option: number;
      readonly value: string;
      readonly on: boolean;
    }
  | { readonly op: "check"; readonly control: number; readonly on: boolean }
  | { readonly op: "toggle"; readonly control: number }
  | { readonly op: "press"; readonly button: number };

/** Runs IN THE PAGE: applies the changes in order. @returns for each whether the control took it. */
export function applyOps(page: PageForm, ops: readonly PageOp[]): boolean[] {
  function set(element: HTMLElement, property: string, value: unknown): void {
    // the setter of the prototype: frameworks replace that of the element to hide changes by others
    const descriptor = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(element), property);
    if (descriptor?.set !== undefined) descriptor.set.call(element, value);
    else Reflect.set(element, property, value);
  }
  function announce(element: HTMLElement, leave = true): void {
    element.dispatchEvent(new Event("input", { bubbles: true }));
    element.dispatchEvent(new Event("change", { bubbles: true }));
    if (leave) element.dispatchEvent(new FocusEvent("blur"));
  }
  function apply(op: PageOp): boolean {
    if (op.op === "press") {
      page.buttons[op.button]?.click();
      return true;
    }
    // a script may have replaced the element
    if (page.elements[op.control]?.[0]?.isConnected !== true) page.scan();
    const elements = page.elements[op.control];
    const element = elements?.[0];
    if (elements === undefined || element === undefined) return false;
    switch (op.op) {
      case "value": {
        const field = element as HTMLInputElement;
        if (field.readOnly) return false;
        const limit = field.maxLength ?? -1;
        const value = limit >= 0 ? op.value.slice(0, limit) : op.value;
        set(field, "value", value);
        // a mask and a calendar on one date field may spoil its value when it loses the focus
        announce(element, page.controls[op.control]?.notation === undefined);
        return field.value !== "" || value === "";
      }
      case "option": {
        const own = (e: HTMLOptionElement | HTMLInputElement): boolean => e.value === op.value;
        if (element.tagName === "SELECT") {
          const { options } = element as HTMLSelectElement;
          const option = [options[op.option], ...options].find((e) => e !== undefined && own(e));
          if (option === undefined || option.disabled) return false;
          option.selected = op.on;
          announce(element);
          return option.selected === op.on;
        }
        const members = elements as HTMLInputElement[];
        const member = [members[op.option], ...members].find((e) => e !== undefined && own(e));
        if (member === undefined) return false;
        if (member.checked !== op.on) member.click();
        return member.checked === op.on;
      }
      case "check": {
        const box = element as HTMLInputElement;
        if (box.checked !== op.on) box.click();
        return box.checked === op.on;
      }
      case "toggle":
        element.click();
        return true;
    }
  }
  return ops.map((op) => {
    try {
      return apply(op);
    } catch {
      return false;
    }
  });
}

/** The point at which a button can be clicked, and the request of its form. */
export type Aim = ReturnType<typeof aimAt>;

/** Runs IN THE PAGE: brings a button into view, aims at it and starts to watch for the click. */
export function aimAt(page: PageForm, index: number) {
  const button = page.buttons[index] as HTMLButtonElement;
  button.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
  const box = button.getBoundingClientRect();
  const { elementFromPoint } = Document.prototype;
  // the centre first; a part of the button may be covered
  const places = [0.5, 0.2, 0.8].flatMap((v) =>
    [0.5, 0.2, 0.8].map((u) => [box.x + box.width * u, box.y + box.height * v]),
  );
  const met = places.find(([x = 0, y = 0]) => {
    const top = elementFromPoint.call(document, x, y);
    return top !== null && (button.contains(top) || [...(button.labels ?? [])].some((label) => label.contains(top)));
  });
  const [x = 0, y = 0] = met ?? (places[0] as number[]);
  page.clicked = false;
  button.addEventListener("click", () => (page.clicked = true), { capture: true, once: true });
  const form = button.form ?? null;
  // a control with the name of a property would hide it, so that the attribute is read
  const attr = (name: string): string | undefined =>
    form === null ? undefined : (Element.prototype.getAttribute.call(form, name) ?? undefined);
  // a link returns an invalid address unchanged, and does not throw
  const link = document.createElement("a");
  link.href = (button.getAttribute("formaction") ?? attr("action")) || document.URL;
  const skips = form === null || attr("novalidate") !== undefined || button.formNoValidate;
  const bad =
    skips || !/^(?:submit|image)$/.test(button.type)
      ? undefined
      : (page.all("input,select,textarea") as HTMLInputElement[]).find((f) => f.form === form && !f.validity.valid);
  return {
    // in CSS pixels of the window
    point: { x, y },
    // nothing covers the button there
    hit: met !== undefined,
    gone: !button.isConnected,
    ...(bad === undefined ? {} : { invalid: `${bad.name}: ${bad.validationMessage}` }),
    // without a form only scripts send
    method:
      form === null ? "" : /^post$/i.test(button.getAttribute("formmethod") ?? attr("method") ?? "") ? "POST" : "GET",
    address: link.href.split(/[?#]/)[0] ?? "",
  };
}

/** Runs IN THE PAGE: attaches a small file of this name to a file input. */
export function attachFile(page: PageForm, { control, name }: { control: number; name: string }): void {
  if (page.elements[control]?.[0]?.isConnected !== true) page.scan();
  const input = page.elements[control]?.[0] as HTMLInputElement;
  const chosen = new DataTransfer();
  chosen.items.add(new File(["dummy file\n"], name, { type: "text/plain" }));
  input.files = chosen.files;
  input.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Runs IN THE PAGE: returns the indices of file inputs without a file. */
export const emptyFiles = (page: PageForm, controls: readonly number[]): number[] =>
  controls.filter((i) => (page.elements[i]?.[0] as HTMLInputElement | undefined)?.files?.length === 0);

/** Runs IN THE PAGE: waits for two drawn frames; a hidden page draws none, and is not waited for. */
export function framesDrawn(): Promise<unknown> {
  const frames = new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return Promise.race([frames, new Promise((done) => setTimeout(done, 400))]);
}
