import { parseNumber } from "../../forms/normalize.js";
import type { FieldValue } from "../../site.js";
import { cleared, type Way, WRITABLE } from "../way.js";

/** Types into a masked field: the digits only, a number in hundredths, slowly, or without a country code; or pastes. */
export const way: Way = {
  serves: ["text", "number"],
  oddness: 5,
  isLiteral: true,
  needs: WRITABLE,
  variants: ["hundredths", "digits", "slowly", "pasted", "tail"],
  takes: (value, variant) => variant !== "hundredths" || hundredths(value) !== undefined,
  async operate(place, value) {
    const { page } = place;
    const text = String(value);
    await cleared(place);
    if (place.variant === "hundredths") await page.keyboard.type(hundredths(value) ?? text, { delay: 15 });
    else if (place.variant === "pasted") await page.keyboard.insertText(text);
    else if (place.variant === "slowly") await page.keyboard.type(text, { delay: 40 });
    else if (place.variant === "digits") await page.keyboard.type(text.replace(/\D/g, ""), { delay: 15 });
    else await page.keyboard.type(text.replace(/^\+\d{1,3}[ -]?/, ""), { delay: 15 });
    await page.keyboard.press("Tab");
  },
};

/** Writes an amount as fields with a fixed point take it: `125050` for 1250.5; undefined for a text. */
function hundredths(value: FieldValue): string | undefined {
  const number = /^-?[\d.]+$/.test(String(value)) ? parseNumber(String(value)) : undefined;
  return number === undefined ? undefined : String(Math.round(number * 100));
}
