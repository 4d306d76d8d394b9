import { opened, type Way } from "../way.js";

/** Opens a list with its own search field, types there and picks the match. */
export const way: Way = {
  serves: ["text", "number", "time"],
  cost: 4,
  variants: [{ by: "pick" }, { key: "Enter" }],
  async operate(place, value) {
    await opened(place, place.control, 150);
    await place.page.keyboard.type(String(value), { delay: 15 });
    await place.pause(150);
    if (place.variant.by === "pick") return place.pick(String(value));
    await place.page.keyboard.press("Enter");
  },
};
