import { parseDate } from "../../../env/forms/normalize.js";
import { DAY_PATTERNS, writeDay } from "../../../env/forms/values.js";
import { NoWay, retyped, type Way, WRITABLE } from "../way.js";

/** Types a date in one of the usual notations. */
export const way: Way = {
  serves: ["date"],
  oddness: 3,
  isLiteral: true,
  needs: WRITABLE,
  variants: ["Tab", "Enter"].flatMap((key) => DAY_PATTERNS.map((pattern) => `${pattern}, ${key}`)),
  async operate(place, value) {
    const [, pattern = "", key = ""] = /^(.*), (\w+)$/.exec(place.variant) ?? [];
    const day = parseDate(value);
    if (day === undefined) throw new NoWay("no date");
    await retyped(place, writeDay(day, pattern), key);
  },
};
