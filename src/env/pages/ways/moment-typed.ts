import { MOMENT_PATTERNS, parseMoment, writeMoment } from "../values.js";
import { NoWay, retyped, type Way, WRITABLE } from "../way.js";

/** Types a date with a time in one of the usual notations. */
export const way: Way = {
  serves: ["moment"],
  oddness: 3,
  isLiteral: true,
  needs: WRITABLE,
  // with so many patterns, Enter would come too late for pickers that take nothing without it
  variants: MOMENT_PATTERNS.flatMap((pattern) => ["Tab", "Enter"].map((key) => `${pattern}, ${key}`)),
  async operate(place, value) {
    const [, pattern = "", key = ""] = /^(.*), (\w+)$/.exec(place.variant) ?? [];
    const moment = parseMoment(value);
    if (moment === undefined) throw new NoWay("no moment");
    await retyped(place, writeMoment(moment, pattern), key);
  },
};
