import { DAY_PATTERNS, parseRange, writeDay } from "../../../env/forms/values.js";
import { closeOpen, NoWay, type Way, WRITABLE } from "../way.js";

/** Types the first and the last day, into two fields or one. */
export const way: Way = {
  serves: ["range"],
  oddness: 3,
  isLiteral: true,
  needs: WRITABLE,
  variants: ["Tab", "Enter"].flatMap((key) =>
    DAY_PATTERNS.slice(0, 8).flatMap((pattern) => ["two", " - ", " to "].map((how) => `${pattern}|${how}|${key}`)),
  ),
  async operate(place, value) {
    const [pattern = "", how = "", key = ""] = place.variant.split("|");
    const days = parseRange(value)?.map((day) => writeDay(day, pattern));
    const fields = place.box.locator("input").locator("visible=true");
    const count = await fields.count();
    if (days === undefined || (how === "two" ? count < 2 : count !== 1)) throw new NoWay("no such fields");
    for (const [i, text] of (how === "two" ? days : [days.join(how)]).entries()) {
      await fields.nth(i).click(place.limit);
      await place.page.keyboard.press("ControlOrMeta+A");
      await place.page.keyboard.type(text);
      await place.page.keyboard.press(how === "two" && i === 0 ? "Tab" : key);
    }
    await closeOpen(place.page, place.box);
  },
};
