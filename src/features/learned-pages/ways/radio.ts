import { described, firstOf, type Way } from "../way.js";

/** Clicks the radio button, button or option that is named like the value. */
export const way: Way = {
  serves: ["text", "number", "time", "date"],
  cost: 1,
  signs: "[role=radio],input[type=radio]",
  async operate(place, value) {
    const name = { name: String(value), exact: true } as const;
    const { box, page } = place;
    const radio = await firstOf(
      place,
      box.getByRole("radio", name),
      box.getByLabel(String(value), { exact: true }),
      page.getByRole("group", { name: place.label }).getByRole("radio", name),
      page.getByRole("radiogroup", { name: place.label }).getByRole("radio", name),
      box.getByRole("button", name),
      box.getByRole("option", name),
      box.getByRole("radio", { name: described(name.name) }),
      page.getByRole("radio", name),
    );
    await place.click(radio);
  },
};
