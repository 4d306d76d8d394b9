import type { Locator } from "playwright";
import { asLabel } from "../place.js";
import { firstOf, type Way } from "../way.js";

const DRAWN = "[class*=switch i],[class*=toggle i],[class*=check i]";

/** Toggles a checkbox that is hidden or has no role by a click on its text, its drawing, its box or its host. */
export const way: Way = {
  serves: ["flag"],
  cost: 2,
  signs: DRAWN,
  variants: ["text", "drawn", "box", "host", "edge"].map((by) => ({ by })),
  async operate(place, value) {
    const { page, box, limit } = place;
    const { by } = place.variant;
    const twin = page
      .getByRole("checkbox", { name: asLabel(place.label), includeHidden: true })
      .or(page.getByRole("switch", { name: asLabel(place.label), includeHidden: true }))
      .or(box.locator("input[type=checkbox],[role=switch],[role=checkbox],[aria-checked]"));
    const known = (await place.has(twin)) ? await isOn(twin.first(), limit) : false;
    if (known === value) return;
    if (by === "text") await (await firstOf(place, page.getByText(asLabel(place.label)))).click(limit);
    else if (by === "box") await (await firstOf(place, box.locator("label,span,div,button"), box)).click(limit);
    else if (by === "host") await twin.first().click({ ...limit, force: true });
    else if (by === "drawn") await place.click(await firstOf(place, box.locator(DRAWN)));
    else await box.click({ ...limit, position: { x: 8, y: 8 } });
  },
};

async function isOn(toggle: Locator, limit: { readonly timeout: number }): Promise<boolean> {
  const checked = await toggle.getAttribute("aria-checked", limit);
  return checked === null ? toggle.isChecked(limit) : checked === "true";
}
