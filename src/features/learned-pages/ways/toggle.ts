import type { Locator } from "playwright";
import { asLabel } from "../place.js";
import { firstOf, type Place, turned, type Way } from "../way.js";

const DRAWN = "[class*=switch i],[class*=toggle i],[class*=check i]";

/** Sets a checkbox or switch: by its role and name, by its text where it is hidden, or by its drawing. */
export const way: Way = {
  serves: ["flag"],
  isMute: true,
  variants: [{ by: "box" }, { by: "text" }, { by: "drawn" }],
  async operate(place, value) {
    const { page, box, variant } = place;
    const name = { name: asLabel(place.label) };
    if (variant.by === "box") {
      const toggle = await firstOf(
        place,
        page.getByRole("checkbox", name),
        page.getByRole("switch", name),
        box.getByRole("checkbox"),
        box.getByRole("switch"),
        page.getByRole("button", { ...name, pressed: !value }),
        page.getByRole("button", { ...name, pressed: value === true }),
      );
      return turned(place, toggle, value === true);
    }
    if ((await isOn(place)) === value) return;
    const drawn = variant.by === "text" ? page.getByText(asLabel(place.label)) : box.locator(DRAWN);
    await place.click(await firstOf(place, drawn));
  },
};

/** Reads the state of a toggle that may be hidden; off where the page says nothing. */
async function isOn({ page, box, label, has, limit }: Place): Promise<boolean> {
  const named = { name: asLabel(label), includeHidden: true };
  const all: Locator = page
    .getByRole("checkbox", named)
    .or(page.getByRole("switch", named))
    .or(box.locator("input[type=checkbox],[role=switch],[role=checkbox],[aria-checked]"));
  if (!(await has(all))) return false;
  const checked = await all.first().getAttribute("aria-checked", limit);
  return checked === null ? all.first().isChecked(limit) : checked === "true";
}
