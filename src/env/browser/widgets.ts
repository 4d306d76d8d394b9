import { normalizeText, parseBoolean, parseDate } from "../forms/normalize.js";
import { type Control, type ReadForm, rescan } from "./controls.js";
import { Hands } from "./hands.js";
import { focusField, hiddenFields, type Place, pressOption } from "./page/hands.js";
import type { PageForm } from "./page/reader.js";
import type { Session } from "./session.js";
import { choose, tickBoxes } from "./widgets/choices.js";
import { clickMember, heldOf, type Operated, type Wanted } from "./widgets/common.js";
import { pickDate, setParts, typeSegments } from "./widgets/dates.js";
import { slide, spin } from "./widgets/numbers.js";

/** Operates one widget as a person does: by role and state, with real clicks and keys. */
export async function operate(session: Session, form: ReadForm, control: Control, wanted: Wanted): Promise<Operated> {
  const hands = new Hands(session, form.handle);
  const before = await form.handle.evaluate(hiddenFields);
  const result = await byWidget(hands, form, control, wanted);
  if (result.took) {
    if (result.held !== undefined) form.recorded.set(control.index, result.held);
    noteMirrors(form, control, before, await form.handle.evaluate(hiddenFields));
  }
  return result;
}

/** A hidden field that changed with a control speaks for it in a form post. */
function noteMirrors(
  form: ReadForm,
  control: Control,
  before: readonly (readonly [string, string])[],
  after: readonly (readonly [string, string])[],
): void {
  const changed = after.filter(([name, value]) => value !== "" && !before.some(([n, v]) => n === name && v === value));
  if (changed.length > 0) form.mirrors.set(control.index, changed);
}

function byWidget(hands: Hands, form: ReadForm, control: Control, wanted: Wanted): Promise<Operated> {
  const text = "value" in wanted ? wanted.value : "on" in wanted ? (wanted.on ? "yes" : "no") : "";
  switch (control.widget) {
    case "switch":
      return turn(hands, form, control, wanted);
    case "boxes":
      return tickBoxes(hands, form, control, wanted);
    case "spin":
      return spin(hands, form, control, text);
    case "slider":
      return slide(hands, control, text);
    case "edit":
      return write(hands, form, control, text);
    case "picker":
    case "calendar":
      return parseDate(text) === undefined
        ? choose(hands, form, control, { value: text })
        : pickDate(hands, control, text);
    case "segments":
      return typeSegments(hands, form, control, text);
    case "parts":
      return setParts(form, control, text);
    case "digits":
      return typeDigits(hands, form, control, text);
    case "tags":
      return addTags(hands, form, control, wanted);
    case "found":
      return control.kind === "checkbox" ? turn(hands, form, control, wanted) : choose(hands, form, control, wanted);
    default:
      return choose(hands, form, control, wanted);
  }
}

async function turn(hands: Hands, form: ReadForm, control: Control, wanted: Wanted): Promise<Operated> {
  const recorded = form.recorded.get(control.index);
  const known = control.widget === "found" && typeof recorded === "boolean";
  const was = known ? recorded : (await heldOf(form, control)).checked;
  const on = "on" in wanted ? wanted.on : "value" in wanted ? parseBoolean(wanted.value) : !was;
  if (on === undefined) return { took: false, noOption: true };
  if (was !== on) {
    await clickMember(hands, control);
    await hands.calm();
  }
  if (control.widget === "found") return { took: true, held: on };
  if ((await heldOf(form, control)).checked === on) return { took: true };
  await hands.calm(1000, 200);
  return { took: (await heldOf(form, control)).checked === on };
}

async function write(hands: Hands, form: ReadForm, control: Control, value: string): Promise<Operated> {
  const at = { control: control.index, member: 0 };
  if (!(await hands.handle.evaluate(focusField, at))) {
    await clickMember(hands, control);
    await hands.handle.evaluate(focusField, at);
  }
  await hands.press("Backspace");
  await hands.paste(value);
  await hands.calm(200, 25);
  return { took: normalizeText((await heldOf(form, control)).value) === normalizeText(value) };
}

async function typeDigits(hands: Hands, form: ReadForm, control: Control, value: string): Promise<Operated> {
  await hands.handle.evaluate(focusField, { control: control.index, member: 0 });
  await hands.type(value.replace(/\s+/g, ""));
  await hands.calm();
  if ((await heldOf(form, control)).value === value) return { took: true };
  for (const [member, digit] of [...value].entries()) {
    await hands.handle.evaluate(focusField, { control: control.index, member });
    await hands.type(digit);
  }
  await hands.calm();
  return { took: (await heldOf(form, control)).value === value };
}

/** Runs IN THE PAGE: where the button behind a field is that adds what is typed in it. */
function placeOfAdder(page: PageForm, control: number): Place | undefined {
  const field = page.elements[control]?.[0];
  for (let next = field?.nextElementSibling ?? null; next !== null; next = next.nextElementSibling) {
    if (!next.matches("button,[role=button],a,input[type=button]")) continue;
    if (!page.add.test(page.kit.ofButton(next as HTMLElement))) return undefined;
    page.options = [next as HTMLElement];
    return page.kit.aim(next);
  }
  return undefined;
}

/** Types items into a field that makes chips of them: with a comma where it takes one, else with Enter. */
async function addTags(hands: Hands, form: ReadForm, control: Control, wanted: Wanted): Promise<Operated> {
  if (!("value" in wanted)) return { took: false };
  const last = form.recorded.get(control.index);
  const items = wanted.value
    .split(/[,;]/)
    .map((item) => item.trim())
    .filter((item) => item !== "");
  const added: string[] = Array.isArray(last) ? [...last] : [];
  for (const item of items) {
    await hands.handle.evaluate(focusField, { control: control.index, member: 0 });
    await hands.type(item);
    await hands.calm(200, 25);
    const adder = await hands.handle.evaluate(placeOfAdder, control.index);
    if (adder !== undefined) {
      await hands.click(adder, () => hands.handle.evaluate(pressOption, 0));
      await hands.calm(200, 25);
      added.push(item);
      continue;
    }
    let taken = false;
    for (const key of ["Enter", ",", "Tab"]) {
      await hands.press(key);
      await hands.calm(200, 25);
      await rescan(form);
      const { value } = await heldOf(form, control);
      taken = value.trim() === "";
      if (taken) break;
      if (value.endsWith(",")) await hands.press("Backspace");
    }
    // it keeps what is typed: a plain field, whatever it is called
    if (!taken && items.length > 1 && added.length === 0) {
      await hands.handle.evaluate(focusField, { control: control.index, member: 0 });
      await hands.type(items.join(", "));
      return { took: true, held: items };
    }
    added.push(item);
  }
  return { took: true, held: added };
}
