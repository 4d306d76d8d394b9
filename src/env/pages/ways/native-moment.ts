import { parseDate } from "../../forms/normalize.js";
import { parseMoment, writeDay, writeTime } from "../values.js";
import { NoWay, type Way } from "../way.js";

/** Fills in a native field of a date, a month, or a date with a time. */
export const way: Way = {
  serves: ["moment", "date"],
  oddness: 1,
  needs: "input[type=datetime-local],input[type=month]",
  variants: ["datetime-local", "month"],
  async operate({ control, limit, variant }, value) {
    const moment = parseMoment(value);
    const day = parseDate(value);
    if (variant === "month" && day !== undefined) return control.fill(writeDay(day, "YYYY-MM"), limit);
    if (moment === undefined) throw new NoWay("no moment");
    await control.fill(`${moment.date}T${writeTime(moment.time, "HH:mm")}`, limit);
  },
};
