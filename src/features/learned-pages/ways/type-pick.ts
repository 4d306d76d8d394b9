import { cleared, type Way, WRITABLE } from "../way.js";

/** Types into a control with suggestions, and picks the suggestion. */
export const way: Way = {
  serves: ["text", "number", "time"],
  needs: WRITABLE,
  variants: [{ by: "all" }, { by: "some" }, { by: "keys" }],
  async operate(place, value) {
    const text = String(value);
    const { by } = place.variant;
    await cleared(place);
    await place.page.keyboard.type(by === "some" ? text.slice(0, 3) : text, { delay: 15 });
    await place.pause(by === "keys" ? 400 : 150);
    if (by !== "keys") return place.pick(text);
    await place.page.keyboard.press("ArrowDown");
    await place.page.keyboard.press("Enter");
  },
};
