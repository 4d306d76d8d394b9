import { confirmed, firstOf, itemsOf, NoWay, opened, shut, type Way } from "../way.js";

/** Picks several options: the list is opened once, or for each option. */
export const way: Way = {
  serves: ["list"],
  cost: 2,
  variants: [
    ...[{}, { each: true }, { confirm: true }, { by: "button" }, { by: "box", each: true }],
    ...[{ by: "any" }, { by: "box", confirm: true }],
  ] as const,
  async operate(place, value) {
    const { box, control, variant } = place;
    const open = async (): Promise<void> => {
      const opener =
        variant.by === "button"
          ? await firstOf(place, box.locator("button,[role=button],[role=combobox],[aria-haspopup]"))
          : variant.by === "any"
            ? box
                .locator("[class*=control i],[class*=trigger i],[class*=select i],[class*=choice i]")
                .locator("visible=true")
                .last()
            : variant.by === "box"
              ? box
              : control;
      if (!(await place.has(opener))) throw new NoWay("nothing opens");
      await opened(place, opener);
    };
    const items = itemsOf(value);
    if (items.length === 0) return;
    if (variant.confirm)
      return confirmed(place, open, async () => {
        for (const item of items) await place.pick(item);
      });
    if (!variant.each) await open();
    for (const item of items) {
      if (variant.each) await open();
      await place.pick(item);
      await place.pause(50);
    }
    await shut(place);
    await place.pause(50);
  },
};
