import type { Locator } from "playwright";
import { described, firstOf, type Way } from "../way.js";

const RADIO = "[role=radio],input[type=radio]";

/** Runs IN THE PAGE: finds the radio button of a table's row that stands in the column with this heading; -1: none. */
function inColumn(box: Element, [heading, radio]: readonly [string, string]): number {
  const row = box.matches("tr") ? box : (box.closest("tr") ?? box.querySelector("tr"));
  const textOf = (cell: Element): string => (cell.textContent ?? "").replace(/\s+/g, " ").trim();
  const heads = [...(row?.closest("table")?.rows ?? [])].find((one) => one.querySelector(radio) === null);
  const column = [...(heads?.cells ?? [])].findIndex((cell) => textOf(cell) === heading);
  const wanted = (row as HTMLTableRowElement | null)?.cells[column]?.querySelector(radio);
  return wanted == null ? -1 : [...box.querySelectorAll(radio)].indexOf(wanted);
}

/** Clicks the radio button, button or option that is named like the value, or stands under it in a table of answers. */
export const way: Way = {
  serves: ["text", "number", "time", "date"],
  isMute: true,
  // by text: the radio button may be hidden
  variants: [{}, { by: "text" }],
  needs: `${RADIO},button,[role=button],[role=option]`,
  async operate(place, value) {
    const name = { name: String(value), exact: true } as const;
    const { box, page } = place;
    if (place.variant.by === "text")
      return place.click(await firstOf(place, box.getByText(name.name, { exact: true })));
    const column = (await place.has(box)) ? await box.evaluate(inColumn, [name.name, RADIO] as const) : -1;
    const inTable: Locator[] = column < 0 ? [] : [box.locator(RADIO).nth(column)];
    const radio = await firstOf(
      place,
      ...inTable,
      box.getByRole("radio", name),
      box.getByLabel(String(value), { exact: true }),
      page.getByRole("group", { name: place.label }).getByRole("radio", name),
      page.getByRole("radiogroup", { name: place.label }).getByRole("radio", name),
      box.getByRole("button", name),
      box.getByRole("option", name),
      box.getByRole("radio", { name: described(name.name) }),
    );
    await place.click(radio);
  },
};
