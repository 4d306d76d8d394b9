import { DAY_PATTERNS, parseMoment, TIME_PATTERNS, writeDay, writeTime } from "../values.js";
import { NoWay, retyped, type Way, WRITABLE } from "../way.js";

/** Types a date with a time in one of the usual notations. */
export const way: Way = {
  serves: ["moment"],
  oddness: 3,
  isLiteral: true,
  needs: WRITABLE,
  variants: ["Tab", "Enter"].flatMap((key) =>
    TIME_PATTERNS.slice(0, 3).flatMap((time) => DAY_PATTERNS.slice(0, 8).map((day) => `${day} ${time}, ${key}`)),
  ),
  async operate(place, value) {
    const [, day = "", time = "", key = ""] = /^(.*\S) ([Hh]\S*(?: A)?), (\w+)$/.exec(place.variant) ?? [];
    const moment = parseMoment(value);
    if (moment === undefined) throw new NoWay("no moment");
    await retyped(place, `${writeDay(moment.date, day)} ${writeTime(moment.time, time)}`, key);
  },
};
