import type { Way } from "../way.js";

/** Picks level by level in a nested list: `Europe / Norway / Oslo`. */
export const way: Way = {
  serves: ["text"],
  cost: 1.9,
  variants: [" / ", " > ", "/", " - ", ", "].map((between) => ({ between })),
  takes: (value, { between = "/" }) => String(value).split(between).length > 1,
  async operate(place, value) {
    const levels = String(value).split(place.variant.between ?? "/");
    await place.click(place.control);
    for (const level of levels) {
      await place.pause(150);
      await place.pick(level.trim());
    }
  },
};
