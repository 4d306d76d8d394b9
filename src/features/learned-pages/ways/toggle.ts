import { asLabel } from "../place.js";
import { firstOf, turned, type Way } from "../way.js";

/** Sets a checkbox or switch by its role and name: clicks it if its state differs. */
export const way: Way = {
  serves: ["flag"],
  cost: 0,
  signs: "[role=switch],[role=checkbox],input[type=checkbox]",
  variants: [{ by: "box" }, { by: "label" }],
  async operate(place, value) {
    const { page, box } = place;
    const name = { name: asLabel(place.label) };
    const toggle = await firstOf(
      place,
      page.getByRole("checkbox", name),
      page.getByRole("switch", name),
      box.getByRole("checkbox"),
      box.getByRole("switch"),
      page.getByRole("button", { ...name, pressed: !value }),
      page.getByRole("button", { ...name, pressed: value === true }),
    );
    if (place.variant.by === "box") return turned(place, toggle, value === true);
    const pressed = await toggle.getAttribute("aria-pressed", place.limit);
    const checked = pressed === null ? await toggle.isChecked(place.limit) : pressed === "true";
    if (checked !== value)
      await page.getByText(asLabel(place.label)).locator("visible=true").first().click(place.limit);
  },
};
