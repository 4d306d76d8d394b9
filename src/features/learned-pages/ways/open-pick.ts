import { NoWay, opened, type Way } from "../way.js";

/** Opens a list by a click on the control, or on the field's button, and clicks the option. */
export const way: Way = {
  serves: ["text", "number", "time"],
  variants: [{ by: "control" }, { by: "button" }],
  async operate(place, value) {
    const { box, control, variant } = place;
    const buttons = box.locator("button,[role=button],[role=combobox],[aria-haspopup]").locator("visible=true");
    const opener = variant.by === "control" ? control : buttons.last();
    if (!(await place.has(opener))) throw new NoWay("nothing opens");
    await opened(place, opener);
    await place.pick(String(value));
    await place.pause(30);
  },
};
