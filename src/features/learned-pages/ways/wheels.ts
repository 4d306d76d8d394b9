import { parseDate, parseTime } from "../../../env/forms/normalize.js";
import { monthIn, parseMoment } from "../../../env/forms/values.js";
import type { FieldValue } from "../../../env/site.js";
import { confirmed, NoWay, opened, type Place, type Way } from "../way.js";

/** Most clicks that turn a column to a line, and the wait after each, in milliseconds. */
const MOST_TURNS = 60;
const TURN_MS = 150;

/** A column with one chosen line, as on a drum: the texts of all lines, and the centres of the visible ones. */
interface Column {
  readonly texts: readonly string[];
  readonly seen: readonly { readonly i: number; readonly x: number; readonly y: number }[];
  readonly middle: number;
}

/** Runs IN THE PAGE: finds the visible columns of numbers or months. */
function columnsNow(): Column[] {
  const found: Column[] = [];
  const textOf = (e: Element): string => (e.textContent ?? "").replace(/\s+/g, " ").trim();
  const isLine = (e: Element): boolean => /^(?:\d{1,4}\D{0,3}|\p{L}{3,10}\.?)$/u.test(textOf(e));
  const visit = (node: Element | ShadowRoot): void => {
    for (const e of node.children) {
      if (e.shadowRoot !== null) visit(e.shadowRoot);
      const lines = [...e.children].filter(isLine);
      const heights = new Set(lines.map((line) => Math.round(line.getBoundingClientRect().height)));
      if (lines.length < 4 || lines.length < e.children.length - 2 || heights.size > 2 || e.localName === "select") {
        visit(e);
        continue;
      }
      // visible lines lie inside the box that clips them
      let box: Element = e;
      while (box.parentElement !== null && getComputedStyle(box).overflowY === "visible") box = box.parentElement;
      const frame = box.getBoundingClientRect();
      const seen = lines.flatMap((line, i) => {
        const r = line.getBoundingClientRect();
        const [x, y] = [r.x + r.width / 2, r.y + r.height / 2];
        return r.height > 4 && y > frame.top && y < frame.bottom ? [{ i, x, y }] : [];
      });
      const isBelow = (a?: { y: number }, b?: { y: number }): boolean =>
        a !== undefined && b !== undefined && b.y > a.y;
      if (isBelow(seen[0], seen[1]) && e.checkVisibility({ visibilityProperty: true }))
        found.push({ texts: lines.map(textOf), seen, middle: frame.y + frame.height / 2 });
    }
  };
  visit(document.body);
  return found;
}

/** Opens columns of years, months, days, hours or minutes and turns each to its number. */
export const way: Way = {
  serves: ["date", "time", "moment"],
  cost: 4.3,
  isLiteral: true,
  variants: [{ confirm: true }, {}],
  async operate(place, value) {
    const open = (): Promise<void> => opened(place, place.control, TURN_MS);
    const choose = (): Promise<void> => turnAll(place, value);
    if (place.variant.confirm) return confirmed(place, open, choose);
    await open();
    await choose();
    await place.page.mouse.click(1, 1);
  },
};

async function turnAll(place: Place, value: FieldValue): Promise<void> {
  const moment = parseMoment(value);
  const [year = 0, month = 0, day = 0] = (moment?.date ?? parseDate(value) ?? "").split("-").map(Number);
  const [hour = 0, minute = 0] = (moment?.time ?? parseTime(value) ?? "").split(":").map(Number);
  const look = async (): Promise<Column[]> => {
    for (let i = 0, last = ""; ; i++) {
      const now = await place.look<Column[]>(`function () { return (${columnsNow})(); }`);
      if ((now.length > 0 && JSON.stringify(now) === last) || i > 8) return now;
      last = JSON.stringify(now);
      await place.pause(TURN_MS);
    }
  };
  const columns = await look();
  const numberOf = (text: string): number => monthIn(text) ?? Number.parseInt(text, 10);
  const wantedOf = (texts: readonly string[]): number | undefined => {
    const most = Math.max(...texts.map(numberOf));
    if (most > 1900) return year;
    if (year > 0 && most === 12) return month;
    if (year > 0 && most >= 28 && most <= 31) return day;
    return most >= 45 && most <= 59 ? minute : most === 23 ? hour : undefined;
  };
  const turned = columns.map(({ texts }) => wantedOf(texts));
  if (turned.every((wanted) => wanted === undefined)) throw new NoWay("no columns");
  for (const [at, wanted] of turned.entries())
    for (let i = 0; wanted !== undefined; i++) {
      const { texts = [], seen = [], middle = 0 } = (await look())[at] ?? {};
      const goal = texts.findIndex((text) => numberOf(text) === wanted);
      const chosen = [...seen].sort((a, b) => Math.abs(a.y - middle) - Math.abs(b.y - middle))[0];
      if (goal < 0 || chosen === undefined || i > MOST_TURNS) throw new NoWay(`${wanted} is not reached`);
      if (chosen.i === goal) break;
      const next = [...seen].sort((a, b) => Math.abs(a.i - goal) - Math.abs(b.i - goal))[0] ?? chosen;
      await place.page.mouse.click(next.x, next.y);
      await place.pause(TURN_MS);
    }
}
