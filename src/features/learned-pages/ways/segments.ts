import { parseDate, parseTime } from "../../../env/forms/normalize.js";
import { parseMoment, writeDay, writeTime } from "../../../env/forms/values.js";
import type { FieldValue } from "../../../env/site.js";
import type { Variant } from "../contract.js";
import { firstOf, NoWay, type Place, type Way } from "../way.js";

/** Types into the first of several fields for parts, which move the focus on by themselves. */
export const way: Way = {
  serves: ["date", "time", "moment", "text", "number"],
  isLiteral: true,
  needs: "[role=spinbutton],[contenteditable],input",
  variants: [
    // in the order that the page gives
    {},
    { by: "characters" },
  ],
  takes: (value, variant) =>
    Object.keys(variant).length === 0
      ? [parseDate, parseTime, parseMoment].some((parse) => parse(value) !== undefined)
      : keysOf(value, variant) !== undefined,
  async operate(place, value) {
    const { variant } = place;
    const isGiven = Object.keys(variant).length === 0;
    const keys = keysOf(value, isGiven ? await partsIn(place, value) : variant);
    if (keys === undefined) throw new NoWay("no such parts");
    const inputs = place.box.locator("input").locator("visible=true");
    // an input for the whole value may come before the others
    const ahead = (await inputs.count()) - keys.length;
    if (variant.by === "characters" && (keys.length < 3 || ahead < 0)) throw new NoWay("no parts");
    const first =
      variant.by === "characters"
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
    // a plain text field keeps the typed digits of a time unchanged: it has no parts
    if (
      variant.day === undefined &&
      variant.time !== undefined &&
      (await first.inputValue(place.limit).catch(() => "")) === keys
    )
      throw new NoWay("it has no parts");
  },
};

/** Names the parts in the order of the page by their greatest numbers: `DDMMYYYYHHmm`. */
async function partsIn({ box }: Place, value: FieldValue): Promise<Variant> {
  const parts = box.locator("[role=spinbutton]").locator("visible=true");
  const most = await parts.evaluateAll((all) => all.map((e) => Number(e.getAttribute("aria-valuemax") ?? Number.NaN)));
  const isDay = parseTime(value) === undefined;
  const pattern = most.reduce((pattern, n) => {
    if (n > 1900) return `${pattern}YYYY`;
    if (n >= 28 && n <= 31) return `${pattern}DD`;
    if (n === 12 && isDay && !pattern.includes("MM")) return `${pattern}MM`;
    if (n === 59) return pattern + (pattern.includes("mm") ? "00" : "mm");
    return pattern + (n >= 23 ? "HH" : n === 11 || (n === 12 && !/h/i.test(pattern)) ? "hh" : "A");
  }, "");
  const [day = "", time] = [/^[^Hh]*/, /[Hh].*$/].map((part) => part.exec(pattern)?.[0]);
  return { ...(day.includes("Y") ? { day } : {}), ...(time === undefined ? {} : { time }) };
}

function keysOf(value: FieldValue, { by, day: dated, time: timed }: Variant): string | undefined {
  if (by === "characters") return String(value).length > 12 ? undefined : String(value);
  const moment = parseMoment(value);
  const day = moment?.date ?? parseDate(value);
  const time = moment?.time ?? parseTime(value);
  if ((dated === undefined) !== (day === undefined) || (timed === undefined) !== (time === undefined)) return undefined;
  return `${day === undefined ? "" : writeDay(day, dated ?? "")}${time === undefined ? "" : writeTime(time, timed ?? "")}`;
}
