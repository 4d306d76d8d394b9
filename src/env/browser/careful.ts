import { looseLabel, parseDate, parseTime } from "../forms/normalize.js";
import type { Action } from "../forms/plan.js";
import { type Control, findControl, type ReadForm, rescan } from "./controls.js";
import type { ActionRecord, Step } from "./fill.js";
import { applySteps } from "./fill.js";
import { Hands } from "./hands.js";
import { focusField, placeOfOption, pressOption, remember, seeOptions } from "./page/hands.js";
import type { PageForm } from "./page/reader.js";
import type { Session } from "./session.js";
import { pickMoment } from "./widgets/dates.js";
import { operateBeside } from "./widgets/numbers.js";
import { operate } from "./widgets.js";

/** How long a field that suggests may take to do so, by the page's own clock. */
const SUGGEST_MS = 1200;
const TYPED: readonly string[] = ["text", "textarea", "email", "tel", "url", "password", "number"];

/** One step on a page whose scripts may listen: texts are typed, so that every script hears what it hears of a person. */
export async function applyCarefully(
  session: Session,
  form: ReadForm,
  action: Action,
  step: Step,
): Promise<ActionRecord> {
  if (step.do === "operate") return operated(session, form, action, step);
  const [op, ...more] = step.do === "ops" ? step.ops : [];
  const control = step.do === "ops" && step.control !== undefined ? form.controls[step.control] : undefined;
  if (
    op?.op === "value" &&
    more.length === 0 &&
    control !== undefined &&
    TYPED.includes(control.kind) &&
    control.notation === undefined
  ) {
    let took = await typeInto(session, form, control, op.value);
    // it may open a calendar or a clock, and keep nothing that is typed
    if (control.kind === "text" && isMoment(op.value) && !(took === true && (await keeps(session, form, control)))) {
      const picked = await pickMoment(new Hands(session, form.handle), control, op.value);
      if (picked) form.typed.set(control.index, op.value);
      took = picked || took;
    }
    if (took !== undefined) {
      const on = { action, control: control.index };
      return took ? { ...on, fate: "done" } : { ...on, fate: "rejected", detail: "the control did not take the value" };
    }
  }
  const [record] = await applySteps(form, [{ action, step }]);
  return record as ActionRecord;
}

async function operated(
  session: Session,
  form: ReadForm,
  action: Action,
  step: Extract<Step, { do: "operate" }>,
): Promise<ActionRecord> {
  const control = form.controls[step.control] as Control;
  const on = { action, control: control.index };
  const { took, noOption } = await operate(session, form, control, step.wanted);
  if (took && control.widget === "found") {
    // what was clicked may have become a field of this name
    await rescan(form);
    const now = findControl(form.controls, control.label);
    if (typeof now !== "string") return { action, fate: "done", control: now.control.index };
  }
  if (took) return { ...on, fate: "done" };
  return noOption
    ? { ...on, fate: "no-such-option" }
    : { ...on, fate: "rejected", detail: "the control did not take the value" };
}

const isMoment = (text: string): boolean => parseDate(text) !== undefined || parseTime(text) !== undefined;

/** Whether a field still holds something when it is left. */
async function keeps(session: Session, form: ReadForm, control: Control): Promise<boolean> {
  const hands = new Hands(session, form.handle);
  await hands.leave();
  await hands.calm(200, 75);
  return ((await form.handle.evaluate(fieldState, control.index))?.value ?? "") !== "";
}

/** @returns whether it was taken; undefined where this field is not typed into. */
async function typeInto(
  session: Session,
  form: ReadForm,
  control: Control,
  text: string,
): Promise<boolean | undefined> {
  const { handle } = form;
  const at = { control: control.index, member: 0 };
  const state = await handle.evaluate(fieldState, control.index);
  if (state === undefined) return undefined;
  const beside = async (): Promise<boolean> => {
    const took = await operateBeside(session, form, control, text);
    if (took) form.typed.set(control.index, text);
    return took;
  };
  if (state.fixed) return state.readOnly ? beside() : undefined;
  const hands = new Hands(session, handle);
  if (state.suggests) await handle.evaluate(remember);
  const wanted = state.limit >= 0 ? text.slice(0, state.limit) : text;
  // a mask may write it in its own way, but with the same letters
  const isThere = async (): Promise<boolean> => {
    const value = (await handle.evaluate(fieldState, control.index))?.value ?? "";
    return (
      value === wanted ||
      (looseLabel(value) === looseLabel(wanted) && looseLabel(wanted) !== "") ||
      (control.kind === "number" && Number(value) === Number(wanted) && value !== "")
    );
  };
  if (!(await handle.evaluate(focusField, at))) return undefined;
  // a field that listens to its keys may be written by them
  form.keyed ??= await handle.hears(textFields, ["keydown", "keypress", "beforeinput"]).catch(() => false);
  if (form.keyed) {
    await hands.press("Backspace");
    await hands.type(text);
  } else await hands.paste(text);
  if (!(await isThere())) {
    await handle.evaluate(focusField, at);
    await hands.press("Backspace");
    await hands.type(text);
    // scripts may write it again a moment later
    if (!(await isThere())) await hands.calm(200, 50);
    // one that goes back to its own state may have buttons for it
    if (!(await isThere())) return (await beside()) || undefined;
  }
  form.typed.set(control.index, text);
  if (state.suggests || (await handle.evaluate(hasSuggestions, control.index)))
    await takeSuggestion(hands, control, text);
  return true;
}

/** Of the suggestions that a field makes the one that is just what was typed. */
async function takeSuggestion(hands: Hands, control: Control, text: string): Promise<void> {
  const { handle } = hands;
  // a list that is drawn again in the moment of the click is looked at once more
  for (let tries = 0; tries < 3; tries++) {
    const seen = await handle.evaluate(seeOptions, { control: control.index, wanted: text, ms: SUGGEST_MS });
    const index = seen.findIndex((option) => looseLabel(option.text) === looseLabel(text));
    if (index < 0) return;
    const place = await handle.evaluate(placeOfOption, index);
    if (await hands.click(place, () => handle.evaluate(pressOption, index))) return hands.calm();
  }
}

interface FieldState {
  readonly value: string;
  readonly fixed: boolean;
  readonly readOnly: boolean;
  readonly limit: number;
  readonly suggests: boolean;
}

/** Runs IN THE PAGE: what a text field holds, and whether it says that it suggests. */
function fieldState(page: PageForm, control: number): FieldState | undefined {
  if (page.elements[control]?.[0]?.isConnected !== true) page.scan();
  const field = page.elements[control]?.[0] as HTMLInputElement | undefined;
  if (field === undefined) return undefined;
  const around = `${field.className} ${field.id} ${field.parentElement?.className ?? ""}`;
  const suggests =
    field.hasAttribute("aria-autocomplete") ||
    field.hasAttribute("aria-controls") ||
    /auto-?complete|type-?ahead|suggest|lookup/i.test(around);
  return {
    value: field.value,
    fixed: field.readOnly || field.type === "range",
    readOnly: field.readOnly,
    limit: field.maxLength ?? -1,
    suggests,
  };
}

/** Runs IN THE PAGE: the elements that texts are written into. */
function textFields(page: PageForm): readonly Element[] {
  return page.elements.flat().filter((element) => /^(?:INPUT|TEXTAREA)$/.test(element.nodeName));
}

/** Runs IN THE PAGE: whether a list of suggestions stands open. */
function hasSuggestions(page: PageForm, _: number): boolean {
  return page.kit.all("[role=option]").some(page.kit.shown);
}
