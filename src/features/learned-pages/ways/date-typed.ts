import { parseDate } from "../../../env/forms/normalize.js";
import { writeDay } from "../../../env/forms/values.js";
import { DAY_PATTERNS } from "../values.js";
import { KEYS, NoWay, retyped, type Way, WRITABLE } from "../way.js";

/** Types a date in one of the usual notations. */
export const way: Way = {
  serves: ["date"],
  cost: 3,
  isLiteral: true,
  needs: WRITABLE,
  variants: KEYS.flatMap((key) => DAY_PATTERNS.map((day) => ({ day, key }))),
  async operate(place, value) {
    const { day: pattern = "", key = "Tab" } = place.variant;
    const day = parseDate(value);
    if (day === undefined) throw new NoWay("no date");
    await retyped(place, writeDay(day, pattern), key);
  },
};
