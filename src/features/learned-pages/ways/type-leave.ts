import { cleared, KEYS, type Way, WRITABLE } from "../way.js";

/** Types the value by keys and leaves the control. */
export const way: Way = {
  serves: ["text", "number", "time", "date", "moment"],
  cost: 2,
  isLiteral: true,
  isTyping: true,
  needs: WRITABLE,
  variants: KEYS.map((key) => ({ key })),
  async operate(place, value) {
    await cleared(place);
    await place.page.keyboard.type(String(value));
    await place.page.keyboard.press(place.variant.key ?? "Tab");
  },
};
