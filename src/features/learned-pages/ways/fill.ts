import { parseDate, parseTime } from "../../../env/forms/normalize.js";
import { parseMoment } from "../../../env/forms/values.js";
import type { FieldValue } from "../../../env/site.js";
import { type Way, WRITABLE } from "../way.js";

/** Sets the control's value in one step, as a browser's autofill does. */
export const way: Way = {
  serves: ["text", "number", "date", "time", "moment", "range", "file"],
  isQuiet: true,
  oddness: 0,
  isLiteral: true,
  isTyping: true,
  needs: `${WRITABLE},input[type=range]`,
  async operate({ control, limit }, value) {
    // to save time in episodes, the type is read only where it can matter
    const isTimed = [parseDate, parseTime, parseMoment].some((parse) => parse(value) !== undefined);
    const type = isTimed ? await control.getAttribute("type", limit) : null;
    await control.fill(native(type, value) ?? String(value), limit);
  },
};

/** Writes a value in the notation of a native date or time input; undefined if the input takes any text. */
function native(type: string | null, value: FieldValue): string | undefined {
  const moment = parseMoment(value);
  if (type === "datetime-local") return moment && `${moment.date}T${moment.time}`;
  if (type === "month") return parseDate(value)?.slice(0, 7);
  return type === "date" ? parseDate(value) : type === "time" ? parseTime(value) : undefined;
}
