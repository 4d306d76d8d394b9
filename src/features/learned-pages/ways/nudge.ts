import type { Locator } from "playwright";
import { firstOf, NoWay, type Place, type Way } from "../way.js";

/** Moves a slider without a role by keys, clicks or dragging until the number that follows it equals the value. */
export const way: Way = {
  serves: ["number"],
  cost: 5,
  isLiteral: true,
  needs: "[tabindex],[class*=slider i],[class*=range i],[class*=track i]",
  variants: [{ by: "keys" }, { by: "track" }, { by: "drag" }],
  async operate(place, value) {
    const wanted = Number(value);
    if (place.variant.by === "keys") return byKeys(place, wanted);
    const bars = place.box.locator("[class*=line i],[class*=track i],[class*=rail i],[class*=bar i],[class*=slider i]");
    const area = await (await firstOf(place, bars)).boundingBox();
    if (area === null) throw new NoWay("not seen");
    const { mouse } = place.page;
    const isDrag = place.variant.by === "drag";
    if (isDrag) {
      const handle = await (await firstOf(place, place.box.locator(HANDLE))).boundingBox();
      if (handle === null) throw new NoWay("no handle");
      await mouse.move(handle.x + handle.width / 2, handle.y + handle.height / 2);
      await mouse.down();
    }
    let [low, high] = [0, 1];
    const before = await numbersIn(place.box);
    let which = -1;
    const read = async (): Promise<number> => {
      const numbers = await numbersIn(place.box);
      if (which < 0) which = numbers.findIndex((number, i) => number !== before[i]);
      return numbers.at(which) ?? Number.NaN;
    };
    for (let i = 0, now = Number.NaN; i < 12; i++) {
      const middle = (low + high) / 2;
      const at = [area.x + middle * area.width, area.y + area.height / 2] as const;
      if (isDrag) await mouse.move(...at, { steps: 3 });
      else await mouse.click(...at);
      // the number may change with a delay
      const last = now;
      for (let waited = 0; waited < 5 && (waited === 0 || now === last || which < 0); waited++) {
        await place.pause(120);
        now = await read();
      }
      if (now === wanted) return isDrag ? mouse.up() : undefined;
      if (now < wanted) low = middle;
      else high = middle;
    }
    if (isDrag) await mouse.up();
    throw new NoWay("the number is not reached");
  },
};

/** CSS of a slider's handle. */
const HANDLE =
  ":is(button,[role=button],[class*=handle i],[class*=thumb i],[class*=knob i],[class*=btn i],[class*=button i]):not(:has(*:has(*)))";

async function byKeys(place: Place, wanted: number): Promise<void> {
  const { box } = place;
  const handle = await firstOf(place, box.locator("[tabindex]:not(input,[tabindex='-1'])"), box.locator("[tabindex]"));
  await moved(place, handle, wanted);
}

/** Moves a handle by keys until the number in the field's box that follows it equals the value. */
export async function moved({ box, page, limit, pause }: Place, handle: Locator, wanted: number): Promise<void> {
  await handle.focus(limit);
  const before = await numbersIn(box);
  let which = -1;
  // the handle may stand at the end of its track
  for (const key of ["ArrowRight", "ArrowLeft"])
    if (which < 0) {
      await page.keyboard.press(key);
      await pause();
      const after = await numbersIn(box);
      if (after.length === before.length) which = after.findIndex((number, i) => number !== before[i]);
    }
  if (which < 0) throw new NoWay("no number follows");
  for (let i = 0, last = Number.NaN; i < 300; i++) {
    const now = (await numbersIn(box))[which] ?? Number.NaN;
    if (now === wanted) return;
    if (now === last || Number.isNaN(now)) break;
    last = now;
    await page.keyboard.press(now < wanted ? "ArrowRight" : "ArrowLeft");
    await pause(20);
  }
  throw new NoWay("the number is not reached");
}

/** Reads the numbers in a field's inputs, ARIA values and texts. */
const numbersIn = (box: Locator): Promise<number[]> =>
  box.evaluate((e) => {
    const declared = [...e.querySelectorAll("[aria-valuetext],[aria-valuenow]")].map(
      (one) => one.getAttribute("aria-valuetext") ?? one.getAttribute("aria-valuenow") ?? "",
    );
    const held = [...e.querySelectorAll("input")].map(({ value }) => value).concat(declared);
    return (`${held.join(" ")} ${e.textContent}`.match(/(?<!\d)-?\d+(?:\.\d+)?/g) ?? []).map(Number);
  });
