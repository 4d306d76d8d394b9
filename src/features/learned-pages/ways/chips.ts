import { firstOf, itemsOf, type Way } from "../way.js";

const KEYS: Readonly<Record<string, string>> = { lines: "Shift+Enter", Tab: "Tab" };
/** Time in which a page with a built-in delay takes over typed text, in milliseconds. */
const LATER_MS = 600;

/** Types items that become chips; a button may have to be clicked before each. */
export const way: Way = {
  serves: ["list"],
  oddness: 2.2,
  isLiteral: true,
  variants: ["Enter", "comma", "button", "Enter, later", "Tab", "lines"],
  async operate(place, value) {
    const { box, page } = place;
    for (const item of itemsOf(value)) {
      if (place.variant === "button") {
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
      await page.keyboard.type(place.variant === "comma" ? `${item},` : item);
      if (place.variant.endsWith("later")) await place.pause(LATER_MS);
      if (place.variant !== "comma") await page.keyboard.press(KEYS[place.variant] ?? "Enter");
      await place.pause(40);
    }
  },
};
