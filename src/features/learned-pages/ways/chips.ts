import { firstOf, itemsOf, type Way } from "../way.js";

/** Time in which a page with a built-in delay takes over typed text, in milliseconds. */
const LATER_MS = 600;

/** Types items that become chips; a button may have to be clicked before each. */
export const way: Way = {
  serves: ["list"],
  cost: 2.2,
  isLiteral: true,
  variants: [
    { key: "Enter" },
    ...["comma", "button"].map((by) => ({ by })),
    { key: "Enter", late: true },
    { key: "Tab" },
    { by: "lines" },
  ],
  async operate(place, value) {
    const { box, page } = place;
    const { by, key = by === "lines" ? "Shift+Enter" : "Enter", late } = place.variant;
    for (const item of itemsOf(value)) {
      if (by === "button") {
        await place.click(await firstOf(place, box.locator("button,[role=button]").locator("visible=true").last()));
        await place.pause();
      } else
        await place.click(
          await firstOf(
            place,
            box.locator("input,textarea,[contenteditable]").locator("visible=true").last(),
            place.control,
          ),
        );
      await page.keyboard.type(by === "comma" ? `${item},` : item);
      if (late) await place.pause(LATER_MS);
      if (by !== "comma") await page.keyboard.press(key);
      await place.pause(40);
    }
  },
};
