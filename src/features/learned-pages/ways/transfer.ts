import { firstOf, itemsOf, NoWay, type Place, type Way } from "../way.js";

/** Moves items to the list of chosen items, by a double click or by a button between the lists. */
export const way: Way = {
  serves: ["list"],
  cost: 3,
  needs: "select[multiple],li,[role=listbox],[role=list],[class*=transfer i]",
  signs: "[class*=transfer i],[class*=dual i]",
  variants: [{ by: "double click" }, { by: "button" }, { by: "second button" }],
  async operate(place, value) {
    for (const item of itemsOf(value)) {
      if (place.variant.by !== "double click") await moveByButton(place, item);
      else {
        const text = { exact: true } as const;
        const found = await firstOf(place, place.box.getByText(item, text), place.page.getByText(item, text));
        await found.dblclick(place.limit);
      }
      await place.pause(60);
    }
  },
};

/** Selects an item, which may move it already, then tries the buttons until its position has changed. */
async function moveByButton(place: Place, item: string): Promise<void> {
  const { box, page, limit } = place;
  const buttons = box.locator("button:enabled,[role=button]").locator("visible=true");
  const options = box.locator("option,li,[role=option]").filter({ hasText: item });
  const found = await firstOf(place, box.getByText(item, { exact: true }), options);
  const spot = async (): Promise<number> => {
    const area = await found.boundingBox(limit);
    return area === null ? Number.NaN : area.x + area.y;
  };
  const start = await spot();
  const list = page.locator("select").filter({ has: found });
  if (await place.has(list)) await list.first().selectOption({ label: item }, limit);
  else await found.click(limit);
  await place.pause();
  for (let i = place.variant.by === "button" ? 0 : 1; Math.abs((await spot()) - start) < 20; i++) {
    if (i >= (await buttons.count())) throw new NoWay("no button moves it");
    await buttons.nth(i).click(limit);
    await place.pause();
  }
}
