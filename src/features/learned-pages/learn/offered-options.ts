import type { Session } from "../../../env/browser/session.js";
import { BOXES, type BoxesOf } from "../boxes.js";

/** The texts and the values of the options that a page offers in a label's field. */
export type Options = readonly (readonly [text: string, value: string])[];

/** Runs IN THE PAGE: reads the options of each label's lists, radio buttons and boxes. */
function read(boxes: BoxesOf, labels: readonly string[]): [string, string][][] {
  return labels.map((label) => {
    const found: [string, string][] = [];
    const visit = (e: Element): void => {
      if (found.length > 3000) return;
      if (e instanceof HTMLOptionElement) found.push([e.label || e.text, e.value]);
      const isBox = e instanceof HTMLInputElement && /^(?:radio|checkbox)$/.test(e.type) && e.hasAttribute("value");
      if (isBox) found.push([e.labels?.[0]?.textContent ?? e.parentElement?.textContent ?? "", e.value]);
      if (e instanceof HTMLInputElement) for (const option of e.list?.options ?? []) visit(option);
      for (const child of [...(e.shadowRoot?.children ?? []), ...e.children]) visit(child);
    };
    const [box] = boxes(label, labels);
    if (box !== undefined) visit(box);
    return found;
  });
}

/** Reads the options of each label's field on the open page. */
export async function optionsIn({ view }: Session, labels: readonly string[]): Promise<Record<string, Options>> {
  const source = `function (labels) { return (${read})(${BOXES}, labels); }`;
  const found = await view.run<Options[]>(source, labels);
  return Object.fromEntries(labels.map((label, i) => [label, found[i] ?? []]));
}

/** Runs IN THE PAGE: reads the name of each label's only control. */
function readNames(boxes: BoxesOf, labels: readonly string[]): (string | undefined)[] {
  return labels.map((label) => {
    const [box] = boxes(label, labels);
    const controls =
      box === undefined ? [] : [box, ...box.querySelectorAll("*")].filter((e) => e.matches("input,select,textarea"));
    const names = new Set(controls.map((e) => (e as HTMLInputElement).name));
    return names.size === 1 && controls.length === 1 ? [...names][0] || undefined : undefined;
  });
}

/** Reads the name of each label's control on the open page; undefined for a label with none or several controls. */
export const namesIn = ({ view }: Session, labels: readonly string[]): Promise<(string | undefined)[]> =>
  view.run(`function (labels) { return (${readNames})(${BOXES}, labels); }`, labels);
