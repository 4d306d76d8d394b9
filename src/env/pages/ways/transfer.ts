import type { Locator } from "playwright";
import { firstOf, itemsOf, NoWay, type Place, type Way } from "../way.js";

/** Moves items from the list of all to the list of those that are chosen: by a double click, or by a button between them. */
export const way: Way = {
  serves: ["list"],
  oddness: 3,
  needs: "select[multiple],li,[role=listbox]",
  variants: ["double click", "button", "second button"],
  async operate(place, value) {
    for (const item of itemsOf(value)) {
      if (place.variant !== "double click") await moveByButton(place, item);
      else {
        const text = { exact: true } as const;
        const found = await firstOf(place, place.box.getByText(item, text), place.page.getByText(item, text));
        await found.dblclick(place.limit);
      }
      await place.pause(60);
    }
  },
};

/** Chooses an item of the list and tries the buttons: which of them moves it is seen when it has left. */
async function moveByButton(place: Place, item: string): Promise<void> {
  const { box, page, limit } = place;
  const buttons = box.locator("button,[role=button]").locator("visible=true");
  const named = (list: Locator): Locator => list.locator("option,li,[role=option]").filter({ hasText: item });
  const lists = await box.locator("select,ul,[role=listbox]").all();
  const held = await Promise.all(lists.map((list) => place.has(named(list))));
  const from = lists[held.indexOf(true)];
  if (from === undefined) throw new NoWay("no list has it");
  const isList = await place.has(from.and(page.locator("select")));
  for (let i = place.variant === "button" ? 0 : 1; await place.has(named(from)); i++) {
    if (i >= (await buttons.count())) throw new NoWay("no button moves it");
    if (isList) await from.selectOption({ label: item }, limit);
    else await from.getByText(item, { exact: true }).first().click(limit);
    await buttons.nth(i).click(limit);
    await place.pause();
  }
}
