import { itemsOf, opened, shut, type Way } from "../way.js";

/** Time in which suggestions come, in milliseconds. */
const SUGGESTS_MS = 150;

/** Picks several options: the list is opened once or for each, or each item is typed, and picked or left by Enter. */
export const way: Way = {
  serves: ["list"],
  variants: [{}, { each: true }, { by: "typed" }, { key: "Enter" }],
  async operate(place, value) {
    const { control, page, variant } = place;
    const isTyped = variant.by === "typed" || variant.key !== undefined;
    for (const [i, item] of itemsOf(value).entries()) {
      if (i === 0 || variant.each || isTyped) await opened(place, control);
      if (isTyped) {
        await page.keyboard.type(item, { delay: 15 });
        await place.pause(SUGGESTS_MS);
      }
      if (variant.key === undefined) await place.pick(item);
      else await page.keyboard.press(variant.key);
      await place.pause(50);
    }
    await shut(place);
  },
};
