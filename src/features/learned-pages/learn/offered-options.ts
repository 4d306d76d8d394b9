import type { Session } from "../../../env/browser/session.js";
import { looseLabel } from "../../../env/forms/normalize.js";
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

/** Tells whether an option is the one that a value names; its text may go on with a description. */
const isNamed = ([text]: Options[number], value: string): boolean =>
  looseLabel(text) === looseLabel(value) || text.trim().startsWith(value);

/** Tells whether a text is the value of options that a value does not name, so that it is another value's code. */
export function isOthers(options: Options, value: string, raw: string): boolean {
  const holders = options.filter((option) => option[1] === raw);
  return holders.length > 0 && !holders.some((option) => isNamed(option, value));
}

/** Returns the value of the only option with a text. */
export function codeOf(options: Options, text: string): string | undefined {
  const values = new Set(options.filter(([name]) => looseLabel(name) === looseLabel(text)).map(([, value]) => value));
  return values.size === 1 ? [...values][0] : undefined;
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
