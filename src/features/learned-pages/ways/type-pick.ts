import { cleared, type Way, WRITABLE } from "../way.js";

/** Types into a control with suggestions, and picks the suggestion. */
export const way: Way = {
  serves: ["text", "number", "time"],
  oddness: 3,
  needs: WRITABLE,
  variants: ["all", "some", "keys"],
  async operate(place, value) {
    const text = String(value);
    await cleared(place);
    await place.page.keyboard.type(place.variant === "some" ? text.slice(0, 3) : text, { delay: 15 });
    await place.pause(place.variant === "keys" ? 400 : 150);
    if (place.variant !== "keys") return place.pick(text);
    await place.page.keyboard.press("ArrowDown");
    await place.page.keyboard.press("Enter");
  },
};
