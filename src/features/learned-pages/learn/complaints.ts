import type { Session } from "../../../env/browser/session.js";
import { BOXES, type BoxesOf } from "../boxes.js";

/** Visible texts and how often each occurs. */
export type Texts = Readonly<Record<string, number>>;

interface Text {
  readonly text: string;
  readonly middle: readonly [x: number, y: number];
}

/** Runs IN THE PAGE: lists the texts of elements, with their centres. */
function textsOf(): Text[] {
  const found: Text[] = [];
  const visit = (node: Document | ShadowRoot): void => {
    for (const e of node.querySelectorAll("*")) {
      if (e.shadowRoot !== null) visit(e.shadowRoot);
      if (found.length > 3000 || e.matches("script,style,option,template")) continue;
      const own = [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.nodeValue ?? "");
      const text = own.join(" ").replace(/\s+/g, " ").trim();
      const { x, y, width, height } = e.getBoundingClientRect();
      if (text.length > 1 && width > 1 && height > 1)
        found.push({ text, middle: [Math.round(x + width / 2), Math.round(y + height / 2)] });
    }
  };
  visit(document);
  return found;
}

/** Runs IN THE PAGE: finds for each spot the label whose field is nearest, within 60 pixels. */
function nearest(
  boxes: BoxesOf,
  { labels, spots }: { labels: readonly string[]; spots: readonly (readonly [number, number])[] },
): (string | undefined)[] {
  const MOST = 60;
  const rects = labels.map((label) => boxes(label, labels)[0]?.getBoundingClientRect());
  return spots.map(([x, y]) => {
    let best: { label: string | undefined; far: number } = { label: undefined, far: MOST };
    labels.forEach((label, i) => {
      const r = rects[i];
      if (r === undefined) return;
      const beside = Math.max(r.left - x, 0, x - r.right);
      // an error text mostly stands below its field
      const above = Math.max(r.top - y, 0) * 1.5 + Math.max(y - r.bottom, 0);
      if (beside + above < best.far) best = { label, far: beside + above };
    });
    return best.label;
  });
}

const counted = (texts: readonly Text[]): Texts => {
  const counts: Record<string, number> = {};
  for (const { text } of texts) counts[text] = (counts[text] ?? 0) + 1;
  return counts;
};

export const textsNow = async ({ view }: Session): Promise<Texts> => counted(await view.evaluate(textsOf));

/** A page's complaints about a form that it does not send. */
export interface Complaints {
  /** Labels of the fields that it may mean. */
  readonly labels: readonly string[];
  /** Its own words. */
  readonly texts: readonly string[];
}

/** Most texts that are quoted, and most characters of one. */
const MOST_QUOTED = 3;
const MOST_LETTERS = 120;

/**
 * Reads the texts that have appeared, which are mostly error messages. A text means the fields whose labels it names,
 * else the field that it stands beside.
 */
export async function complaints(session: Session, before: Texts, labels: readonly string[]): Promise<Complaints> {
  const now = await session.view.evaluate(textsOf);
  const counts = counted(now);
  const fresh = now.filter(({ text }) => (counts[text] ?? 0) > (before[text] ?? 0) && !labels.includes(text));
  const quoted = [...fresh.map(({ text }) => text), ...session.alerts].map((text) => text.slice(0, MOST_LETTERS));
  const texts = [...new Set(quoted)].slice(0, MOST_QUOTED);
  const named = labels.filter((label) => texts.some((text) => worded(text).includes(worded(label))));
  if (named.length > 0 || fresh.length === 0) return { labels: named, texts };
  const source = `function (argument) { return (${nearest})(${BOXES}, argument); }`;
  const spots = fresh.map(({ middle }) => middle);
  const found = await session.view.run<(string | null | undefined)[]>(source, { labels, spots });
  return { labels: [...new Set(found.filter((label) => typeof label === "string"))], texts };
}

/** Writes the words of a text with a space around each. */
const worded = (text: string): string => ` ${(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(" ")} `;
