import { leave, placeAt } from "../learned-pages/gestures.js";
import { enterField, fieldOf, leaveField } from "../learned-pages/place.js";
import type { Surface } from "../learned-pages/surface.js";

/** Most options that are read from one list. */
const MOST_OPTIONS = 100;
/** Time that a list may take to open, in milliseconds. */
const OPENS_MS = 250;

/** Lists the texts of the visible options. */
async function optionsNow({ page }: Surface): Promise<string[]> {
  const options = page.locator("[role=option],[role=menuitemradio],[role=treeitem]").locator("visible=true");
  const texts = (await options.allTextContents()).map((text) => text.replace(/\s+/g, " ").trim());
  return [...new Set(texts)].filter((text) => text !== "").slice(0, MOST_OPTIONS);
}

/** Opens a label's list, reads the texts of its options and closes it. @returns nothing if it cannot be opened. */
export async function optionsOf(surface: Surface, label: string): Promise<string[]> {
  await enterField(surface.page);
  const before = await optionsNow(surface);
  try {
    const place = await placeAt(surface, label, { locator: fieldOf(label), nth: 0 }, {});
    await place.click(place.control);
    await place.pause(OPENS_MS);
    const options = (await optionsNow(surface)).filter((text) => !before.includes(text));
    // a click comes first: Escape could close a window that contains the form
    if (options.length > 0) await place.click(place.control);
    const still = await optionsNow(surface);
    if (options.length > 0 && still.some((text) => options.includes(text))) await surface.page.keyboard.press("Escape");
    return options;
  } catch {
    return [];
  } finally {
    await leave(surface);
    await leaveField(surface);
  }
}
