import { parseDate, parseTime } from "../../../env/forms/normalize.js";
import { parseMoment, writeDay, writeTime } from "../../../env/forms/values.js";
import type { FieldValue } from "../../../env/site.js";
import type { Variant } from "../contract.js";
import { DAY_PATTERNS, TIME_PATTERNS } from "../values.js";
import { KEYS, NoWay, retyped, type Way, WRITABLE } from "../way.js";

/** Writes a day, a time of day or both in the notations of a variant; other values as they are. */
function textOf(value: FieldValue, { day, time }: Variant): string | undefined {
  const moment = parseMoment(value);
  const [date, clock] = [moment?.date ?? parseDate(value), moment?.time ?? parseTime(value)];
  if (day === undefined && time === undefined) return String(value);
  if ((day !== undefined && date === undefined) || (time !== undefined && clock === undefined)) return undefined;
  const parts = [day && date && writeDay(date, day), time && clock && writeTime(clock, time)];
  return parts.filter((part) => part !== undefined).join(" ");
}

const NOTATIONS: readonly Variant[] = [
  {},
  ...DAY_PATTERNS.map((day) => ({ day })),
  ...TIME_PATTERNS.map((time) => ({ time })),
  ...TIME_PATTERNS.slice(0, 3).flatMap((time) => DAY_PATTERNS.slice(0, 8).map((day) => ({ day, time }))),
];

/** Types a value by keys, a day or a time in one of the usual notations, and leaves the control. */
export const way: Way = {
  serves: ["text", "number", "date", "time", "moment"],
  isLiteral: true,
  isTyping: true,
  needs: WRITABLE,
  variants: KEYS.flatMap((key) => NOTATIONS.map((notation) => ({ ...notation, key }))),
  takes: (value, { day, time }) => {
    if (day === undefined && time === undefined) return true;
    const isDay = parseMoment(value) !== undefined || parseDate(value) !== undefined;
    const isTime = parseMoment(value) !== undefined || parseTime(value) !== undefined;
    return (day !== undefined) === isDay && (time !== undefined) === isTime;
  },
  async operate(place, value) {
    const { key = "Tab", ...notation } = place.variant;
    const text = textOf(value, notation);
    if (text === undefined) throw new NoWay("no day or time");
    await retyped(place, text, key);
  },
};
