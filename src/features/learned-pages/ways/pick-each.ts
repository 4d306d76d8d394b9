import { confirmed, firstOf, itemsOf, NoWay, opened, shut, type Way } from "../way.js";

/** Picks several options: the list is opened once, or for each option. */
export const way: Way = {
  serves: ["list"],
  oddness: 2,
  variants: ["once", "each", "once, confirm", "once, button", "each, box", "once, any", "once, box, confirm"],
  async operate(place, value) {
    const { box, control } = place;
    const open = async (): Promise<void> => {
      const opener = place.variant.includes("button")
        ? await firstOf(place, box.locator("button,[role=button],[role=combobox],[aria-haspopup]"))
        : place.variant.includes("any")
          ? box
              .locator("[class*=control i],[class*=trigger i],[class*=select i],[class*=choice i]")
              .locator("visible=true")
              .last()
          : place.variant.includes("box")
            ? box
            : control;
      if (!(await place.has(opener))) throw new NoWay("nothing opens");
      await opened(place, opener);
    };
    const items = itemsOf(value);
    if (items.length === 0) return;
    if (place.variant.endsWith("confirm"))
      return confirmed(place, open, async () => {
        for (const item of items) await place.pick(item);
      });
    if (place.variant.startsWith("once")) await open();
    for (const item of items) {
      if (place.variant.startsWith("each")) await open();
      await place.pick(item);
      await place.pause(50);
    }
    await shut(place);
    await place.pause(50);
  },
};
