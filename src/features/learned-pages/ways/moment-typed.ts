import { parseMoment, writeMoment } from "../../../env/forms/values.js";
import { MOMENTS } from "../values.js";
import { cleared, confirmed, KEYS, NoWay, opened, retyped, type Way, WRITABLE } from "../way.js";

/** Types a date with a time in one of the usual notations, and leaves it by a key or confirms it in its window. */
export const way: Way = {
  serves: ["moment"],
  cost: 3,
  isLiteral: true,
  needs: WRITABLE,
  // each pattern with all endings before the next one: else a picker that needs Enter or a button comes too late
  variants: MOMENTS.flatMap((pattern) => [...KEYS.map((key) => ({ ...pattern, key })), { ...pattern, confirm: true }]),
  async operate(place, value) {
    const { day = "", time = "", key } = place.variant;
    const moment = parseMoment(value);
    if (moment === undefined) throw new NoWay("no moment");
    const text = writeMoment(moment, `${day} ${time}`);
    if (key !== undefined) return retyped(place, text, key);
    await confirmed(
      place,
      () => opened(place, place.control),
      async () => {
        await cleared(place);
        await place.page.keyboard.type(text);
      },
    );
  },
};
