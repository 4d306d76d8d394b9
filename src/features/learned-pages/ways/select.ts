import type { Locator } from "playwright";
import { firstOf, itemsOf, type Way } from "../way.js";

/** Selects options of a native list by their texts. */
export const way: Way = {
  serves: ["text", "number", "list", "date", "time", "flag"],
  isQuiet: true,
  needs: "select",
  async operate(place, value) {
    const list: Locator = await firstOf(
      place,
      place.control.and(place.page.locator("select")),
      place.box.locator("select"),
    );
    const wanted = typeof value === "boolean" ? [value ? "Yes" : "No"] : itemsOf(value);
    await list.selectOption(
      wanted.map((label) => ({ label })),
      place.limit,
    );
  },
};
