import { NoWay, type Way } from "../way.js";
import { moved } from "./nudge.js";

const numbersOf = (value: unknown): number[] => (String(value).match(/\d+(?:\.\d+)?/g) ?? []).map(Number);

/** Moves the two handles of a slider to the ends of a range of numbers; it may stand behind the box that shows them. */
export const way: Way = {
  serves: ["text"],
  cost: 1.8,
  isLiteral: true,
  needs: "[tabindex],input[type=range],[readonly],output",
  takes: (value) => /^\D*[\d.]+\s?\D{1,5}[\d.]+\D*$/.test(String(value)) && numbersOf(value).length === 2,
  async operate(place, value) {
    const css = "[role=slider],input[type=range],[tabindex][class*=handle i],[tabindex][class*=thumb i]";
    const handles = place.box.locator(css).or(place.box.locator("xpath=following-sibling::*[1]").locator(css));
    if ((await handles.count()) !== 2) throw new NoWay("no two handles");
    const [low = 0, high = 0] = numbersOf(value);
    // one end may be in the way of the other
    await moved(place, handles.last(), high).catch(() => undefined);
    await moved(place, handles.first(), low);
    await moved(place, handles.last(), high);
  },
};
