import { clickLabel, firstOf, NoWay, type Way } from "../way.js";

/** Clicks the text or the label of an option whose radio button is hidden. */
export const way: Way = {
  serves: ["text", "number", "time", "date"],
  cost: 3,
  signs: "[role=radio],input[type=radio]",
  variants: [{ by: "text" }, { by: "label" }],
  async operate(place, value) {
    if (place.variant.by === "label") {
      const radio = place.box.getByRole("radio", { name: String(value), exact: true, includeHidden: true });
      if (!(await place.has(radio))) throw new NoWay("no radio");
      return clickLabel(place, radio.first());
    }
    const text = { exact: true } as const;
    await (
      await firstOf(place, place.box.getByText(String(value), text), place.page.getByText(String(value), text))
    ).click(place.limit);
  },
};
