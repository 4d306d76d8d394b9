import { confirmed, firstOf, lastPart, NoWay, opened, type Way, WRITABLE } from "../way.js";

/** Runs IN THE PAGE: lists the centres of fields that nothing covers, number fields first. */
function fieldsNow(css: string): [number, number][] {
  const isText = (e: Element): number => Number(!e.matches("[role=spinbutton],[type=number]"));
  const fields = [...document.querySelectorAll(css)].sort((a, b) => isText(a) - isText(b));
  return fields.flatMap((e): [number, number][] => {
    const { x, y, width, height } = e.getBoundingClientRect();
    const middle: [number, number] = [x + width / 2, y + height / 2];
    return document.elementFromPoint(...middle) === e ? [middle] : [];
  });
}

/** Opens a window with its own field, such as a colour picker, writes the value there and confirms it. */
export const way: Way = {
  serves: ["text", "number", "time"],
  cost: 4.5,
  isLiteral: true,
  signs: "[class*=color i][class*=pick i]",
  variants: [{ confirm: true }, { key: "Tab" }, { key: "Enter" }, { key: "Tab", by: "bare" }],
  async operate(place, value) {
    const { box, page } = place;
    const { by, key, confirm } = place.variant;
    const opener = await firstOf(place, box.locator("button,[role=button],[aria-haspopup]"), lastPart(place));
    if (await place.has(opener.and(page.locator(WRITABLE)))) throw new NoWay("it is written into");
    const look = () => place.look<[number, number][]>(`() => (${fieldsNow})(${JSON.stringify(WRITABLE)})`);
    const open = (): Promise<void> => opened(place, opener, 200);
    // a window that was closed may still be fading out
    await place.pause(700);
    const before = (await look()).map(String);
    const write = async (): Promise<void> => {
      const field = (await look()).filter((middle) => !before.includes(String(middle))).at(-1);
      if (field === undefined) throw new NoWay("nothing to write into");
      await page.mouse.click(...field);
      await page.keyboard.press("ControlOrMeta+A");
      // a leading sign, such as #, may stand outside the field
      const text = by === undefined ? String(value) : String(value).replace(/^\W/, "");
      await page.keyboard.type(text, { delay: 15 });
    };
    if (confirm || key === undefined) return confirmed(place, open, write);
    await open();
    await write();
    await page.keyboard.press(key);
    await page.keyboard.press("Escape");
  },
};
