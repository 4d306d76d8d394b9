import type { Frame } from "playwright";
import { closing } from "../../core/closing.js";
import { within } from "../../core/within.js";
import { type Control, findControl } from "../../env/browser/controls.js";
import type { PageForm } from "../../env/browser/page/form.js";
import type { OpenPage } from "./filling.js";

/** A visible control of the page that is no field of the form that was filled in. */
export interface LeftOut {
  readonly label: string;
  readonly reason:
    | "disabled"
    | "without a label"
    | "in another form"
    | "not recognised"
    | "in a frame"
    | "not shown yet"
    | "in a closed shadow root";
}

const CONTROLS =
  "input:not([type=hidden],[type=submit],[type=button],[type=reset],[type=image]),select,textarea,[contenteditable=true],[role=combobox],[role=listbox],[role=slider],[role=spinbutton],[role=switch],[role=textbox]";
/** Time limit for a frame, in milliseconds. */
const FRAME_MS = 2000;

/** Lists the visible controls of a page that are none of these. */
export async function leftOut({ form, surface, contract }: OpenPage, controls: readonly Control[]): Promise<LeftOut[]> {
  const present = controls.filter(({ present }) => present);
  const [fields, labels] = [present.map(({ index }) => index), present.map(({ label }) => label)];
  const { page } = surface;
  const own = await form.handle.evaluate(others, { fields, labels, css: CONTROLS });
  const inner = page.frames().filter((frame) => frame !== page.mainFrame());
  const framed = await Promise.all(inner.map(labelsIn));
  const closed = await closedLabels(surface.page);
  return [
    ...own,
    ...framed.flat().map((label): LeftOut => ({ label, reason: "in a frame" })),
    ...Object.keys(contract?.fields ?? {})
      .filter((label) => findControl(present, label) === "none")
      .map((label): LeftOut => ({ label, reason: "not shown yet" })),
    ...closed.map((label): LeftOut => ({ label, reason: "in a closed shadow root" })),
  ];
}

/** Runs IN THE PAGE: lists the controls of the document and of its open shadow roots that are not known. */
function others(
  page: PageForm,
  { fields, labels, css }: { fields: readonly number[]; labels: readonly string[]; css: string },
): LeftOut[] {
  const known = new Set<Element>(fields.flatMap((i) => page.elements[i] ?? []));
  const [first] = known;
  const main = (first as HTMLInputElement | undefined)?.form ?? null;
  const loose = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
  const named = new Set(labels.map(loose));
  const found: LeftOut[] = [];
  const visit = (root: Document | ShadowRoot, host: Element | undefined): void => {
    for (const e of root.querySelectorAll<HTMLInputElement>("*")) {
      if (e.shadowRoot !== null) visit(e.shadowRoot, e);
      const { width, height } = e.getBoundingClientRect();
      if (!e.matches(css) || known.has(e) || width < 2 || height < 2 || !page.shown(e) || found.length > 100) continue;
      // a part of a field has the name of the field, or stands in it
      const around = e.parentElement?.closest(css);
      const label = page.labelOf(e) || page.clean(host?.getAttribute("label")) || page.clean(e.placeholder);
      if (named.has(loose(label)) || (around !== null && around !== undefined)) continue;
      const reason =
        e.disabled || e.getAttribute("aria-disabled") === "true"
          ? "disabled"
          : label === ""
            ? "without a label"
            : (e.form ?? null) !== main
              ? "in another form"
              : "not recognised";
      found.push({ label: (label || e.name || e.id || e.localName).slice(0, 200), reason });
    }
  };
  visit(document, undefined);
  return found;
}

/** Lists the names of the controls in a frame; none where it does not answer. */
async function labelsIn(frame: Frame): Promise<string[]> {
  const names = frame.locator(CONTROLS).evaluateAll((all) =>
    (all as HTMLInputElement[]).flatMap((e) => {
      const text = e.getAttribute("aria-label") ?? e.labels?.[0]?.textContent ?? e.placeholder ?? "";
      return e.checkVisibility({ visibilityProperty: true }) ? [text.trim() || e.name || e.localName] : [];
    }),
  );
  return (await within(names, FRAME_MS)) ? names.catch(() => []) : [];
}

interface DomNode {
  readonly nodeName: string;
  readonly attributes?: readonly string[];
  readonly shadowRootType?: string;
  readonly children?: readonly DomNode[];
  readonly shadowRoots?: readonly DomNode[];
}

/** Lists the names of the controls in closed shadow roots, which scripts cannot see. */
async function closedLabels(page: OpenPage["surface"]["page"]): Promise<string[]> {
  const devtools = await page.context().newCDPSession(page);
  await using _ = closing({ close: () => devtools.detach().catch(() => undefined) });
  const { root } = await devtools.send("DOM.getDocument", { depth: -1, pierce: true });
  const found: string[] = [];
  const visit = (node: DomNode, isClosed: boolean, host: string): void => {
    const { attributes = [], nodeName } = node;
    // names and values in turn
    const at = (wanted: string): number => attributes.findIndex((name, i) => i % 2 === 0 && name === wanted);
    const read = (wanted: string): string => (at(wanted) < 0 ? "" : (attributes[at(wanted) + 1] ?? "").trim());
    const label = read("aria-label") || read("label") || read("placeholder") || read("name");
    if (isClosed && /^(?:INPUT|SELECT|TEXTAREA)$/.test(nodeName) && read("type") !== "hidden")
      found.push(label || host || nodeName.toLowerCase());
    for (const child of node.children ?? []) visit(child, isClosed, host);
    for (const inner of node.shadowRoots ?? []) visit(inner, inner.shadowRootType === "closed", label);
  };
  visit(root as DomNode, false, "");
  return found;
}
