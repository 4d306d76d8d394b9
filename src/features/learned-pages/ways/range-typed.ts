import { parseRange, writeDay } from "../../../env/forms/values.js";
import { DAY_PATTERNS } from "../values.js";
import { closeOpen, KEYS, NoWay, type Way, WRITABLE } from "../way.js";

/** Types the first and the last day, into two fields or one. */
export const way: Way = {
  serves: ["range"],
  cost: 3,
  isLiteral: true,
  needs: WRITABLE,
  variants: KEYS.flatMap((key) =>
    DAY_PATTERNS.slice(0, 8).flatMap((day) => [
      { day, key },
      ...[" - ", " to "].map((between) => ({ day, between, key })),
    ]),
  ),
  async operate(place, value) {
    const { day: pattern = "", between, key = "Tab" } = place.variant;
    const days = parseRange(value)?.map((day) => writeDay(day, pattern));
    const fields = place.box.locator("input").locator("visible=true");
    const count = await fields.count();
    if (days === undefined || (between === undefined ? count < 2 : count !== 1)) throw new NoWay("no such fields");
    for (const [i, text] of (between === undefined ? days : [days.join(between)]).entries()) {
      await fields.nth(i).click(place.limit);
      await place.page.keyboard.press("ControlOrMeta+A");
      await place.page.keyboard.type(text);
      await place.page.keyboard.press(between === undefined && i === 0 ? "Tab" : key);
    }
    await closeOpen(place.page, place.box);
  },
};
