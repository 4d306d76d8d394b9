import { nativeText } from "../../../env/forms/native.js";
import { parseDate, parseTime } from "../../../env/forms/normalize.js";
import { parseMoment } from "../../../env/forms/values.js";
import { type Way, WRITABLE } from "../way.js";

/** Sets the control's value in one step, as a browser's autofill does. */
export const way: Way = {
  serves: ["text", "number", "date", "time", "moment", "range", "file"],
  isQuiet: true,
  isLiteral: true,
  isTyping: true,
  needs: `${WRITABLE},input[type=range]`,
  async operate({ control, limit }, value) {
    // to save time in episodes, the type is read only where it can matter
    const isTimed = [parseDate, parseTime, parseMoment].some((parse) => parse(value) !== undefined);
    const type = isTimed ? await control.getAttribute("type", limit) : null;
    await control.fill(nativeText(type ?? "textarea", value), limit);
  },
};
