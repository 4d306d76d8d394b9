import { placeAt, slowed } from "../gestures.js";
import { OPERABLE, PICKER } from "../place.js";
import type { Surface } from "../surface.js";
import { NoWay, type Way, WRITABLE } from "../way.js";
import type { Facts, LearnedField } from "./candidates.js";

/** Time that a place may take to be found, in milliseconds. */
const FOUND_MS = 1500;

/** Runs IN THE PAGE: reads the facts of a control and its box. */
async function factsOf(
  box: Element,
  [control, needs, picker, writable, operable]: readonly [HTMLElement, readonly string[], string, string, string],
): Promise<Facts> {
  // some inputs take no text until they have the focus
  const isPicker = control.matches(picker);
  const isShut = control.matches("input[readonly]");
  if (isShut) {
    control.focus();
    await new Promise((done) => setTimeout(done, 50));
  }
  const all: Element[] = [control];
  const walk = (node: Element | ShadowRoot): void => {
    for (const child of node.children) {
      if (all.length > 3000) return;
      all.push(child);
      if (child.shadowRoot !== null) walk(child.shadowRoot);
      walk(child);
    }
  };
  all.push(box);
  if (box.shadowRoot !== null) walk(box.shadowRoot);
  walk(box);
  const corners = (e: Element): number[] => {
    const { x, y, width, height } = e.getBoundingClientRect();
    return [x, y, width, height].map(Math.round);
  };
  // a writable control may exist only for scripts, beside the picker that a person sees
  const written = all.find((e) => e.matches(writable) && e.checkVisibility({ visibilityProperty: true }));
  const hidden = written?.checkVisibility({ opacityProperty: true }) === false;
  // a label may hide its empty input until it is clicked: then there is nothing else to operate
  const isBeside = (e: Element): boolean =>
    e !== written && e.matches(operable) && e.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const texts = ["placeholder", "aria-placeholder", "data-placeholder", "title", "aria-label"];
  const facts = {
    corners: JSON.stringify([corners(control), corners(box)]),
    holds: needs.map((css) => all.some((e) => e.matches(css))),
    isPicker: isPicker || (hidden && all.some(isBeside)),
    isWritten: control.matches(writable) && !control.matches(picker) && !(control as HTMLInputElement).list,
    isFree: control.matches("input:not([type]),input[type=text],input[type=search],input[type=tel]"),
    hint: [
      ...texts.flatMap((name) => all.slice(0, 60).map((e) => e.getAttribute(name) ?? "")),
      (box.textContent ?? "").slice(0, 200),
    ].join(" "),
  };
  if (isShut) control.blur();
  return facts;
}

/** Looks at a field's possible places and moves suitable ways forward; missing and duplicate places are dropped. */
export async function survey(surface: Surface, field: LearnedField, ways: ReadonlyMap<string, Way>): Promise<void> {
  const selectors = [...new Set([...ways.values()].flatMap(({ needs = [], signs = [] }) => [needs, signs].flat()))];
  const places = new Map(field.candidates.map(({ operation }) => [`${operation.locator} ${operation.nth}`, operation]));
  const seen = new Set<string>();
  const timeout = slowed(surface, FOUND_MS);
  for (const operation of places.values()) {
    const facts = await placeAt(surface, field.label, operation, {})
      .then(async ({ box, control: at }) => {
        const control = await at.elementHandle({ timeout });
        const asking = [control, selectors, PICKER, WRITABLE, OPERABLE];
        return box.evaluate(factsOf as (box: Element, argument: unknown) => Promise<Facts>, asking, { timeout });
      })
      .catch((error: unknown) => (error instanceof NoWay ? undefined : "busy"));
    // a place that could not be read is tried all the same
    if (facts === "busy") continue;
    const isTwin = facts === undefined || seen.has(facts.corners);
    if (facts !== undefined) seen.add(facts.corners);
    const holds = (css: string): boolean => facts?.holds[selectors.indexOf(css)] === true;
    field.weigh(operation, isTwin ? undefined : facts, (name) => {
      const { needs, signs } = ways.get(name) ?? {};
      if (needs !== undefined && !holds(needs)) return "never";
      return signs !== undefined && holds(signs) ? "likely" : "maybe";
    });
  }
  field.surveyed = true;
}
