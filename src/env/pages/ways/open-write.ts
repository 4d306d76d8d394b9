import { confirmed, firstOf, NoWay, type Way, WRITABLE } from "../way.js";

/** Runs IN THE PAGE: the middles of fields that nothing lies over. */
function fieldsNow(css: string): [number, number][] {
  return [...document.querySelectorAll(css)].flatMap((e): [number, number][] => {
    const { x, y, width, height } = e.getBoundingClientRect();
    const middle: [number, number] = [x + width / 2, y + height / 2];
    return document.elementFromPoint(...middle) === e ? [middle] : [];
  });
}

/** Opens a window that has a field of its own, as for a colour, writes the value there and takes it over. */
export const way: Way = {
  serves: ["text", "number", "time"],
  oddness: 4.5,
  needs: "button,[role=button],[aria-haspopup]",
  variants: ["confirm", "Enter"],
  async operate(place, value) {
    const { box, page, control } = place;
    const opener = await firstOf(place, box.locator("button,[role=button],[aria-haspopup]"), control);
    const look = () => place.look<[number, number][]>(`() => (${fieldsNow})(${JSON.stringify(WRITABLE)})`);
    const open = async (): Promise<void> => {
      await place.click(opener);
      await place.pause(200);
    };
    // a window that was closed fades away
    await place.pause(700);
    const before = (await look()).map(String);
    const write = async (): Promise<void> => {
      const field = (await look()).filter((middle) => !before.includes(String(middle))).at(-1);
      if (field === undefined) throw new NoWay("nothing to write into");
      await page.mouse.click(...field);
      await page.keyboard.press("ControlOrMeta+A");
      await page.keyboard.type(String(value), { delay: 15 });
    };
    if (place.variant === "confirm") return confirmed(place, open, write);
    await open();
    await write();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
  },
};
