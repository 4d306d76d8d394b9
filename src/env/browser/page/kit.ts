/** What every function in the page needs: a look at its elements as a person has it. */
export interface PageKit {
  clean(text: string | null | undefined): string;
  /** Elements in page order, those in open shadow roots and in frames of the same origin too. */
  all(selector: string, root?: ParentNode): HTMLElement[];
  /** The parent, out of a shadow root to its host and out of a frame to its element. */
  parentOf(element: Element): Element | null;
  shown(element: Element): boolean;
  /** Text of an element without the controls and scripts inside it. */
  textOf(element: Element): string;
  /** aria-labelledby without the element itself, else aria-label. */
  ariaName(element: Element): string;
  /** ariaName, else the labels of an element. */
  ownLabel(element: Element): string;
  labelsOf(element: Element): HTMLElement[];
  /** The middle of an element after it was brought into view, in CSS pixels of the window, and whether a click hits it. */
  aim(element: Element): { x: number; y: number; hit: boolean };
  isDisabled(element: Element): boolean;
  /** Buttons beside a field, before the next field: less and more, the keys of a pad. */
  buttonsBeside(field: Element): HTMLElement[];
  /** Whether a button makes a number smaller or larger, by what it says; a picture alone by its title, name or class. */
  stepOf(button: Element): "less" | "more" | undefined;
  /** A number between two buttons, one less and one more: it is no list, and takes no tags. */
  isStepped(field: Element): boolean;
  same(a: string, b: string): boolean;
}

/** Runs IN THE PAGE. Self-contained: its source text is sent, and what it returns stays there. */
export function pageKit(): PageKit {
  const DEPTH = 4;
  const clean = (text: string | null | undefined): string => (text ?? "").replace(/\s+/g, " ").trim();

  // a form's controls may have the names of what is asked of it, and stand in its place
  const getter = <T>(of: object, name: string): ((element: Element) => T) => {
    const get = Object.getOwnPropertyDescriptor(of, name)?.get as () => T;
    return (element) => get.call(element);
  };
  const parentElement = getter<Element | null>(Node.prototype, "parentElement");
  const shadowRoot = getter<ShadowRoot | null>(Element.prototype, "shadowRoot");
  const isConnected = getter<boolean>(Node.prototype, "isConnected");
  const ownerDocument = getter<Document>(Node.prototype, "ownerDocument");
  const { matches, checkVisibility } = Element.prototype;
  const { getRootNode } = Node.prototype;

  function all(selector: string, root: ParentNode = document): HTMLElement[] {
    const found: HTMLElement[] = [];
    const visit = (from: ParentNode, depth: number): void => {
      for (const element of from.querySelectorAll<HTMLElement>("*")) {
        if (matches.call(element, selector)) found.push(element);
        const inner = depth < DEPTH ? (shadowRoot(element) ?? frameOf(element)) : null;
        if (inner !== null) visit(inner, depth + 1);
      }
    };
    visit(root, 0);
    return found;
  }

  function frameOf(element: Element): Document | null {
    if (element.tagName !== "IFRAME" && element.tagName !== "FRAME") return null;
    try {
      return (element as HTMLIFrameElement).contentDocument;
    } catch {
      return null;
    }
  }

  function parentOf(element: Element): Element | null {
    const parent = parentElement(element);
    if (parent !== null) return parent;
    const root = getRootNode.call(element);
    return (root as ShadowRoot).host ?? (root as Document).defaultView?.frameElement ?? null;
  }

  const shown = (element: Element): boolean =>
    isConnected(element) && checkVisibility.call(element, { visibilityProperty: true }) && frameShown(element);

  function frameShown(element: Element): boolean {
    const own = ownerDocument(element);
    const frame = own === document ? null : own.defaultView?.frameElement;
    return frame === null || (frame !== undefined && shown(frame));
  }

  function textOf(element: Element): string {
    const copy = element.cloneNode(true) as Element;
    const inner =
      "input,select,textarea,button,option,script,style,template,[role=listbox],[role=combobox],[role=spinbutton],[contenteditable]";
    for (const part of copy.querySelectorAll(inner)) part.remove();
    const text = clean(copy.textContent);
    if (text !== "" || element.tagName !== "SLOT") return text;
    return clean(
      (element as HTMLSlotElement)
        .assignedNodes()
        .map((node) => node.textContent)
        .join(" "),
    );
  }

  function byIds(element: Element, attribute: string): Element[] {
    const root = element.getRootNode() as Document | ShadowRoot;
    return clean(element.getAttribute(attribute))
      .split(" ")
      .flatMap((id) => (id === "" ? [] : (root.getElementById(id) ?? [])));
  }

  function ariaName(element: Element): string {
    const parts = byIds(element, "aria-labelledby").filter((part) => part !== element);
    return (
      clean(parts.map((part) => textOf(part) || clean(part.textContent)).join(" ")) ||
      clean(element.getAttribute("aria-label"))
    );
  }

  function labelsOf(element: Element): HTMLElement[] {
    const labels = (element as HTMLInputElement).labels;
    if (labels !== null && labels !== undefined && labels.length > 0) return [...labels];
    if (element.id === "") return [];
    const root = element.getRootNode() as Document | ShadowRoot;
    return [...root.querySelectorAll<HTMLLabelElement>("label[for]")].filter((label) => label.htmlFor === element.id);
  }

  const ownLabel = (element: Element): string => ariaName(element) || clean(labelsOf(element).map(textOf).join(" "));

  function aim(element: Element): { x: number; y: number; hit: boolean } {
    element.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
    const box = element.getBoundingClientRect();
    // the middle first; something may cover a part of it
    const places = [0.5, 0.2, 0.8].flatMap((v) =>
      [0.5, 0.2, 0.8].map((u) => [box.x + box.width * u, box.y + box.height * v] as const),
    );
    const met = places.find(([u, v]) => meets(element, u, v));
    let [x, y] = met ?? (places[0] as readonly [number, number]);
    for (
      let frame = element.ownerDocument.defaultView?.frameElement;
      frame;
      frame = frame.ownerDocument.defaultView?.frameElement
    ) {
      frame.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
      const outer = frame.getBoundingClientRect();
      x += outer.x + frame.clientLeft;
      y += outer.y + frame.clientTop;
    }
    return { x, y, hit: met !== undefined };
  }

  /** Whether a click at this place of the element's own document comes to the element. */
  function meets(element: Element, x: number, y: number): boolean {
    let top = element.ownerDocument.elementFromPoint(x, y);
    for (
      let inner = top?.shadowRoot?.elementFromPoint(x, y);
      inner && inner !== top;
      inner = top?.shadowRoot?.elementFromPoint(x, y)
    )
      top = inner;
    if (top === null) return false;
    // a label around a control hands the click on; the text in a component's button is its host's
    return (
      holds(element, top) ||
      labelsOf(element).some((label) => label.contains(top)) ||
      top === (element.getRootNode() as ShadowRoot).host
    );
  }

  function holds(element: Element, inner: Element): boolean {
    for (let node: Element | null = inner; node !== null; node = parentOf(node)) if (node === element) return true;
    return false;
  }

  const isDisabled = (element: Element): boolean =>
    (element as HTMLInputElement).disabled === true ||
    element.matches("fieldset[disabled] *,[inert],[inert] *,[aria-disabled=true]");

  function buttonsBeside(field: Element): HTMLElement[] {
    const FIELDS = "input:not([type=hidden]),select,textarea";
    const BUTTONS = "button:not([type=submit]),[role=button],a,[onclick]";
    const inside = (of: Element): HTMLElement[] =>
      [...(of.matches(BUTTONS) ? [of as HTMLElement] : []), ...of.querySelectorAll<HTMLElement>(BUTTONS)].filter(
        (button) => button !== field && shown(button),
      );
    let found: HTMLElement[] = [];
    for (
      let child = field, node = parentElement(field), up = 0;
      node !== null && up < 4 && found.length < 2 && child.tagName !== "FORM";
      child = node, node = parentElement(node), up++
    ) {
      const fields = [...node.querySelectorAll(FIELDS)].filter((other) => other !== field);
      if (fields.length === 0 && node.tagName !== "FORM") found = inside(node);
      else
        for (const side of ["previousElementSibling", "nextElementSibling"] as const)
          for (let next = child[side]; next !== null; next = next[side]) {
            if (next.matches(`${FIELDS},label,legend`) || next.querySelector(FIELDS) !== null) break;
            found.push(...inside(next));
          }
    }
    return found;
  }

  function stepOf(button: Element): "less" | "more" | undefined {
    const said =
      ariaName(button) ||
      clean(button.textContent) ||
      clean((button as HTMLElement).title) ||
      `${button.getAttribute("name") ?? ""} ${button.className} ${Object.values((button as HTMLElement).dataset).join(" ")}`;
    const less = "decrea|decrement|minus|subtract|(?:^|[^a-z])(?:less|fewer|remove|down|dec|lower)(?![a-z])";
    const more = "increa|increment|plus|(?:^|[^a-z])(?:more|add|up|inc|raise|higher)(?![a-z])";
    if (new RegExp(`^[-\u2212\u2013\u25bc\u25be\u2193]$|${less}`, "i").test(said)) return "less";
    if (new RegExp(`^[+\uff0b\u25b2\u25b4\u2191]$|${more}`, "i").test(said)) return "more";
    return undefined;
  }

  function isStepped(field: Element): boolean {
    const { readOnly, value } = field as HTMLInputElement;
    if (readOnly !== true && !/^-?\d+$/.test(clean(value))) return false;
    const steps = buttonsBeside(field).map(stepOf);
    return steps.includes("less") && steps.includes("more");
  }

  const letters = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
  const same = (a: string, b: string): boolean =>
    clean(a).toLowerCase() === clean(b).toLowerCase() || (letters(a) !== "" && letters(a) === letters(b));

  return {
    clean,
    all,
    parentOf,
    shown,
    textOf,
    ariaName,
    ownLabel,
    labelsOf,
    aim,
    isDisabled,
    buttonsBeside,
    stepOf,
    isStepped,
    same,
  };
}
