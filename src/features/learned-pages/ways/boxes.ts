import { described, firstOf, itemsOf, turned, type Way } from "../way.js";

/** Ticks the checkboxes, switches, toggle buttons or options with these names; others stay as they are. */
export const way: Way = {
  serves: ["list"],
  isMute: true,
  variants: [{ by: "role" }, { by: "text" }],
  async operate(place, value) {
    const { box } = place;
    for (const item of itemsOf(value)) {
      const name = { name: item, exact: true } as const;
      const target =
        place.variant.by === "text"
          ? await firstOf(place, box.getByText(item, { exact: true }))
          : await firstOf(
              place,
              box.getByRole("checkbox", name),
              box.getByRole("switch", name),
              box.getByRole("button", name),
              box.getByRole("option", name),
              box.getByRole("treeitem", name),
              box.getByRole("checkbox", { name: described(item) }),
            );
      await turned(place, target, true);
    }
  },
};
