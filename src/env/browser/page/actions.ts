import type { PageForm } from "./reader.js";

/** One change to a control: indices and values, nothing else, reaches the page. */
export type PageOp =
  | { readonly op: "value"; readonly control: number; readonly value: string }
  | { readonly op: "option"; readonly control: number; readonly option: number; readonly on: boolean }
  | { readonly op: "check"; readonly control: number; readonly on: boolean }
  | { readonly op: "toggle"; readonly control: number }
  | { readonly op: "press"; readonly button: number };

/** Runs IN THE PAGE: applies the changes in order and says for each whether it took. */
export function applyOps(page: PageForm, ops: readonly PageOp[]): boolean[] {
  function set(element: HTMLElement, property: string, value: unknown): void {
    // the prototype's own setter: frameworks replace the instance's to hide changes they did not make
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
    // a script may have put another element in its place
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
        // two scripts on one date field (a mask and a calendar) garble it between them when it loses the focus
        announce(element, page.controls[op.control]?.notation === undefined);
        return field.value !== "" || value === "";
      }
      case "option": {
        if (element.tagName === "SELECT") {
          const option = (element as HTMLSelectElement).options[op.option];
          if (option === undefined || option.disabled) return false;
          option.selected = op.on;
          announce(element);
          return option.selected === op.on;
        }
        const member = elements[op.option] as HTMLInputElement | undefined;
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

/**
 * Runs IN THE PAGE: lets this much of the page's own time pass. On a busy machine it takes longer, as the page's scripts
 * do: whatever they have set a timer for in this time has had its turn.
 */
export async function passTime(_: PageForm, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) await new Promise((resolve) => setTimeout(resolve, 100));
}

/** Where the form of a submit button sends what, told when the button is about to be clicked. */
export interface FormTarget {
  /** `GET` or `POST`; empty where a button has no form: only scripts send then. */
  readonly method: string;
  /** Without query and fragment. */
  readonly address: string;
  /** The names of its controls, hidden ones and buttons too. */
  readonly names: readonly string[];
  /** Those that each submit sends: a text is sent empty, an unticked box is not sent. */
  readonly always: readonly string[];
}

/** Where and whether a button can be clicked. */
export interface Aim {
  /** Its middle in CSS pixels of the window. */
  readonly point: { readonly x: number; readonly y: number };
  /** Whether a click there meets it: nothing covers it, and it is in reach. */
  readonly hit: boolean;
  readonly gone: boolean;
  /** What the browser's own validation says against its form, as `name: message`. */
  readonly invalid?: string;
  /** What its form sends, and where; of a button without a form, all controls of the page. */
  readonly form: FormTarget;
}

/**
 * Runs IN THE PAGE: whether the last click met something else than its button: a style sheet that came between aim and
 * click has moved everything.
 */
export function isMissed(page: PageForm): boolean {
  return page.missed && !page.clicked;
}

/** Runs IN THE PAGE: brings a button into view, aims at it and starts to count submit events. */
export function aimAt(page: PageForm, index: number): Aim {
  const button = page.buttons[index] as HTMLElement;
  const { x, y, hit } = page.kit.aim(button);
  page.submits = 0;
  page.prevented = 0;
  page.clicked = false;
  page.missed = false;
  window.addEventListener(
    "mousedown",
    (event) => {
      page.missed = !event.composedPath().includes(button);
    },
    { capture: true, once: true },
  );
  button.addEventListener(
    "click",
    () => {
      page.clicked = true;
    },
    { capture: true, once: true },
  );
  const form = (button as HTMLButtonElement).form ?? button.closest("form");
  const doc = button.ownerDocument;
  const fields = (page.kit.all("input,select,textarea,button") as HTMLInputElement[]).filter(
    (field) => form === null || field.form === form,
  );
  const sometimes = /^(?:checkbox|radio|submit|image|button|reset|select-multiple)$/;
  const names = (of: HTMLInputElement[]): string[] =>
    [...new Set(of.map((f) => f.name || f.id))].filter((n) => n !== "");
  // a control may have the name of what is asked for here, and stand in its place
  const said = (name: string): string | undefined =>
    form === null ? undefined : (Element.prototype.getAttribute.call(form, name) ?? undefined);
  const own = (button as HTMLButtonElement).form ?? null;
  const skips = own === null || said("novalidate") !== undefined || (button as HTMLButtonElement).formNoValidate;
  // of an address that is none it gives the text back, and does not throw
  const link = doc.createElement("a");
  link.href = (button.getAttribute("formaction") ?? said("action")) || doc.URL;
  const bad =
    skips || !/^(?:submit|image)$/.test((button as HTMLButtonElement).type)
      ? undefined
      : fields.find((field) => !field.validity.valid);
  return {
    point: { x, y },
    hit,
    gone: !button.isConnected,
    ...(bad === undefined ? {} : { invalid: `${bad.name}: ${bad.validationMessage}` }),
    form: {
      method:
        form === null ? "" : /^post$/i.test(button.getAttribute("formmethod") ?? said("method") ?? "") ? "POST" : "GET",
      address: link.href.split(/[?#]/)[0] ?? "",
      names: names(fields),
      always: names(fields.filter((field) => !field.matches(":disabled") && !sometimes.test(field.type))),
    },
  };
}

/** Runs IN THE PAGE: gives a file input a small file of this name, as a person does. */
export function attachFile(page: PageForm, { control, name }: { control: number; name: string }): void {
  if (page.elements[control]?.[0]?.isConnected !== true) page.scan();
  const input = page.elements[control]?.[0] as HTMLInputElement;
  const chosen = new DataTransfer();
  chosen.items.add(new File(["dummy file\n"], name, { type: "text/plain" }));
  input.files = chosen.files;
  input.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Runs IN THE PAGE: the values of file inputs are empty here. */
export function emptyFiles(page: PageForm, controls: readonly number[]): number[] {
  return controls.filter((i) => (page.elements[i]?.[0] as HTMLInputElement | undefined)?.files?.length === 0);
}

/** Runs IN THE PAGE: where a banner that covers a button is sent away, as one that asks about cookies. */
export function wayClear(page: PageForm, button: number): { x: number; y: number } | undefined {
  const box = page.buttons[button]?.getBoundingClientRect();
  if (box === undefined) return undefined;
  const cover = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  for (let node = cover; node !== null && node !== document.body; node = node.parentElement) {
    const close = page.kit
      .all("button,[role=button],a", node)
      .find(
        (e) =>
          page.kit.shown(e) &&
          /^(?:accept|agree|got it|ok|okay|close|dismiss|reject|allow|no thanks|i understand|x|\u00d7|\u2715)\b/i.test(
            page.kit.clean(e.textContent) || page.kit.ariaName(e),
          ),
      );
    if (close !== undefined && /fixed|sticky|absolute/.test(getComputedStyle(node).position))
      return page.kit.aim(close);
  }
  return undefined;
}

/** Runs IN THE PAGE: whether a button that was clicked cannot be clicked any more, or a dialog has come up before it. */
export function passed(page: PageForm, button: number): boolean {
  const element = page.buttons[button];
  if (element === undefined || !element.isConnected || !page.kit.shown(element)) return true;
  const dialog = page.kit.all("[role=dialog],[role=alertdialog],dialog[open]").find(page.kit.shown);
  return dialog !== undefined && !dialog.contains(element);
}

/** Runs IN THE PAGE: the button that says yes in a dialog that asks. */
export function dialogButton(page: PageForm): number | undefined {
  const dialog = page.kit.all("[role=dialog],[role=alertdialog],dialog[open]").find(page.kit.shown);
  if (dialog === undefined) return undefined;
  const index = page.buttons.findIndex(
    (b) =>
      dialog.contains(b) &&
      /^(?:yes|ok|okay|confirm|submit|send|continue|agree|accept|proceed|i agree|sure)\b/i.test(
        page.kit.clean(b.textContent),
      ),
  );
  return index < 0 ? undefined : index;
}

/** Runs IN THE PAGE: the form of a field that Enter is pressed in. */
export function formOfField(page: PageForm, control: number): Aim {
  const field = page.elements[control]?.[0] as HTMLInputElement;
  const form = field.form;
  const fields = (page.kit.all("input,select,textarea") as HTMLInputElement[]).filter((f) => f.form === form);
  const names = [...new Set(fields.map((f) => f.name || f.id))].filter((n) => n !== "");
  const said = (name: string): string | undefined =>
    form === null ? undefined : (Element.prototype.getAttribute.call(form, name) ?? undefined);
  const link = field.ownerDocument.createElement("a");
  link.href = said("action") || field.ownerDocument.URL;
  page.submits = 0;
  page.prevented = 0;
  return {
    point: { x: 0, y: 0 },
    hit: true,
    gone: false,
    form: {
      method: /^post$/i.test(said("method") ?? "") ? "POST" : "GET",
      address: link.href.split(/[?#]/)[0] ?? "",
      names,
      always: names,
    },
  };
}
