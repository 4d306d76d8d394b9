import type { Locator } from "playwright";
import { parseDate } from "../../../env/forms/normalize.js";
import { monthIn } from "../../../env/forms/values.js";
import { partsOf } from "../values.js";
import { NoWay, type Place, type Way } from "../way.js";

/** Sets each part of a value in its own list or field: dates in one of the usual orders, others as written. */
export const way: Way = {
  serves: ["date", "time", "text"],
  cost: 2,
  isLiteral: true,
  needs: "select,input",
  variants: [
    { order: ["day", "month", "year"] },
    { order: ["month", "day", "year"] },
    { order: ["year", "month", "day"] },
    // as written
    {},
  ],
  takes: (value, { order }) =>
    order === undefined ? parseDate(value) === undefined && partsOf(value).length > 1 : parseDate(value) !== undefined,
  async operate(place, value) {
    const fields = await place.box.locator("select,input").locator("visible=true").all();
    const [year, month, day] = (parseDate(value) ?? "").split("-").map((part) => String(Number(part)));
    const { order } = place.variant;
    const parts = order === undefined ? partsOf(value) : order.map((name) => ({ day, month, year })[name] ?? "");
    if (fields.length !== parts.length) throw new NoWay("no field for each part");
    for (const [i, part] of parts.entries()) await setPart(place, fields[i] as Locator, part, order?.[i] === "month");
    await place.page.keyboard.press("Tab");
  },
};

async function setPart({ page, has, limit }: Place, field: Locator, part: string, isMonth: boolean): Promise<void> {
  const isNumber = /^\d+$/.test(part);
  if (!(await has(field.and(page.locator("select"))))) return field.fill(part, limit);
  const texts = (await field.locator("option").allTextContents()).map((text) => text.trim());
  const index = texts.findIndex(
    (text) =>
      (isMonth && monthIn(text) === Number(part)) || text === part || (isNumber && text !== "" && +text === +part),
  );
  if (index < 0) throw new NoWay(`no ${part} in a list`);
  await field.selectOption({ index }, limit);
}
