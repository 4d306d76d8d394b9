import { firstOf, NoWay, type Way } from "../way.js";

/** Clicks a slider's track at the position of the number between minimum and maximum. */
export const way: Way = {
  serves: ["number"],
  cost: 5,
  isLiteral: true,
  needs: "[role=slider],[aria-valuemax],input[type=range]",
  async operate(place, value) {
    const { box, page, limit } = place;
    const slider = await firstOf(place, box.getByRole("slider"), box.locator("input[type=range],[aria-valuemax]"));
    const attribute = async (name: string): Promise<number> =>
      Number(
        (await slider.getAttribute(`aria-value${name}`, limit)) ??
          (await slider.getAttribute(name, limit)) ??
          Number.NaN,
      );
    const [least, most] = [await attribute("min"), await attribute("max")];
    const track = (await slider.locator("xpath=..").boundingBox()) ?? undefined;
    if (track === undefined || Number.isNaN(least + most)) throw new NoWay("no track");
    const share = (Number(value) - least) / (most - least);
    await page.mouse.click(track.x + share * track.width, track.y + track.height / 2);
  },
};
