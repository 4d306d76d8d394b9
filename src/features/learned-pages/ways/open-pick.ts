import { confirmed, NoWay, opened, type Way } from "../way.js";

/** Opens a list by a click and clicks the option. */
export const way: Way = {
  serves: ["text", "number", "time"],
  cost: 2,
  variants: [
    ...["control", "button", "any", "box"].map((by) => ({ by })),
    ...["control", "box"].map((by) => ({ by, confirm: true as const })),
  ],
  async operate(place, value) {
    const { box, control } = place;
    const shown = (css: string) => box.locator(css).locator("visible=true");
    const { by: where, confirm } = place.variant;
    const opener =
      where === "control"
        ? control
        : where === "button"
          ? shown("button,[role=button],[role=combobox],[aria-haspopup]").last()
          : where === "box"
            ? box
            : shown(
                "[class*=control i],[class*=trigger i],[class*=select i],[class*=choice i],[class*=picker i],[class*=input i]",
              ).last();
    if (!(await place.has(opener))) throw new NoWay("nothing opens");
    const open = (): Promise<void> => opened(place, opener);
    const choose = (): Promise<void> => place.pick(String(value));
    if (confirm) return confirmed(place, open, choose);
    await open();
    await choose();
    await place.pause(30);
  },
};
