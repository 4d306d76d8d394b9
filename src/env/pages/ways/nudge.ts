import type { Locator } from "playwright";
import { firstOf, NoWay, type Place, type Way } from "../way.js";

/** Moves what has no role by keys or by clicks on it, and sees which number of the field follows, until that is the value. */
export const way: Way = {
  serves: ["number"],
  oddness: 5,
  isLiteral: true,
  needs: "[tabindex],[class*=slider i],[class*=range i],[class*=track i]",
  variants: ["keys", "track"],
  async operate(place, value) {
    const wanted = Number(value);
    if (place.variant === "keys") return byKeys(place, wanted);
    const bars = place.box.locator("[class*=line i],[class*=track i],[class*=rail i],[class*=bar i],[class*=slider i]");
    const area = await (await firstOf(place, bars)).boundingBox();
    if (area === null) throw new NoWay("not seen");
    let [low, high] = [0, 1];
    const read = async (): Promise<number> => (await numbersIn(place.box)).at(-1) ?? Number.NaN;
    for (let i = 0, now = await read(); i < 12; i++) {
      const middle = (low + high) / 2;
      await place.page.mouse.click(area.x + middle * area.width, area.y + area.height / 2);
      // the number may follow late
      const last = now;
      for (let waited = 0; waited < 5 && (waited === 0 || now === last); waited++) {
        await place.pause(120);
        now = await read();
      }
      if (now === wanted) return;
      if (now < wanted) low = middle;
      else high = middle;
    }
    throw new NoWay("the number is not reached");
  },
};

async function byKeys(place: Place, wanted: number): Promise<void> {
  const { box, page, limit } = place;
  const handle = await firstOf(place, box.locator("[tabindex]:not(input,[tabindex='-1'])"), box.locator("[tabindex]"));
  await handle.focus(limit);
  const before = await numbersIn(box);
  await page.keyboard.press("ArrowRight");
  await place.pause();
  const after = await numbersIn(box);
  const which = after.findIndex((number, i) => number !== before[i]);
  if (which < 0 || after.length !== before.length) throw new NoWay("no number follows");
  for (let i = 0, last = Number.NaN; i < 300; i++) {
    const now = (await numbersIn(box))[which] ?? Number.NaN;
    if (now === wanted) return;
    if (now === last || Number.isNaN(now)) break;
    last = now;
    await page.keyboard.press(now < wanted ? "ArrowRight" : "ArrowLeft");
    await place.pause(20);
  }
  throw new NoWay("the number is not reached");
}

/** Numbers that a field's inputs hold, those of its texts where none does. */
const numbersIn = (box: Locator): Promise<number[]> =>
  box.evaluate((e) => {
    const said = [...e.querySelectorAll("[aria-valuetext]")].map((one) => one.getAttribute("aria-valuetext") ?? "");
    const held = [...e.querySelectorAll("input")]
      .map(({ value }) => value)
      .concat(said)
      .filter((text) => text !== "");
    const texts = held.length > 0 ? held : ((e.textContent ?? "").match(/-?\d+(?:\.\d+)?/g) ?? []);
    return texts.map(Number).filter((number) => !Number.isNaN(number));
  });
