import { itemsOf, type Way, WRITABLE } from "../way.js";

/** Types all items at once, with commas or a line each. */
export const way: Way = {
  serves: ["list"],
  oddness: 4,
  needs: WRITABLE,
  variants: [", ", "\n", "; "],
  operate: ({ control, limit, variant }, value) => control.fill(itemsOf(value).join(variant), limit),
};
