import { firstOf, type Way } from "../way.js";

/** Types into an editor of rich text. */
export const way: Way = {
  serves: ["text"],
  oddness: 4,
  signs: "[contenteditable=true][role=textbox],[contenteditable][class*=editor i]",
  variants: ["box", "page"],
  async operate(place, value) {
    const root = place.variant === "box" ? place.box : place.page;
    const editor = await firstOf(
      place,
      root.locator(
        "[contenteditable=''],[contenteditable=true],[contenteditable=plaintext-only],[role=textbox]:not(input)",
      ),
    );
    await place.click(editor);
    await place.page.keyboard.press("ControlOrMeta+A");
    await place.page.keyboard.type(String(value));
  },
};
