import { confirmed, firstOf, NoWay, type Way, WRITABLE } from "../way.js";

/** Opens a window that has a field of its own, as for a colour, writes the value there and takes it over. */
export const way: Way = {
  serves: ["text", "number", "time"],
  oddness: 4.5,
  needs: "button,[role=button],[aria-haspopup]",
  variants: ["confirm", "Enter"],
  async operate(place, value) {
    const { box, page, control } = place;
    const fields = page.locator(WRITABLE).locator("visible=true");
    const opener = await firstOf(place, box.locator("button,[role=button],[aria-haspopup]"), control);
    // a window that was closed fades away
    await place.pause(350);
    const before = await fields.count();
    const open = async (): Promise<void> => {
      await place.click(opener);
      await place.pause(200);
    };
    const write = async (): Promise<void> => {
      // the window's fields stand behind those of the page
      if ((await fields.count()) <= before) throw new NoWay("nothing to write into");
      await fields.last().click(place.limit);
      await page.keyboard.press("ControlOrMeta+A");
      await page.keyboard.type(String(value), { delay: 15 });
    };
    if (place.variant === "confirm") return confirmed(place, open, write);
    await open();
    await write();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
  },
};
