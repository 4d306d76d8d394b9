import type { Page } from "playwright";
import { parseDate, parseTime } from "../../../env/forms/normalize.js";
import { dayIn, monthIn, parseMoment, parseRange } from "../../../env/forms/values.js";
import type { FieldValue } from "../../../env/site.js";
import { type Grid, readGrids, type Spot } from "../grids.js";
import { firstOf, lastPart, NoWay, type Place, pinned, visibleButtons, type Way } from "../way.js";

/** Most clicks on a calendar's arrows to reach a month. */
const MOST_CLICKS = 90;
/** Most further looks at a calendar until its month has changed: by a new arrow, and by one that has changed it before. */
const MOST_LOOKS = { fresh: 8, known: 20 };

/** Opens a calendar, clicks its arrows until it shows the month, then the day; sets a time in its lists or fields. */
export const way: Way = {
  serves: ["date", "moment", "range", "time"],
  cost: 4,
  isLiteral: true,
  variants: [
    ...["open", "control", "button", "icon", "last button"].map((by) => ({ by })),
    ...["control", "button"].map((by) => ({ by, confirm: true as const })),
  ],
  operate: async (place, value) => pickDay(await pinned(place), value),
};

async function pickDay(place: Place, value: FieldValue): Promise<void> {
  const moment = parseMoment(value);
  const time = moment?.time ?? parseTime(value);
  const day = parseDate(value) ?? moment?.date;
  const days = day === undefined ? (parseRange(value) ?? []) : [day];
  const { by: opener, confirm } = place.variant;
  await open(place, opener);
  if (days[0] !== undefined) {
    await chooseLists(place, days[0]);
    // some calendars close when a list takes the focus: they are opened again for their arrows
    if ((await readGrids(place)).length === 0) await open(place, opener);
  }
  for (const [i, one] of days.entries()) {
    if (i > 0) await chooseLists(place, one);
    await pickOne(place, one, i === days.length - 1 && confirm === true);
  }
  const isSet = time !== undefined && (await setTime(place, time));
  if (days.length === 0 && !isSet) throw new NoWay("no date and no time");
}

/** Sets hour and minute in lists or fields, recognised by their greatest number. @returns whether any was found. */
async function setTime({ page, box, has, limit }: Place, time: string): Promise<boolean> {
  const [hour = 0, minute = 0] = time.split(":").map(Number);
  const own = box.locator("select,input[type=number],[role=spinbutton]").locator("visible=true");
  const all = (await has(own)) ? own : page.locator("input[type=number],[role=spinbutton]").locator("visible=true");
  let isSet = false;
  let isHalved = false;
  for (const field of await all.all()) {
    const numbers = (await field.locator("option").allTextContents()).map((text) => (text.trim() === "" ? -1 : +text));
    const declared = (await field.getAttribute("max", limit)) ?? (await field.getAttribute("aria-valuemax", limit));
    const most = numbers.length > 0 ? Math.max(...numbers.filter((n) => !Number.isNaN(n))) : Number(declared);
    const isMinute = most >= 45 && most <= 59;
    if (!isMinute && ![11, 12, 23, 24].includes(most)) continue;
    const number = isMinute ? minute : most > 12 ? hour : hour % 12 || 12;
    isSet = true;
    isHalved ||= most === 11 || most === 12;
    // the first option of a list may be a placeholder
    if (numbers.length > 0) await field.selectOption({ index: numbers.lastIndexOf(number) }, limit);
    else {
      await field.click(limit);
      await page.keyboard.press("ControlOrMeta+A");
      await page.keyboard.type(`${String(number).padStart(2, "0")}\t`);
    }
  }
  if (isHalved) await setHalf(page, hour < 12 ? "AM" : "PM", limit);
  await page.keyboard.press("Escape");
  return isSet;
}

/** Clicks the half of the day, or the only half that is shown, which changes with a click. */
async function setHalf(page: Page, half: string, limit: Place["limit"]): Promise<void> {
  const seen = page.getByText(/^\s*[AP]M\s*$/i).locator("visible=true");
  const texts = (await seen.allInnerTexts()).map((text) => text.trim().toUpperCase());
  const isPair = texts.length === 2 && texts[0] !== texts[1];
  if (isPair || (texts.length === 1 && texts[0] !== half))
    await seen.nth(isPair ? texts.indexOf(half) : 0).click(limit);
}

async function pickOne(place: Place, day: string, confirms: boolean): Promise<void> {
  const tried = new Map<string, Effect>();
  for (let clicks = 0; clicks < MOST_CLICKS; clicks++) {
    const grids = await readGrids(place);
    if (grids.length === 0) throw new NoWay("no calendar");
    const cell = cellOf(grids, day);
    if (cell !== undefined) {
      await place.page.mouse.click(cell.x, cell.y);
      await place.pause(100);
      if (confirms) await clickConfirm(place, grids);
      return;
    }
    await turn(place, grids, day, tried);
  }
  throw new NoWay("the month is not reached");
}

async function open(place: Place, opener: string | undefined): Promise<void> {
  const { box, control } = place;
  if (opener === "open") return;
  const buttons = box.locator("button,[role=button]").locator("visible=true");
  const target =
    opener === "control"
      ? control
      : opener === "button"
        ? await firstOf(place, box.locator("button,[role=button],[role=combobox]"))
        : opener === "icon"
          ? await firstOf(place, box.locator("svg,i,img,[class*=icon i],[class*=picker i]"), lastPart(place))
          : buttons.last();
  if (!(await place.has(target))) throw new NoWay("nothing opens");
  await place.click(target);
  await place.pause(200);
}

/** Sets the month and the year in a calendar's lists and fields, if it has any. */
async function chooseLists({ page, limit, pause }: Place, day: string): Promise<void> {
  const [year = 0, month = 0] = day.split("-").map(Number);
  for (const list of await page.locator("select").locator("visible=true").all()) {
    const texts = (await list.locator("option").allTextContents()).map((text) => text.trim());
    const byName = texts.length >= 12 && texts.length <= 13 ? texts.findIndex((text) => monthIn(text) === month) : -1;
    const years = texts.filter((text) => /^(?:19|20)\d\d$/.test(text)).length > 2;
    const index = years ? texts.indexOf(String(year)) : byName;
    if (index >= 0) await list.selectOption({ index }, limit).catch(() => undefined);
  }
  for (const field of await page.locator("input[type=number]").locator("visible=true").all()) {
    if (!/^(?:19|20)\d\d$/.test(await field.inputValue(limit).catch(() => ""))) continue;
    await field.fill(String(year), limit).catch(() => undefined);
    await page.keyboard.press("Enter");
  }
  // a calendar that closes when it loses the focus may do so with a delay
  await pause(200);
}

const monthOf = ({ heading }: Grid): number | undefined => {
  const texts = [...heading, heading.join(" ")];
  for (const text of texts) {
    const year = /(?<!\d)((?:19|20)\d\d)(?!\d)/.exec(text)?.[1];
    const month = monthIn(text) ?? numeric(text);
    if (year !== undefined && month !== undefined) return Number(year) * 12 + month - 1;
  }
  return undefined;
};

const numeric = (text: string): number | undefined => {
  // the number of a month before the sign for "month"
  const m =
    /(?<!\d)(\d{1,2})()\s*[月월]/.exec(text) ??
    /^(?:(?:19|20)\d\d\D{1,3}(\d{1,2})\D?|(\d{1,2})\D{1,3}(?:19|20)\d\d)$/.exec(text.trim());
  const month = Number(m?.[1] ?? m?.[2]);
  return month >= 1 && month <= 12 ? month : undefined;
};

function cellOf(grids: readonly Grid[], day: string): Spot | undefined {
  const [year = 0, month = 0, date = 0] = day.split("-").map(Number);
  for (const grid of grids) {
    const named = grid.cells.find((cell) => !cell.off && cell.names.some((name) => dayIn(name) === day));
    if (named !== undefined && Number(named.text) === date) return named;
  }
  const grid = grids.find((one) => monthOf(one) === year * 12 + month - 1);
  const same = grid?.cells.filter((cell) => Number(cell.text) === date) ?? [];
  const able = same.filter((cell) => !cell.off);
  const pool = able.length > 0 ? able : same;
  // days of the neighbouring months stand at both ends of the grid
  return date > 15 ? pool.at(-1) : pool[0];
}

/** The effect of an arrow, as its first click has shown it: the month side by side that it moves, and how far. */
interface Effect {
  /** Index of the month among those side by side; -1 if none has moved. */
  readonly grid: number;
  /** In months; below 0 to earlier ones. */
  readonly by: number;
}

/** Clicks the arrow that leads nearer to the month; the first click on an arrow shows where it leads. */
async function turn(place: Place, grids: readonly Grid[], day: string, tried: Map<string, Effect>): Promise<void> {
  const [year = 0, month = 0] = day.split("-").map(Number);
  const months = grids.map(monthOf);
  if (months[0] === undefined) throw new NoWay("no month is said");
  const ahead = (grid = 0): number => year * 12 + month - 1 - (months[grid] ?? Number.NaN);
  // months side by side may each have some of the arrows
  const buttons = [
    ...new Map(grids.flatMap((one) => one.buttons).map((spot) => [`${spot.x} ${spot.y}`, spot])).values(),
  ];
  const key = (spot: Spot, i: number): string => `${i}/${buttons.length} ${spot.text}`;
  const known = buttons.map((spot, i) => ({ spot, key: key(spot, i), effect: tried.get(key(spot, i)) }));
  const useful = known
    .filter(({ effect: { grid, by } = { grid: 0, by: 0 } }) => by * ahead(grid) > 0 && by / ahead(grid) <= 1)
    .sort((a, b) => Math.abs(b.effect?.by ?? 0) - Math.abs(a.effect?.by ?? 0))[0];
  const { middle } = grids[0] as Grid;
  // the name of a month or a year is clicked last: it may open another view
  const isNamed = ({ text }: Spot): boolean => /\d/.test(text) || monthIn(text) !== undefined;
  // of single and double arrows, the inner ones lead less far
  const isNear = Math.abs(ahead()) < 12 && buttons.filter((spot) => !isNamed(spot)).length > 2;
  const rank = ({ spot }: { spot: Spot }): number => {
    const side = (spot.x - middle) * Math.sign(ahead());
    return isNamed(spot) ? side - 1e4 : isNear && side > 0 ? 1e4 - side : side;
  };
  const fresh = known.filter(({ effect }) => effect === undefined).sort((a, b) => rank(b) - rank(a));
  const next = useful ?? fresh[0];
  const { grid = 0, by = ahead() } = useful?.effect ?? {};
  if (next === undefined || Math.abs(ahead(grid)) > MOST_CLICKS * Math.abs(by)) throw new NoWay("no arrow leads there");
  await place.page.mouse.click(next.spot.x, next.spot.y);
  await place.pause(useful === undefined ? 200 : 60);
  /** Tells which month has changed, and how far; while months slide, their heading may be unreadable. */
  const effectIn = (after: readonly Grid[]): Effect => {
    const steps = after.map((one, i) => (monthOf(one) ?? Number.NaN) - (months[i] ?? Number.NaN));
    const moved = steps.findIndex((by) => Math.abs(by) > 0);
    return { grid: moved, by: steps[moved] ?? 0 };
  };
  let after = await readGrids(place);
  let effect = effectIn(after);
  // a heading may show its new month before its new year: the effect is the known one, or is seen twice
  let expected = useful?.effect?.by;
  for (let i = useful === undefined ? MOST_LOOKS.fresh : MOST_LOOKS.known; effect.by !== expected && i > 0; i--) {
    if (useful === undefined && effect.by !== 0) expected = effect.by;
    await place.pause(100);
    after = await readGrids(place);
    effect = effectIn(after);
  }
  if (after.length === 0) throw new NoWay("the calendar closed");
  // the button of the present month leads there only once
  tried.set(next.key, effect);
}

/** Clicks the button that confirms: the last below the days, in the calendar or else close to it. */
async function clickConfirm(place: Place, grids: readonly Grid[]): Promise<void> {
  const { buttons, bottom, middle } = grids[0] as Grid;
  const isClose = ({ x, y }: Spot): boolean => y < bottom + 100 && Math.abs(x - middle) < 300;
  const below = (spots: readonly Spot[]): Spot | undefined =>
    spots.filter((spot) => spot.y > bottom).sort((a, b) => b.x - a.x)[0];
  const last = below(buttons) ?? below((await visibleButtons(place)).filter(isClose));
  if (last === undefined) throw new NoWay("nothing confirms");
  await place.page.mouse.click(last.x, last.y);
}
