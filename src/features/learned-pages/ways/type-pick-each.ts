import { itemsOf, shut, type Way, WRITABLE } from "../way.js";

/** Types each item into a control with suggestions, and picks it. */
export const way: Way = {
  serves: ["list"],
  cost: 3,
  needs: WRITABLE,
  variants: [{ by: "pick" }, { key: "Enter" }],
  async operate(place, value) {
    for (const item of itemsOf(value)) {
      await place.click(place.control);
      await place.page.keyboard.type(item, { delay: 15 });
      await place.pause(150);
      if (place.variant.by === "pick") await place.pick(item);
      else await place.page.keyboard.press("Enter");
      await place.pause(60);
    }
    await shut(place);
  },
};
