import { parseNumber } from "../../../env/forms/normalize.js";
import { cleared, NoWay, type Way, WRITABLE } from "../way.js";

/** Types an amount with a decimal comma, or in hundredths where the point is fixed: `125050` for 1250.5. */
export const way: Way = {
  serves: ["number"],
  cost: 1,
  isLiteral: true,
  needs: WRITABLE,
  variants: [{ by: "comma" }, { by: "hundredths" }],
  takes: (value) => /\d\.\d/.test(String(value)),
  async operate(place, value) {
    const number = parseNumber(value as number | string);
    if (number === undefined) throw new NoWay("no number");
    await cleared(place);
    const text = place.variant.by === "comma" ? String(number).replace(".", ",") : String(Math.round(number * 100));
    await place.page.keyboard.type(text, { delay: 15 });
    await place.page.keyboard.press("Tab");
  },
};
