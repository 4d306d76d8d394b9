import { parseTime } from "../../forms/normalize.js";
import { TIME_PATTERNS, writeTime } from "../values.js";
import { NoWay, retyped, type Way, WRITABLE } from "../way.js";

/** Types a time of day in one of the usual notations. */
export const way: Way = {
  serves: ["time"],
  oddness: 3,
  isLiteral: true,
  needs: WRITABLE,
  variants: ["Tab", "Enter"].flatMap((key) => TIME_PATTERNS.map((pattern) => `${pattern}, ${key}`)),
  async operate(place, value) {
    const [, pattern = "", key = ""] = /^(.*), (\w+)$/.exec(place.variant) ?? [];
    const time = parseTime(value);
    if (time === undefined) throw new NoWay("no time");
    await retyped(place, writeTime(time, pattern), key);
  },
};
