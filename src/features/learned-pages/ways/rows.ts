import { firstOf, itemsOf, NoWay, type Way, WRITABLE } from "../way.js";

/** Runs IN THE PAGE: moves the focus to a field that was not there at the last call. @returns whether there is one. */
function focusNew(css: string): boolean {
  const world = globalThis as { known?: Set<Element> };
  const now = [...document.querySelectorAll<HTMLElement>(css)].filter((e) => e.checkVisibility());
  const fresh = world.known === undefined ? undefined : now.find((e) => world.known?.has(e) === false);
  world.known = new Set(now);
  fresh?.focus();
  return fresh !== undefined;
}

/** Writes each item into a row of its own, which a button adds; a row that is empty already is used first. */
export const way: Way = {
  serves: ["list"],
  cost: 2.25,
  isLiteral: true,
  needs: "button,[role=button]",
  async operate(place, value) {
    const { box, page } = place;
    // the box may shrink to the first row: the button is known by its text from here on
    const adds = await firstOf(
      place,
      box.locator("button:not([type=submit]),[role=button]").locator("visible=true").last(),
    );
    const text = (await adds.innerText(place.limit)).trim();
    if (!/\p{L}/u.test(text)) throw new NoWay("no button that adds");
    const add = page.getByRole("button", { name: text, exact: true }).last();
    const focus = () => place.look<boolean>(`() => (${focusNew})(${JSON.stringify(WRITABLE)})`);
    await focus();
    for (const [i, item] of itemsOf(value).entries()) {
      const empty = box.locator(WRITABLE).locator("visible=true").first();
      if (i === 0 && (await place.has(empty)) && (await empty.inputValue(place.limit)) === "")
        await empty.focus(place.limit);
      else {
        await place.click(add);
        await place.pause();
        if (!(await focus())) throw new NoWay("no row was added");
      }
      await page.keyboard.type(item);
      await page.keyboard.press("Tab");
      await place.pause(40);
    }
  },
};
