import { parseDate, parseTime } from "../../forms/normalize.js";
import type { FieldValue } from "../../site.js";
import { parseMoment, writeDay, writeTime } from "../values.js";
import { firstOf, NoWay, type Way } from "../way.js";

/** Types into the first of several fields for parts, which move the focus on by themselves. */
export const way: Way = {
  serves: ["date", "time", "moment", "text", "number"],
  oddness: 3,
  isLiteral: true,
  needs: "[role=spinbutton],[contenteditable],input",
  signs: "[role=spinbutton]",
  variants: ["MMDDYYYY", "DDMMYYYY", "YYYYMMDD", "hhmmA", "HHmm", "MMDDYYYYhhmmA", "MMDDYYYYHHmm", "characters"],
  takes: (value, variant) => keysOf(value, variant) !== undefined,
  async operate(place, value) {
    const keys = keysOf(value, place.variant);
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
  },
};

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
