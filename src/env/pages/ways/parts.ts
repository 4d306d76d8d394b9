import { parseDate } from "../../forms/normalize.js";
import { monthIn } from "../values.js";
import { NoWay, type Way } from "../way.js";

/** Sets a date by lists or fields of day, month and year: which is which is told by what a list offers. */
export const way: Way = {
  serves: ["date"],
  oddness: 2,
  needs: "select,input",
  variants: ["lists", "day month year", "month day year", "year month day"],
  async operate(place, value) {
    const [year = 0, month = 0, day = 0] = (parseDate(value) ?? "").split("-").map(Number);
    if (year === 0) throw new NoWay("no date");
    const { box, limit } = place;
    if (place.variant !== "lists") {
      const inputs = box.locator("input").locator("visible=true");
      if ((await inputs.count()) !== 3) throw new NoWay("not three parts");
      const parts: Record<string, number> = { day, month, year };
      for (const [i, name] of place.variant.split(" ").entries()) await inputs.nth(i).fill(String(parts[name]), limit);
      return;
    }
    const lists = await box.locator("select").all();
    if (lists.length < 2) throw new NoWay("no lists");
    for (const list of lists) {
      const texts = (await list.locator("option").allTextContents()).map((text) => text.trim());
      const named = texts.findIndex((text) => monthIn(text) === month && !/\d/.test(text));
      const most = Math.max(...texts.map((text) => Number(text) || 0));
      const wanted = most > 1000 ? year : most > 12 ? day : month;
      const index = named >= 0 ? named : texts.findIndex((text) => text !== "" && Number(text) === wanted);
      if (index < 0) throw new NoWay(`no ${wanted} in a list`);
      await list.selectOption({ index }, limit);
    }
  },
};
