import { parseTime } from "../../../env/forms/normalize.js";
import { writeTime } from "../../../env/forms/values.js";
import { TIME_PATTERNS } from "../values.js";
import { KEYS, NoWay, retyped, type Way, WRITABLE } from "../way.js";

/** Types a time of day in one of the usual notations; a list beside the field may take its half of the day. */
export const way: Way = {
  serves: ["time"],
  cost: 3,
  isLiteral: true,
  needs: WRITABLE,
  variants: KEYS.flatMap((key) => TIME_PATTERNS.map((time) => ({ time, key }))),
  async operate(place, value) {
    const { time: pattern = "", key = "Tab" } = place.variant;
    const time = parseTime(value);
    if (time === undefined) throw new NoWay("no time");
    const text = writeTime(time, pattern);
    const lists = place.control.locator("xpath=following::select[1]").or(place.box.locator("select"));
    const halves = lists.filter({ hasText: /^\s*AM\s*PM\s*$/i });
    const half = /[AP]M$/.exec(text)?.[0];
    if (half === undefined || !(await place.has(halves))) return retyped(place, text, key);
    await retyped(place, text.replace(half, "").trim(), key);
    await halves.first().selectOption({ index: half === "AM" ? 0 : 1 }, place.limit);
  },
};
