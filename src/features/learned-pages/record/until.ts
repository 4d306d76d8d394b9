import type { Locator } from "playwright";
import { looseLabel } from "../../../env/forms/normalize.js";
import { NoOption } from "../way.js";

/** Most presses until an option is marked. */
const MOST_PRESSES = 200;

/**
 * Repeats a step, such as a press of an arrow key, until the page marks the option of a name: as the active descendant,
 * by focus, or as selected.
 * @param target the element of the step.
 * @throws NoOption if an option is marked again before that one.
 */
export async function untilMarked(target: Locator, name: string, again: () => Promise<void>): Promise<void> {
  const passed = new Set<string | undefined>();
  for (let i = 0; i < MOST_PRESSES; i++) {
    const marked = await target.evaluate(markedOption);
    if (marked !== undefined && looseLabel(marked) === looseLabel(name)) return;
    // a first press may only open the list
    if (i > 1 && passed.has(marked)) break;
    passed.add(marked);
    await again();
  }
  throw new NoOption(`no option "${name}" is marked`);
}

/** Reads the option that is marked where an element stands. */
function markedOption(element: Element): string | undefined {
  const root = element.getRootNode() as Document | ShadowRoot;
  const active = root.activeElement;
  const byId = root.getElementById(active?.getAttribute("aria-activedescendant") ?? "");
  const isOption = active?.matches("[role=option], [role=menuitem], [role=menuitemradio], [role=radio]") === true;
  const selected = [...root.querySelectorAll("[role=option][aria-selected=true], [role=option][data-highlighted]")];
  const seen = selected.find((one) => one.getClientRects().length > 0);
  return (byId ?? (isOption ? active : seen))?.textContent ?? undefined;
}
