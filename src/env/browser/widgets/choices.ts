import { findOption, listItems, looseLabel, parseNumber } from "../../forms/normalize.js";
import type { Control, ReadForm } from "../controls.js";
import type { Hands } from "../hands.js";
import {
  focusField,
  focusSearch,
  forgetOptions,
  isOpen,
  isTyped,
  keyedOption,
  remember,
  type SeenOption,
  scrollOptions,
  seeOptions,
  showsOptions,
} from "../page/hands.js";
import type { PageForm } from "../page/reader.js";
import { clickMember, clickOption, heldOf, type Operated, type Wanted } from "./common.js";
import { pickMonth } from "./dates.js";
import { step } from "./numbers.js";

const OPEN_MS = 700;
const SEARCH_MS = 2500;

export async function tickBoxes(hands: Hands, form: ReadForm, control: Control, wanted: Wanted): Promise<Operated> {
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
export async function choose(hands: Hands, form: ReadForm, control: Control, wanted: Wanted): Promise<Operated> {
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
  const path = item.split(/\s*[/>\u203a\u2192]\s*/).filter((part) => part !== "");
  if (path.length > 1 && matchOption(options, path[0] as string) !== undefined) {
    // a list whose choice opens the next one
    for (const part of path) {
      const index = matchOption(options, part);
      if (index === undefined || !(await clickOption(hands, index))) return undefined;
      await hands.calm();
      options = await hands.handle.evaluate(seeOptions, {
        control: control.index,
        wanted: path[path.indexOf(part) + 1] ?? part,
        ms: OPEN_MS,
      });
    }
    return { text: item, value: item };
  }
  if (options.length === 0) {
    // some lists open by a key only
    await hands.press("ArrowDown");
    found = await pick(await see(300));
    if (found !== undefined) return found;
  }
  if (!(await hands.handle.evaluate(focusSearch, control.index))) return undefined;
  await hands.type(item);
  options = await see(SEARCH_MS);
  found = await pick(options);
  if (found !== undefined) return found;
  // a list that takes what it does not have says so
  const made = options.findIndex(({ text }) => /^(?:create|add|use)(?: new)?\b/i.test(text) && isMadeOf(text, item));
  return made >= 0 && (await clickOption(hands, made)) ? { text: item, value: item } : undefined;
}

const isMadeOf = (text: string, item: string): boolean =>
  looseLabel(text.replace(/^\w+(?: new)?\b/i, "")) === looseLabel(item);

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
