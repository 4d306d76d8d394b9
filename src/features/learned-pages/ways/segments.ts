import { parseDate, parseTime } from "../../../env/forms/normalize.js";
import { parseMoment, writeDay, writeTime } from "../../../env/forms/values.js";
import type { FieldValue } from "../../../env/site.js";
import { firstOf, NoWay, type Place, type Way } from "../way.js";

/** Types into the first of several fields for parts, which move the focus on by themselves. */
export const way: Way = {
  serves: ["date", "time", "moment", "text", "number"],
  oddness: 3,
  isLiteral: true,
  needs: "[role=spinbutton],[contenteditable],input",
  signs: "[role=spinbutton]",
  variants: ["as said", "MMDDYYYY", "DDMMYYYY", "YYYYMMDD", "hhmmA", "HHmm", "MMDDYYYYHHmm", "characters"],
  takes: (value, variant) =>
    variant === "as said"
      ? [parseDate, parseTime, parseMoment].some((parse) => parse(value) !== undefined)
      : keysOf(value, variant) !== undefined,
  async operate(place, value) {
    const keys = keysOf(value, place.variant === "as said" ? await saidIn(place, value) : place.variant);
    if (keys === undefined) throw new NoWay("no such parts");
    const inputs = place.box.locator("input").locator("visible=true");
    // an input for the whole value may come before the others
    const ahead = (await inputs.count()) - keys.length;
    if (place.variant === "characters" && (keys.length < 3 || ahead < 0)) throw new NoWay("no parts");
    const first =
      place.variant === "characters"
        ? inputs.nth(ahead)
        : await firstOf(
            place,
            place.box.locator("[role=spinbutton]"),
            place.box.locator("[contenteditable=true],input"),
          );
    await place.click(first);
    // a calendar that opens may take the focus
    await place.pause();
    await first.focus(place.limit);
    await place.page.keyboard.press("Home").catch(() => undefined);
    await place.page.keyboard.type(keys, { delay: 20 });
    // a text field that leaves the figures of a time as they are has no parts
    if (/^hh/i.test(place.variant) && (await first.inputValue(place.limit).catch(() => "")) === keys)
      throw new NoWay("it has no parts");
  },
};

/** Names the parts in the order of the page by their greatest numbers: `DDMMYYYYHHmm`. */
async function saidIn({ box }: Place, value: FieldValue): Promise<string> {
  const parts = box.locator("[role=spinbutton]").locator("visible=true");
  const most = await parts.evaluateAll((all) => all.map((e) => Number(e.getAttribute("aria-valuemax") ?? Number.NaN)));
  const isDay = parseTime(value) === undefined;
  return most.reduce((pattern, n) => {
    if (n > 1900) return `${pattern}YYYY`;
    if (n >= 28 && n <= 31) return `${pattern}DD`;
    if (n === 12 && isDay && !pattern.includes("MM")) return `${pattern}MM`;
    if (n === 59) return pattern + (pattern.includes("mm") ? "00" : "mm");
    return pattern + (n >= 23 ? "HH" : n === 11 || (n === 12 && !/h/i.test(pattern)) ? "hh" : "A");
  }, "");
}

function keysOf(value: FieldValue, pattern: string): string | undefined {
  if (pattern === "characters") return String(value).length > 12 ? undefined : String(value);
  const moment = parseMoment(value);
  const day = moment?.date ?? parseDate(value);
  const time = moment?.time ?? parseTime(value);
  const needs = { day: pattern.includes("Y"), time: /h/i.test(pattern) };
  if ((needs.day && day === undefined) || (needs.time && time === undefined)) return undefined;
  if ((!needs.day && day !== undefined) || (!needs.time && time !== undefined)) return undefined;
  const dated = pattern.replace(/[Hh].*$/, "");
  const timed = /[Hh].*$/.exec(pattern)?.[0] ?? "";
  return `${day === undefined ? "" : writeDay(day, dated)}${time === undefined ? "" : writeTime(time, timed)}`;
}
