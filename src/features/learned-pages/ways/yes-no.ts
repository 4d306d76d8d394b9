import { firstOf, type Way } from "../way.js";

/** Answers a question by the first or the second of two choices. */
export const way: Way = {
  serves: ["flag"],
  cost: 4,
  variants: [{ by: "first is yes" }, { by: "second is yes" }],
  async operate(place, value) {
    const choices = place.box.getByRole("radio").or(place.box.locator("button"));
    await firstOf(place, choices);
    await choices.nth((place.variant.by === "first is yes") === value ? 0 : 1).click({ ...place.limit, force: true });
  },
};
