import {
  findOption,
  listItems,
  looseLabel,
  normalizeText,
  parseBoolean,
  parseDate,
  parseNumber,
  parseTime,
} from "../forms/normalize.js";
import type { FieldValue } from "../site.js";
import { type Control, type ReadForm, rescan } from "./controls.js";
import { Hands } from "./hands.js";
import { findDay, findMonth } from "./page/calendar.js";
import {
  buttonsBeside,
  findFresh,
  focusField,
  focusSearch,
  forgetOptions,
  hiddenFields,
  isOpen,
  isTyped,
  keyedOption,
  type Place,
  placeOfControl,
  placeOfOption,
  pressControl,
  pressOption,
  rangeOf,
  remember,
  type SeenOption,
  type StepButton,
  scrollOptions,
  seeOptions,
  setPart,
  showsOptions,
  stepsOf,
} from "./page/hands.js";
import { type PageForm, readValues } from "./page/reader.js";
import type { Session } from "./session.js";

/** What a plan asks of a control: a value as text, or on and off. */
export type Wanted = { readonly value: string } | { readonly on: boolean } | { readonly toggle: true };

/** What became of it. `held`: what the control came to, where the page does not tell by itself. */
export interface Operated {
  readonly took: boolean;
  readonly held?: FieldValue;
  readonly noOption?: true;
}

const OPEN_MS = 700;
const SEARCH_MS = 2500;
const MOST_KEYS = 400;

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
      return pickDate(hands, form, control, text);
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

const clickMember = async (hands: Hands, control: Control, member = 0, holding?: "Control"): Promise<boolean> =>
  hands.click(
    await hands.handle.evaluate(placeOfControl, { control: control.index, member }),
    () => hands.handle.evaluate(pressControl, { control: control.index, member }),
    holding,
  );

const clickOption = async (hands: Hands, index: number): Promise<boolean> =>
  hands.click(await hands.handle.evaluate(placeOfOption, index), () => hands.handle.evaluate(pressOption, index));

async function heldOf(form: ReadForm, control: Control): Promise<ReturnType<typeof readValues>[number]> {
  const all = await form.handle.evaluate(readValues);
  return all[control.index] ?? { value: "", checked: false, options: [] };
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

async function tickBoxes(hands: Hands, form: ReadForm, control: Control, wanted: Wanted): Promise<Operated> {
  const several = control.kind === "checkbox-group";
  const items = "value" in wanted ? (several ? listItems(control.options, wanted.value) : [wanted.value]) : [];
  if ("on" in wanted && wanted.on) return { took: false };
  const chosen = items.map((item) => matchOption(control.options, item));
  if (chosen.some((option) => option === undefined)) return { took: false, noOption: true };
  const adds = items.length === 1;
  const isRight = async (member: number, holding?: "Control"): Promise<boolean> => {
    const on = chosen.includes(member);
    const { options } = await heldOf(form, control);
    const is = options[member]?.chosen === true;
    if (is === on || (!on && (adds || !several))) return true;
    await clickMember(hands, control, member, holding);
    await hands.calm();
    return ((await heldOf(form, control)).options[member]?.chosen === true) === on;
  };
  for (let member = 0; member < control.options.length; member++) {
    const before = (await heldOf(form, control)).options;
    if (!(await isRight(member))) {
      await hands.calm(1000, 200);
      if (!(await isRight(member)) && !(await tickByKeys(hands, form, control, member))) return { took: false };
    }
    const after = (await heldOf(form, control)).options;
    const lost =
      several && before.some((o, k) => k !== member && o.chosen && after[k]?.chosen === false && chosen.includes(k));
    // lists of one choice a click take more with a key held
    if (lost) for (const k of chosen) if (k !== undefined && !(await isRight(k, "Control"))) return { took: false };
  }
  return { took: true };
}

/** Groups that hear no clicks are gone through by arrow keys; the space bar chooses. */
async function tickByKeys(hands: Hands, form: ReadForm, control: Control, member: number): Promise<boolean> {
  const isOn = async (): Promise<boolean> => (await heldOf(form, control)).options[member]?.chosen === true;
  await hands.handle.evaluate(focusGroup, control.index);
  for (let keys = 0; keys <= control.options.length && !(await isOn()); keys++) {
    if (keys > 0) await hands.press("ArrowDown");
    if (await isOn()) return true;
    if ((await hands.handle.evaluate(focusedMember, control.index)) === member) await hands.press(" ");
    await hands.calm(100, 25);
  }
  return isOn();
}

/** Runs IN THE PAGE: the focus goes to the list around a group's members, or to the member that takes it. */
function focusGroup(page: PageForm, control: number): void {
  const members = page.elements[control] ?? [];
  const list = members[0]?.closest<HTMLElement>("[role=listbox][tabindex],[role=radiogroup][tabindex]");
  (list ?? members.find((m) => m.tabIndex >= 0) ?? members[0])?.focus();
}

/** Runs IN THE PAGE: which member of a group has the focus. */
function focusedMember(page: PageForm, control: number): number {
  return (page.elements[control] ?? []).findIndex((m) => m === (m.getRootNode() as Document).activeElement);
}

/** The option that a text names; of numbers the one option that says it, as `4 stars`; of nameless ones the n-th. */
function matchOption(options: readonly SeenOption[], wanted: string): number | undefined {
  const found = findOption(options, wanted);
  if (found !== undefined) return found;
  const number = parseNumber(wanted);
  if (number === undefined) {
    const loose = looseLabel(wanted);
    const starts = options.flatMap((o, i) => (loose.length > 1 && looseLabel(o.text).startsWith(loose) ? [i] : []));
    return starts.length === 1 ? starts[0] : undefined;
  }
  const says = options.flatMap((o, i) =>
    Number(/\d+(?:\.\d+)?/.exec(`${o.text} ${o.value}`)?.[0] ?? Number.NaN) === number ? [i] : [],
  );
  if (says.length === 1) return says[0];
  const nameless = options.every((o) => !/[\p{L}\p{N}]/u.test(o.text));
  return nameless && Number.isInteger(number) && number >= 1 && number <= options.length ? number - 1 : undefined;
}

/** Opens a list and clicks on what is asked for; types into its field where it searches. */
async function choose(hands: Hands, form: ReadForm, control: Control, wanted: Wanted): Promise<Operated> {
  if (!("value" in wanted)) return { took: false };
  await hands.handle.evaluate(forgetOptions);
  const several = control.kind === "checkbox-group" || (await takesSeveral(hands, form, control, wanted.value));
  // the options themselves stand there already
  if (control.options.length > 1 && control.widget === "found") return clickFound(hands, form, control, wanted.value);
  const last = form.recorded.get(control.index);
  const picked: string[] = several && Array.isArray(last) ? [...last] : [];
  const items = several ? listItems([], wanted.value) : [wanted.value];
  const learned: SeenOption[] = [];
  for (const item of items) {
    const option = await chooseOne(hands, control, item, learned);
    if (option === undefined) {
      // what opened may be a plain field
      const plain = control.widget === "found" && (await hands.handle.evaluate(isTyped, item));
      await close(hands, control);
      if (plain) await hands.leave();
      else if (await pickMonth(hands, item)) return { took: true, held: item };
      if (!plain && !(await freeText(hands, form, control, item))) return { took: false, noOption: true };
      picked.push(item);
      continue;
    }
    picked.push(option.text);
    await hands.calm();
    if (!several) await pickByKeys(hands, form, control, option);
  }
  await close(hands, control);
  learn(form, control, learned);
  return { took: true, held: several ? [...new Set(picked)] : (picked.at(-1) ?? "") };
}

/** A list that takes several says so when it is open, or by having the first of them and not the whole. */
async function takesSeveral(hands: Hands, form: ReadForm, control: Control, value: string): Promise<boolean> {
  const [first, ...more] = value.split(/[,;]/).map((item) => item.trim());
  if (first === undefined || more.length === 0 || control.widget !== "combobox") return false;
  await hands.handle.evaluate(remember);
  await clickMember(hands, control);
  const options = await hands.handle.evaluate(seeOptions, { control: control.index, wanted: first, ms: OPEN_MS });
  if (matchOption(options, value) !== undefined || matchOption(options, first) === undefined) return false;
  form.controls = form.controls.map((c) =>
    c.index === control.index ? { ...c, kind: "checkbox-group", default: [] } : c,
  );
  return true;
}

async function chooseOne(
  hands: Hands,
  control: Control,
  item: string,
  learned: SeenOption[],
): Promise<SeenOption | undefined> {
  const see = (ms: number): Promise<SeenOption[]> =>
    hands.handle.evaluate(seeOptions, { control: control.index, wanted: item, ms });
  const pick = async (options: readonly SeenOption[]): Promise<SeenOption | undefined> => {
    learned.push(...options);
    let index = matchOption(options, item);
    for (let tries = 0; index !== undefined && tries < 3; tries++) {
      if (await clickOption(hands, index)) return options[index];
      // it was drawn again in this moment
      index = matchOption(await see(OPEN_MS), item);
    }
    return undefined;
  };
  if (!(await hands.handle.evaluate(isOpen, control.index)) && !(await hands.handle.evaluate(showsOptions))) {
    await hands.handle.evaluate(remember);
    await clickMember(hands, control);
  }
  let options = await see(OPEN_MS);
  let found = await pick(options);
  for (
    let scrolls = 0;
    found === undefined && options.length > 0 && scrolls < 60 && (await hands.handle.evaluate(scrollOptions));
    scrolls++
  ) {
    options = await see(60);
    found = await pick(options);
  }
  if (found !== undefined) return found;
  if (options.length === 0) {
    // some lists open by a key only
    await hands.press("ArrowDown");
    found = await pick(await see(300));
    if (found !== undefined) return found;
  }
  if (!(await hands.handle.evaluate(focusSearch, control.index))) return undefined;
  await hands.type(item);
  return pick(await see(SEARCH_MS));
}

/** A list that hears no clicks stays open after one, and its control does not show what was clicked: keys do it then. */
async function pickByKeys(hands: Hands, form: ReadForm, control: Control, option: SeenOption): Promise<void> {
  const shows = async (): Promise<boolean> =>
    looseLabel((await heldOf(form, control)).value).includes(looseLabel(option.text));
  if (control.widget !== "combobox" || !(await hands.handle.evaluate(isOpen, control.index)) || (await shows())) return;
  await hands.handle.evaluate(focusField, { control: control.index, member: 0 });
  const options = await hands.handle.evaluate(seeOptions, { control: control.index, wanted: option.text, ms: 100 });
  for (let keys = 0; keys <= options.length; keys++) {
    const at = await hands.handle.evaluate(keyedOption, control.index);
    if (at >= 0 && options[at]?.text === option.text) break;
    await hands.press("ArrowDown");
  }
  await hands.press("Enter");
  await hands.calm();
}

/** A field that takes what is no option of its list keeps it when it is left. */
async function freeText(hands: Hands, form: ReadForm, control: Control, item: string): Promise<boolean> {
  const { value } = await heldOf(form, control);
  return (
    looseLabel(value) !== "" &&
    looseLabel(value) === looseLabel(item) &&
    !(await hands.handle.evaluate(isOpen, control.index))
  );
}

async function close(hands: Hands, control: Control): Promise<void> {
  if (!(await hands.handle.evaluate(isOpen, control.index))) return;
  await hands.leave();
  await hands.calm();
  if (!(await hands.handle.evaluate(isOpen, control.index))) return;
  await clickMember(hands, control);
  await hands.calm();
}

/** What was seen of a list stays known when it is closed. */
function learn(form: ReadForm, control: Control, seen: readonly SeenOption[]): void {
  const known = [
    ...new Map(
      [...(form.controls[control.index]?.options ?? []), ...seen].map((o) => [
        o.text,
        { text: o.text, value: o.value },
      ]),
    ).values(),
  ].slice(0, 2000);
  form.controls = form.controls.map((c) => (c.index === control.index ? { ...c, options: known } : c));
}

async function clickFound(hands: Hands, form: ReadForm, control: Control, value: string): Promise<Operated> {
  const several = control.kind === "checkbox-group";
  const items = several ? listItems(control.options, value) : [value];
  const last = form.recorded.get(control.index);
  const picked: string[] = several && Array.isArray(last) ? [...last] : [];
  for (const item of items) {
    const index = matchOption(control.options, item);
    if (index === undefined) return step(hands, control, item);
    await clickMember(hands, control, index);
    await hands.calm();
    const text = control.options[index]?.text ?? "";
    picked.push(/[\p{L}\p{N}]/u.test(text) ? text : item);
  }
  return { took: true, held: several ? [...new Set(picked)] : (picked.at(-1) ?? "") };
}

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
async function step(hands: Hands, control: Control, item: string): Promise<Operated> {
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

async function spin(hands: Hands, form: ReadForm, control: Control, value: string): Promise<Operated> {
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

async function slide(hands: Hands, control: Control, value: string): Promise<Operated> {
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

async function pickDate(hands: Hands, form: ReadForm, control: Control, value: string): Promise<Operated> {
  const date = parseDate(value);
  if (date === undefined) return choose(hands, form, control, { value });
  await hands.handle.evaluate(remember);
  if (control.widget === "picker") {
    await clickMember(hands, control);
    await hands.calm();
  }
  const day = await hands.handle.evaluate(findDay, { date, control: control.index });
  if (day === undefined) return { took: false };
  await hands.click(day, () => hands.handle.evaluate(pressOption, 0));
  await hands.calm();
  // some calendars ask whether that is it
  const confirm = await hands.handle.evaluate(findFresh, "ok|okay|apply|done|set|select|confirm|save|choose");
  if (confirm !== undefined) {
    await hands.click(confirm, () => hands.handle.evaluate(pressOption, 0));
    await hands.calm();
  }
  return { took: true, held: date };
}

/** `2025-03`, among the twelve months that a control has opened. */
async function pickMonth(hands: Hands, item: string): Promise<boolean> {
  const date = parseDate(`${item}-01`) ?? parseDate(`1 ${item}`);
  if (date === undefined) return false;
  const [year = 0, month = 0] = date.split("-").map(Number);
  const place = await hands.handle.evaluate(findMonth, { year, month });
  if (place === undefined) return false;
  await hands.click(place, () => hands.handle.evaluate(pressOption, 0));
  await hands.calm();
  return true;
}

async function typeSegments(hands: Hands, form: ReadForm, control: Control, value: string): Promise<Operated> {
  const date = control.kind === "date" ? parseDate(value) : parseTime(value);
  if (date === undefined) return { took: false };
  const parts = await hands.handle.evaluate(segmentsOf, control.index);
  const [year = "", month = "", day = ""] = date.split("-");
  const [hour = "", minute = ""] = date.split(":");
  const numbers: Record<string, string> = { year, month, day, hour, minute };
  for (const [member, part] of parts.entries()) {
    let text = numbers[part.what];
    if (text === undefined) {
      if (part.what === "period")
        await hands.handle
          .evaluate(focusField, { control: control.index, member })
          .then(() => hands.type(Number(hour) < 12 ? "a" : "p"));
      continue;
    }
    if (part.what === "hour" && part.twelve)
      text = String(Number(hour) % 12 === 0 ? 12 : Number(hour) % 12).padStart(2, "0");
    await hands.handle.evaluate(focusField, { control: control.index, member });
    await hands.type(text);
    for (let keys = 0; keys < MOST_KEYS; keys++) {
      const now = (await hands.handle.evaluate(segmentsOf, control.index))[member]?.now;
      if (now === undefined || now === Number(text)) break;
      await hands.handle.evaluate(focusField, { control: control.index, member });
      await hands.press(now < Number(text) ? "ArrowUp" : "ArrowDown");
    }
  }
  await hands.leave();
  await hands.calm();
  const { value: is } = await heldOf(form, control);
  const same = control.kind === "date" ? parseDate(is) === date : true;
  return same ? { took: true, held: date } : { took: false };
}

/** Runs IN THE PAGE: what each spin button of a group stands for. */
function segmentsOf(page: PageForm, control: number): { what: string; twelve: boolean; now: number | undefined }[] {
  const members = page.elements[control] ?? [];
  const twelve = members.some((m) =>
    /am\b|pm\b|period/i.test(
      `${m.getAttribute("aria-label")} ${m.getAttribute("aria-valuetext")} ${m.getAttribute("data-type")} ${m.textContent}`,
    ),
  );
  return members.map((member) => {
    const said =
      `${page.kit.ariaName(member)} ${member.getAttribute("data-type") ?? ""} ${member.getAttribute("data-segment") ?? ""}`.toLowerCase();
    const what =
      ["year", "month", "day", "hour", "minute", "second"].find((word) => said.includes(word)) ??
      (/am|pm|period/.test(said) ? "period" : "");
    const now = member.getAttribute("aria-valuenow");
    return { what, twelve, now: now === null ? undefined : Number(now) };
  });
}

async function setParts(form: ReadForm, control: Control, value: string): Promise<Operated> {
  const date = control.kind === "time" ? parseTime(value) : parseDate(value);
  if (date === undefined) return { took: false };
  for (const [member, part] of date.split(/[-:]/).entries())
    if (!(await form.handle.evaluate(setPart, { control: control.index, member, number: Number(part) })))
      return { took: false };
  return { took: true, held: date };
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
    for (const key of ["Enter", ",", "Tab"]) {
      await hands.press(key);
      await hands.calm(200, 25);
      await rescan(form);
      const { value } = await heldOf(form, control);
      if (value.trim() === "") break;
      if (value.endsWith(",")) await hands.press("Backspace");
    }
    added.push(item);
  }
  return { took: true, held: added };
}
