import type { Locator } from "playwright";
import { parseDate } from "../../forms/normalize.js";
import { monthIn } from "../values.js";
import { NoWay, type Place, type Way } from "../way.js";

/** Sets a date by three lists or fields of day, month and year, in one of the usual orders. */
export const way: Way = {
  serves: ["date"],
  oddness: 2,
  isLiteral: true,
  needs: "select,input",
  variants: ["day month year", "month day year", "year month day"],
  async operate(place, value) {
    const [year = 0, month = 0, day = 0] = (parseDate(value) ?? "").split("-").map(Number);
    const fields = await place.box.locator("select,input").locator("visible=true").all();
    if (year === 0 || fields.length !== 3) throw new NoWay("not three parts");
    const numbers: Record<string, number> = { day, month, year };
    for (const [i, part] of place.variant.split(" ").entries())
      await setPart(place, fields[i] as Locator, numbers[part] as number, part === "month");
  },
};

async function setPart({ page, has, limit }: Place, field: Locator, number: number, isMonth: boolean): Promise<void> {
  if (!(await has(field.and(page.locator("select"))))) return field.fill(String(number), limit);
  const texts = (await field.locator("option").allTextContents()).map((text) => text.trim());
  const index = texts.findIndex((text) => (isMonth && monthIn(text) === number) || (text !== "" && +text === number));
  if (index < 0) throw new NoWay(`no ${number} in a list`);
  await field.selectOption({ index }, limit);
}
