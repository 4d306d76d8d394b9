/** Runs IN THE PAGE: returns the functions that find a label's boxes. */
function boxKit() {
  const CONTROL =
    ":is(input:not([type=hidden]),textarea,select,button,[role=combobox],[role=slider],[role=switch],[role=checkbox],[role=radio],[role=spinbutton],[role=listbox],[role=textbox],[role=option],[contenteditable=''],[contenteditable=true],[contenteditable=plaintext-only],[tabindex='0'],[draggable=true]):not([type=submit])";
  /** Returns a label's text in lower case, without marks such as `*`. */
  const plain = (text: string | null): string =>
    (text ?? "")
      .replace(/[\s\u200b]+/g, " ")
      .trim()
      .toLowerCase()
      // a label may contain the value of its slider
      .replace(/:\s*[\d.,]+\s?[^\s\d:]{0,4}$/, "")
      .replace(/\s*(?:\*|:|\(required\)|\(optional\)|\s)+$/, "")
      .replace(/^\*\s*/, "");
  const childrenOf = (node: Element | ShadowRoot): Element[] =>
    node instanceof Element && node.shadowRoot !== null
      ? [...node.shadowRoot.children, ...node.children]
      : [...node.children];
  const up = (node: Element): Element | null =>
    node.assignedSlot ?? node.parentElement ?? ((node.getRootNode() as ShadowRoot).host || null);
  const shown = (e: Element): boolean => {
    const r = e.getBoundingClientRect();
    return (r.width > 1 && r.height > 1) || getComputedStyle(e).display === "contents";
  };
  /** Tells whether an element only shows text, or is a label without a control, which may draw its colon. */
  const isWords = (e: Element): boolean => {
    const inner = childrenOf(e);
    return inner.length > 0
      ? inner.every(isWords) || (e.matches("label") && !holds(e))
      : e.matches("slot,style,script,template,br") || plain(e.textContent) !== "" || !shown(e);
  };
  // an element with `for`, such as a label, names a control but is not one
  const operable = (e: Element): boolean =>
    e.matches(CONTROL) || (e.shadowRoot !== null && e.localName.includes("-") && !e.matches("[for]") && !isWords(e));
  /** Tells whether a box contains a control, in open shadow roots too. */
  const holds = (box: Element): boolean => {
    const open: Element[] = childrenOf(box);
    for (let i = 0; i < open.length && i < 3000; i++) {
      const e = open[i] as Element;
      if (
        operable(e) &&
        (shown(e) ||
          (e as HTMLInputElement).type === "file" ||
          (e as HTMLInputElement).type === "radio" ||
          (e as HTMLInputElement).type === "checkbox")
      )
        return true;
      open.push(...childrenOf(e));
    }
    return false;
  };
  /** Tells whether a box in a shadow root only frames controls that are slotted into it. */
  const isFrame = (box: Element): boolean =>
    box.getRootNode() instanceof ShadowRoot &&
    [...box.querySelectorAll("slot")].some((slot) =>
      slot.assignedElements({ flatten: true }).some((e) => operable(e) || holds(e)),
    );
  /** Tells whether an element is laid out on the page. */
  const seen = (e: Element): boolean =>
    e.checkVisibility({ visibilityProperty: true }) ||
    (getComputedStyle(e).display === "contents" && childrenOf(e).some(seen));
  /** Tells whether a box shows anything beside the element with the label. */
  const hasMore = (box: Element, from: Element): boolean =>
    childrenOf(box).some((e) => shown(e) && (e.contains(from) ? e !== from && hasMore(e, from) : true));
  const ownText = (e: Element): string => {
    let text = "";
    const read = (n: Node): void => {
      for (const c of n.childNodes) {
        if (text.length > 400) return;
        if (c.nodeType === 3) text += c.nodeValue ?? "";
        else if (
          c instanceof Element &&
          !c.matches("select,textarea,button,input,script,style,[aria-hidden=true],[role=listbox]")
        )
          read(c);
      }
    };
    read(e);
    return text;
  };
  const ATTRIBUTES = ["label", "aria-label", "placeholder", "data-placeholder", "title", "header"];
  /** Lists the text nodes that stand directly beside child elements. */
  const bare = (e: Element): string[] =>
    e.children.length === 0 ? [] : [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => plain(n.nodeValue));
  /** Lists the texts that may be an element's label. */
  const labelTexts = (e: Element): string[] => {
    const named = ATTRIBUTES.map((a) => plain(e.getAttribute(a)));
    const text = e.children.length < 40 && !e.matches("button,[role=option],a[href]") ? plain(ownText(e)) : "";
    return [...named, text, ...bare(e)].filter((one) => one !== "");
  };
  return { plain, childrenOf, up, operable, holds, isFrame, seen, hasMore, bare, labelTexts };
}

/**
 * Runs IN THE PAGE: finds the boxes of a label, smallest first. For each element with the label's text these are the
 * ancestors that contain a control, up to the first that contains another label too. If there are none, elements beside
 * the label and boxes shared with other labels are taken.
 */
function boxesOf(kit: ReturnType<typeof boxKit>, wanted: string, others: readonly string[]): Element[] {
  const { plain, childrenOf, up, operable, holds, isFrame, seen, hasMore, bare, labelTexts } = kit;
  const target = plain(wanted);
  const foreign = new Set(others.map(plain).filter((text) => text !== target));
  const matches: Element[] = [];
  /** Elements that contain another label. */
  const shared = new Set<Element>();
  const visit = (node: Element | ShadowRoot, depth: number): boolean => {
    let inside = false;
    for (const child of childrenOf(node)) {
      if (/^(?:SCRIPT|STYLE|TEMPLATE|OPTION|HEAD|SVG)$/i.test(child.nodeName)) continue;
      const texts = labelTexts(child);
      if (texts.some((text) => foreign.has(text)))
        for (let box: Element | null = child; box !== null && !shared.has(box); box = up(box)) shared.add(box);
      if (depth < 60 && visit(child, depth + 1)) inside = true;
      else if (texts.includes(target)) {
        matches.push(child);
        inside = true;
      }
    }
    return inside;
  };
  if (document.body !== null && target !== "") visit(document.body, 0);
  const spare: Element[] = [];
  const chains = matches.slice(0, 8).map((from) => {
    const chain: Element[] = [];
    const isBox = (from instanceof HTMLLabelElement || bare(from).includes(target)) && holds(from);
    if (operable(from) && !from.matches("label")) chain.push(from);
    let below: Element = from;
    let unnamed: Element | undefined;
    for (let box = up(from), n = 0; box !== null && box !== document.body && n < 9 && chain.length < 3; n++) {
      if (isFrame(box)) {
        // the controls are slotted into the frame from its host, which comes next
      } else if (!shared.has(box)) {
        if (chain.length > 0 || holds(box)) chain.push(box);
        else if (hasMore(box, from)) unnamed ??= box;
      } else if (chain.length === 0 && holds(box) && seen(from)) {
        // labels and controls are siblings: the controls up to the next label belong to this one
        for (let next = below.nextElementSibling; next !== null && !shared.has(next); next = next.nextElementSibling)
          if (operable(next) || holds(next)) chain.push(next);
          else if (seen(next)) unnamed ??= next;
        if (chain.length === 0 && !isBox) {
          // an element without the tag or role of a control may still be one, for example drawn stars
          spare.push(...(unnamed === undefined ? [] : [unnamed]), box);
          break;
        }
      }
      below = box;
      box = up(box);
    }
    if (isBox && !chain.includes(from)) chain.unshift(from);
    return chain;
  });
  const boxes: Element[] = [];
  for (let level = 0; level < 4; level++)
    for (const chain of chains) {
      const box = chain[level];
      if (box !== undefined && !boxes.includes(box)) boxes.push(box);
    }
  // boxes in a hidden part of the form come last
  return boxes.length === 0 ? [...new Set(spare)] : [...boxes.filter(seen), ...boxes.filter((box) => !seen(box))];
}

/** The source of a function that finds a label's boxes IN THE PAGE; it takes the label and all labels of the form. */
export const BOXES = `((label, others) => (${boxesOf})((${boxKit})(), label, others))`;
export type BoxesOf = (label: string, others: readonly string[]) => Element[];
