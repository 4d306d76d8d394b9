import { cleared, type Way, WRITABLE } from "../way.js";

/** Types into a masked field: the digits only, slowly, or without a country code; or pastes the whole value. */
export const way: Way = {
  serves: ["text", "number"],
  cost: 5,
  isLiteral: true,
  isTyping: true,
  needs: WRITABLE,
  variants: ["digits", "slowly", "pasted", "tail"].map((by) => ({ by })),
  async operate(place, value) {
    const { page, variant } = place;
    const text = String(value);
    await cleared(place);
    if (variant.by === "pasted") await page.keyboard.insertText(text);
    else if (variant.by === "slowly") await page.keyboard.type(text, { delay: 40 });
    else if (variant.by === "digits") await page.keyboard.type(text.replace(/\D/g, ""), { delay: 15 });
    else await page.keyboard.type(text.replace(/^\+\d{1,3}[ -]?/, ""), { delay: 15 });
    await page.keyboard.press("Tab");
  },
};
