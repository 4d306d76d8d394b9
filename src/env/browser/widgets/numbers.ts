import { parseNumber } from "../../forms/normalize.js";
import type { Control, ReadForm } from "../controls.js";
import { Hands } from "../hands.js";
import { buttonsBeside, focusField, placeOfControl, rangeOf, type StepButton, stepsOf } from "../page/hands.js";
import type { PageForm } from "../page/reader.js";
import type { Session } from "../session.js";
import { clickMember, clickOption, heldOf, MOST_KEYS, type Operated } from "./common.js";

/** A field that nobody can type into, but buttons beside it: one less and one more, or a pad of keys. */
export async function operateBeside(
  session: Session,
  form: ReadForm,
  control: Control,
  value: string,
): Promise<boolean> {
  const hands = new Hands(session, form.handle);
  const buttons = await form.handle.evaluate(buttonsBeside, control.index);
  const press = (i: number): Promise<boolean> => clickOption(hands, i);
  const now = async (): Promise<string> => {
    // a page that draws its form anew with every state has another field and other buttons now
    await form.handle.evaluate(buttonsBeside, control.index);
    return (await heldOf(form, control)).value;
  };
  const keys = [...value].map((key) => buttons.findIndex((b) => b.text === key));
  if (value !== "" && keys.every((key) => key >= 0)) {
    const clear = buttons.findIndex((b) => /^(?:clear|reset|c|ac)$/i.test(b.text));
    if ((await now()) !== "" && clear >= 0) await press(clear);
    for (const key of keys) await press(key);
    await hands.calm();
    return (await now()) === value;
  }
  const number = async (): Promise<number | undefined> => parseNumber(/-?[\d.]+/.exec(await now())?.[0] ?? "");
  const steps = buttons.map(({ step }) => step);
  return (await stepTo(hands, steps, value, number, press)).took;
}

/** Two buttons, less and more, around a number. */
export async function step(hands: Hands, control: Control, item: string): Promise<Operated> {
  return stepTo(
    hands,
    await hands.handle.evaluate(stepsOf, control.index),
    item,
    (more) => hands.handle.evaluate(numberBeside, { control: control.index, member: more }),
    (member) => clickMember(hands, control, member),
  );
}

async function stepTo(
  hands: Hands,
  steps: readonly StepButton["step"][],
  item: string,
  now: (more: number) => Promise<number | undefined>,
  press: (button: number) => Promise<boolean>,
): Promise<Operated> {
  const wanted = parseNumber(item);
  const less = steps.indexOf("less");
  const more = steps.indexOf("more");
  if (wanted === undefined || less < 0 || more < 0) return { took: false, noOption: true };
  let is = await now(more);
  for (let clicks = 0; clicks < MOST_KEYS && is !== undefined && is !== wanted; clicks++) {
    await press(is < wanted ? more : less);
    await hands.calm(200, 25);
    let next = await now(more);
    if (next === is) {
      // some pages ask their server before they count
      await hands.calm(1000, 600);
      next = await now(more);
    }
    // at its end, or past what was asked for
    if (next === undefined || next === is || (next - wanted) * (is - wanted) < 0) return { took: false };
    is = next;
  }
  return is === wanted ? { took: true, held: String(wanted) } : { took: false };
}

/** Runs IN THE PAGE: the number that stands beside a button. */
function numberBeside(page: PageForm, { control, member }: { control: number; member: number }): number | undefined {
  for (
    let node = page.elements[control]?.[member]?.parentElement ?? null, up = 0;
    node !== null && up < 3;
    node = node.parentElement, up++
  ) {
    for (const e of node.querySelectorAll<HTMLElement>("*:not(button)")) {
      const said = (e as HTMLInputElement).value || (e.textContent ?? "");
      const number = e.children.length === 0 ? /^\s*(-?\d+(?:\.\d+)?)(?:\s*[^\d\s]+)?\s*$/.exec(said) : null;
      if (number !== null && page.kit.shown(e)) return Number(number[1]);
    }
  }
  return undefined;
}

export async function spin(hands: Hands, form: ReadForm, control: Control, value: string): Promise<Operated> {
  const wanted = parseNumber(value);
  if (wanted === undefined) return { took: false };
  const now = async (): Promise<number> => (await hands.handle.evaluate(rangeOf, control.index))?.now ?? Number.NaN;
  // what takes no focus hears no keys
  const keyed = await hands.handle.evaluate(focusField, { control: control.index, member: 0 });
  let is = await now();
  for (let keys = 0; keyed && keys < MOST_KEYS && is !== wanted; keys++) {
    await hands.press(is < wanted ? "ArrowUp" : "ArrowDown");
    const next = await now();
    if (next === is) {
      await hands.calm(200, 50);
      if ((await now()) === is) break;
    }
    is = await now();
  }
  if (is !== wanted && keyed) {
    await hands.handle.evaluate(focusField, { control: control.index, member: 0 });
    await hands.type(String(wanted));
    await hands.press("Tab");
    await hands.calm();
    is = await now();
  }
  return { took: is === wanted || (await operateBeside(hands.session, form, control, value)) };
}

export async function slide(hands: Hands, control: Control, value: string): Promise<Operated> {
  const wanted = parseNumber(value);
  const range = await hands.handle.evaluate(rangeOf, control.index);
  if (wanted === undefined || range === undefined) return { took: false };
  const { min, max, box } = range;
  const now = async (): Promise<number> => (await hands.handle.evaluate(rangeOf, control.index))?.now ?? Number.NaN;
  await hands.handle.evaluate(focusField, { control: control.index, member: 0 });
  let is = await now();
  // far away the track is clicked first, near by the keys are exact
  if (Math.abs(wanted - is) > 40 && max > min) {
    const place = await hands.handle.evaluate(placeOfControl, { control: control.index, member: 0 });
    if (place !== undefined)
      await hands.session.page.mouse.click(box.x + (box.width * (wanted - min)) / (max - min), place.y);
    await hands.calm();
    await hands.handle.evaluate(focusField, { control: control.index, member: 0 });
    is = await now();
  }
  for (let keys = 0; keys < MOST_KEYS && is !== wanted; keys++) {
    await hands.press(is < wanted ? "ArrowRight" : "ArrowLeft");
    let next = await now();
    if (next === is) {
      await hands.calm(200, 50);
      next = await now();
    }
    if (next === is || (next - wanted) * (is - wanted) < 0) break;
    is = next;
  }
  if (is !== wanted && max > min) {
    await hands.session.page.mouse.click(box.x + (box.width * (wanted - min)) / (max - min), box.y + box.height / 2);
    await hands.calm();
    is = await now();
  }
  return { took: is === wanted };
}
