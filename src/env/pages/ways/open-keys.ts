import { NoWay, type Way } from "../way.js";

/** Moves through a list by arrow keys until the option is the active one. */
export const way: Way = {
  serves: ["text", "number", "time"],
  oddness: 6,
  async operate(place, value) {
    const { page, control, limit } = place;
    await control.focus(limit);
    await page.keyboard.press("Enter");
    await place.pause(120);
    const active = page.locator(
      "[role=option][data-highlighted],[role=option][data-focus],[role=option].active,[role=option][aria-selected=true]",
    );
    for (let i = 0; i < 40; i++) {
      const text = (await place.has(active)) ? await active.last().innerText(limit) : "";
      if (text.trim() === String(value)) return page.keyboard.press("Enter");
      await page.keyboard.press("ArrowDown");
    }
    throw new NoWay("no such option");
  },
};
