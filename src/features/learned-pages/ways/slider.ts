import type { Locator } from "playwright";
import { firstOf, NoWay, type Way } from "../way.js";

/** Moves a slider or a spin button by keys until it shows the number. */
export const way: Way = {
  serves: ["number"],
  isLiteral: true,
  needs:
    "[role=slider],[role=spinbutton],[aria-valuenow],input[type=range],input[type=number],[tabindex][class*=handle i],[tabindex][class*=thumb i]",
  async operate(place, value) {
    const { box, page, label } = place;
    const slider = await firstOf(
      place,
      page.getByRole("slider", { name: label, exact: true }),
      box.getByRole("slider"),
      box.getByRole("spinbutton"),
      box.locator("[aria-valuenow]"),
      box.locator("[tabindex][class*=handle i],[tabindex][class*=thumb i]"),
    ).catch(async () => {
      const hidden = box.locator("input[type=range],[role=slider]").first();
      if (await place.has(hidden)) return hidden;
      throw new NoWay("no slider");
    });
    await slider.focus(place.limit);
    const wanted = Number(value);
    let now = await read(slider, place.limit);
    for (let i = 0, still = 0, crossed = 0; i < 400 && still < 3 && crossed < 4; i++) {
      if (now === wanted) return;
      const last = now;
      await page.keyboard.press(now < wanted ? "ArrowRight" : "ArrowLeft");
      now = await read(slider, place.limit);
      still = now === last ? still + 1 : 0;
      // the number may lie between two steps
      if (last < wanted !== now < wanted) crossed++;
    }
    throw new NoWay("the number is not reached");
  },
};

async function read(slider: Locator, limit: { timeout: number }): Promise<number> {
  const texts = await slider.evaluate(
    (e) => [e.getAttribute("aria-valuetext"), e.getAttribute("aria-valuenow"), (e as HTMLInputElement).value],
    undefined,
    limit,
  );
  const text = texts.find((text) => text != null && text !== "" && !Number.isNaN(Number(text)));
  if (text == null) throw new NoWay("says no number");
  return Number(text);
}
