import type { Page } from "playwright";
import { fail, UserError } from "../../core/errors.js";
import { within } from "../../core/within.js";
import { type Control, currentValues, findControl, type ReadForm, readForm } from "../../env/browser/controls.js";
import { type ActionRecord, applySteps, resolveAction, type Step } from "../../env/browser/fill.js";
import { carryOut as planned } from "../../env/browser/filler.js";
import type { PageForm } from "../../env/browser/page/form.js";
import { PageWorld } from "../../env/browser/page/world.js";
import { listItems, looseLabel, matchValue, parseBoolean, unfillable } from "../../env/forms/normalize.js";
import type { Action } from "../../env/forms/plan.js";
import { KINDS, type Kind } from "../../env/forms/values.js";
import type { FieldValue } from "../../env/site.js";
import { renderValue } from "../../text/prompt.js";
import type { Contract } from "../learned-pages/contract.js";
import { leave, rest } from "../learned-pages/gestures.js";
import type { Operation } from "../learned-pages/operate.js";
import { PICKER, setLabels, shownIn } from "../learned-pages/place.js";
import { enterPlainly } from "../learned-pages/plain.js";
import { type Surface, surfaceOf } from "../learned-pages/surface.js";
import { kindOfAll } from "../learned-pages/values.js";
import { type Departures, Hold } from "./hold.js";
import { optionsOf } from "./options.js";
import { type DrawnControl, type DrawnPage, isDrawn, readDrawn } from "./page/drawn.js";

/** Time limit for all fields of a page that need more than setting a value, in milliseconds. */
const SEARCH_MS = 60_000;
/** Time in which a page reverts a value that it rejects, in milliseconds. */
const TAKES_MS = 80;
/** Time in which a page takes over a value after its field was left, in milliseconds. */
const COMMITS_MS = 250;
/** Time in which a page sends something for the last value, as a lookup or a save, in milliseconds. */
const SENDS_MS = 800;

/** Limit for reading a page, in milliseconds. */
const PATIENCE_MS = 5000;
const DRAWN_MS = 1000;

/** Kinds of controls that accept only values in their own notation, or one of their options. */
const WRITTEN: ReadonlySet<string> = new Set(["number", "date", "time", "select"]);

/** A value to enter into a control that is not set directly. */
interface WantedField {
  readonly label: string;
  readonly value: FieldValue;
  readonly kind: Kind;
  /** The operation that a contract names: it is tried first. */
  readonly known?: Operation | undefined;
}

/** A user's page while its form is filled in. */
export interface OpenPage {
  readonly form: ReadForm;
  readonly surface: Surface;
  /** The contract of the form, where it was learned. */
  readonly contract?: Contract | undefined;
}

/**
 * Reads the page's form, runs the work on it and releases it.
 * @param labels select the form that has most of them; none: the one with most controls.
 */
export async function withForm<T>(
  page: Page,
  labels: readonly string[],
  work: (open: OpenPage) => Promise<T>,
  contract?: Contract,
): Promise<T> {
  const devtools = await page.context().newCDPSession(page);
  let view: PageWorld | undefined;
  try {
    const { frameTree } = await devtools.send("Page.getFrameTree");
    view = await PageWorld.enter(devtools, frameTree.frame.id);
    // a page with drawn controls may have no native ones
    const form = await readForm(view, (await view.evaluate(isDrawn)) ? DRAWN_MS : PATIENCE_MS, labels);
    if (labels.length === 0) await keepLargest(form);
    try {
      return await work({ form, surface: surfaceOf(page, view, PATIENCE_MS), contract });
    } finally {
      await form.handle.dispose();
    }
  } catch (error) {
    if (error instanceof UserError || (!page.isClosed() && (await isAlive(view)))) throw error;
    fail(`The page left while its form was worked on: it shows ${page.isClosed() ? "nothing" : page.url()} now.`, {
      hint: "open it again",
      cause: error,
    });
  } finally {
    await devtools.detach().catch(() => undefined);
  }
}

/** Tells whether a document is still the page's. */
async function isAlive(view: PageWorld | undefined): Promise<boolean> {
  const isThere = view?.evaluate(() => true) ?? Promise.resolve(true);
  return !(await within(isThere, DRAWN_MS)) || isThere.catch(() => false);
}

/** Leaves out the controls of a page's smaller forms, as a search or a newsletter; repeated names get a number. */
async function keepLargest(form: ReadForm): Promise<void> {
  const owners = await form.handle.evaluate(({ elements }) => {
    const forms = elements.map(([element]) => (element as HTMLInputElement | undefined)?.form ?? null);
    return forms.map((one) => forms.indexOf(one));
  });
  const sizeOf = (owner: number | undefined): number =>
    form.controls.filter(({ present, index }) => present && owners[index] === owner).length;
  const main = [...new Set(owners)].reduce((best, owner) => (sizeOf(owner) > sizeOf(best) ? owner : best), owners[0]);
  const seen = new Map<string, number>();
  form.controls = form.controls.map((control) => {
    const present = control.present && owners[control.index] === main;
    const times = (seen.get(control.label) ?? 0) + Number(present && control.label !== "");
    seen.set(control.label, times);
    return { ...control, present, label: times > 1 ? `${control.label} (${times})` : control.label };
  });
}

/**
 * Returns the controls of a page in order: native ones, and those that the page draws itself, as pickers, switches and
 * the contents of shadow roots; the latter are `found`: their operation is searched for.
 * @param requested values by label: a label beside something other than a known control counts too.
 * @param opens opens lists to read the texts of their options, and closes them again.
 */
export async function fieldsOf(
  { form, surface, contract }: OpenPage,
  requested: Readonly<Record<string, FieldValue>>,
  opens: boolean,
): Promise<Control[]> {
  const { drawn, pickers, places } = await form.handle.evaluate(readDrawn, PICKER);
  const natives = form.controls.map(
    (control): Control => ({
      ...control,
      widget: pickers.includes(control.index) || isOperated(contract, control.label) ? "found" : control.widget,
      // a control without a name is a part of another one
      present: control.present && /[\p{L}\p{N}]/u.test(control.label),
    }),
  );
  const controls = [...natives, ...drawn.map((one, i) => foundOf(one, natives.length + i))];
  setLabels(surface.page, labelsOf(controls.filter(({ present }) => present)));
  const labels = [...new Set([...Object.keys(requested), ...Object.keys(contract?.fields ?? {})])];
  const others = labels.filter((label) => findControl(controls, label) === "none");
  const shown = others.length === 0 ? [] : await shownIn(surface, others);
  others.forEach((label, i) => {
    const isFlag = typeof requested[label] === "boolean" || contract?.fields[label]?.kind === "flag";
    const kind = isFlag ? "checkbox" : "text";
    if (shown[i]?.present) controls.push(foundOf({ kind, label, options: [], value: "" }, controls.length));
  });
  for (const control of opens ? controls.filter(isClosedList) : []) {
    const options = await optionsOf(surface, control.label);
    if (options.length > 0) controls[control.index] = { ...control, kind: "select", options: options.map(asOption) };
  }
  return drawn.length === 0 ? controls : inOrder(controls, places);
}

const labelsOf = (controls: readonly Control[]): string[] => controls.map(({ label }) => label);

/** Tells whether a contract names another way for a field than setting its value. */
const isOperated = (contract: Contract | undefined, label: string): boolean =>
  !["fill", "select", "radio", "toggle", undefined].includes(contract?.fields[label]?.way);

const asOption = (text: string): { text: string; value: string } => ({ text, value: text });
const isClosedList = ({ widget, present, options, kind }: Control): boolean =>
  widget === "found" && present && options.length === 0 && (kind === "select" || kind === "text");

function foundOf({ options, value, ...drawn }: DrawnControl, index: number): Control {
  const rest = { index, name: "", widget: "found", required: false, present: true } as const;
  return { ...drawn, ...rest, default: value, options: options.map(asOption) };
}

function inOrder(controls: readonly Control[], places: DrawnPage["places"]): Control[] {
  const at = ({ index }: Control): readonly [number, number] => places[index] ?? [Number.MAX_SAFE_INTEGER, 0];
  return [...controls].sort((a, b) => at(a)[0] - at(b)[0] || at(a)[1] - at(b)[1] || a.index - b.index);
}

/** Actions carried out on a page, the value of each control, by its index, and what the page sent meanwhile. */
export interface CarriedOut extends Departures {
  readonly records: readonly ActionRecord[];
  readonly values: ReadonlyMap<number, FieldValue>;
  /** The button that sends the form, where it stays disabled. */
  readonly dead?: string;
}

/**
 * Carries out actions, except those that send the form. What the page sends is held until somebody touches it, or
 * `Hold.release`. Native controls are set directly;
 * where a value does not hold, or a control is drawn, several ways are tried until the page shows it.
 * @param requested the values that the user gave, in their own types.
 * @param searchMs time limit of all searches, in milliseconds.
 */
export async function carryOut(...given: Parameters<typeof carriedOut>): Promise<CarriedOut> {
  const [{ surface }] = given;
  const hold = await Hold.begin(surface.page);
  let departures: Departures | undefined;
  try {
    const done = await carriedOut(...given);
    await rest(surface, SENDS_MS);
    departures = await hold.filled();
    return { ...done, ...departures };
  } finally {
    if (departures === undefined) await hold.filled();
  }
}

async function carriedOut(
  { form, surface, contract }: OpenPage,
  controls: readonly Control[],
  actions: readonly Action[],
  requested: Readonly<Record<string, FieldValue>>,
  searchMs = SEARCH_MS,
): Promise<Omit<CarriedOut, keyof Departures>> {
  const path = new URL(surface.page.url()).pathname;
  const batch: { readonly action: Action; readonly step: Step }[] = [];
  await planned(actions, {
    records: [],
    resolve: (action) => resolveAction(action, { controls, buttons: form.buttons }, path),
    put: (action, step) => void (step.do !== "upload" && batch.push({ action, step })),
    // sending is left to the user
    send: (action) => ({ action, fate: "rejected" }),
  });
  const byIndex = new Map(controls.map((control) => [control.index, control]));
  const records = await applySteps(form, batch);
  await form.handle.evaluate(
    leaveAll,
    batch.flatMap(({ step }) => ("control" in step ? (step.control ?? []) : [])),
  );
  await leave(surface);
  await rest(surface, TAKES_MS);
  const labels = labelsOf(controls.filter(({ present }) => present));
  const searched = new Map<number, WantedField>();
  const taken = new Set<string>();
  const end = performance.now() + searchMs;
  let isDead = (await form.handle.evaluate(deadButton)) !== undefined;
  if (isDead) {
    await enterSlowly(form, surface, batch);
    isDead = (await form.handle.evaluate(deadButton)) !== undefined;
  }
  // a second pass restores values that filling another field removed
  for (let pass = 0; pass < 2; pass++) {
    const held = await currentValues(form);
    const wanted = batch.flatMap(({ action, step }, i): [number, WantedField][] => {
      const control = "control" in step && step.control !== undefined ? byIndex.get(step.control) : undefined;
      const value = searched.has(i) ? undefined : requestedValue(step, control, action, requested);
      if (value === undefined || !("label" in action)) return [];
      const { label } = control ?? action;
      const isNative = control?.widget === "native";
      // a button that stays disabled means that the page has not taken over the values that it shows
      const isHeld = isNative && !isDead && matchValue(control, value, held[control.index] ?? "") === 1;
      // a value that its control cannot hold is not tried
      const isVain = isNative && WRITTEN.has(control.kind) && unfillable(control, value) !== undefined;
      return isHeld || isVain ? [] : [[i, { label, value, ...knownOf(contract, label, control, value) }]];
    });
    if (wanted.length === 0) break;
    for (const [i, field] of wanted) searched.set(i, field);
    const fields = wanted.map(([, field]) => field);
    setLabels(surface.page, labels);
    for (const { label, kind, value, known } of fields)
      if (performance.now() < end && (await enterPlainly(surface, label, kind, value, 1, known)) !== undefined)
        taken.add(label);
    await leave(surface);
  }
  for (const [i, { label }] of searched) {
    const { action, control } = records[i] as ActionRecord;
    const on = control === undefined ? {} : { control };
    records[i] = { action, fate: taken.has(label) ? "done" : "rejected", ...on };
  }
  const values = await heldNow({ form, surface }, controls, [...searched.values()], taken);
  const dead = await form.handle.evaluate(deadButton);
  return { records, values, ...(dead === undefined ? {} : { dead }) };
}

/** Sets the values of native controls once more, one after the other: some pages take over one at a time. */
async function enterSlowly(
  form: ReadForm,
  surface: Surface,
  batch: readonly { readonly action: Action; readonly step: Step }[],
): Promise<void> {
  for (const one of batch) {
    if (one.step.do !== "ops" || one.step.control === undefined) continue;
    await applySteps(form, [one]);
    await form.handle.evaluate(leaveAll, [one.step.control]);
    await rest(surface, COMMITS_MS);
  }
}

/**
 * Runs IN THE PAGE: enters and leaves the set controls, as a person does: some revert values that they cannot parse, or
 * that their state does not have.
 */
function leaveAll(page: PageForm, controls: readonly number[]): void {
  for (const control of controls) {
    const [element] = page.elements[control] ?? [];
    element?.focus({ preventScroll: true });
    element?.blur();
    for (const type of ["focusin", "focusout"]) element?.dispatchEvent(new FocusEvent(type, { bubbles: true }));
  }
}

/** Runs IN THE PAGE: returns the button that sends the form of the controls, where all such buttons are disabled. */
function deadButton({ elements, labelOf, clean }: PageForm): string | undefined {
  const form = (elements.flat().find((e) => e?.isConnected) as HTMLInputElement | undefined)?.form;
  const all = [...(form?.elements ?? [])].filter((e) => /^(?:submit|image)$/.test((e as HTMLButtonElement).type));
  const isOff = (e: Element): boolean => e.matches(":disabled,[aria-disabled=true]");
  const [first] = all;
  if (first === undefined || !all.every(isOff)) return undefined;
  return labelOf(first) || clean(first.textContent) || "submit";
}

/**
 * Returns the value of an action, in the user's own type where the two agree; undefined where it concerns no field of
 * the page.
 * @param control of the step; none where several have the label.
 */
function requestedValue(
  step: Step,
  control: Control | undefined,
  action: Action,
  requested: Readonly<Record<string, FieldValue>>,
): FieldValue | undefined {
  const isAmbiguous = step.do === "nothing" && step.fate === "ambiguous";
  if (!("label" in action) || (control === undefined && !isAmbiguous)) return undefined;
  const { kind = "text", label, options = [] } = control ?? { label: action.label };
  const written = step.do === "operate" ? step.wanted.value : "value" in action ? action.value : undefined;
  if (written === undefined)
    return kind === "checkbox" && action.kind !== "click" ? action.kind === "check" : undefined;
  const given = Object.entries(requested).find(([name]) => looseLabel(name) === looseLabel(label))?.[1];
  if (given !== undefined && renderValue(given) === written) return given;
  if (kind === "checkbox") return parseBoolean(written);
  return kind === "checkbox-group" ? listItems(options, written) : written;
}

/** Returns the kind of a field's values and its operation, by the contract where there is one. */
function knownOf(
  contract: Contract | undefined,
  label: string,
  control: Control | undefined,
  value: FieldValue,
): Pick<WantedField, "kind" | "known"> {
  const field = contract?.fields[label];
  if (field === undefined) return { kind: (control && kindOf(control)) ?? kindOfAll([value]) };
  const { kind, locator, nth, way, variant } = field;
  return { kind, known: { locator, nth, way, variant } };
}

/** Returns the kind of a control's values where the control determines it; else the value does. */
const kindOf = ({ kind }: Control): Kind | undefined =>
  kind === "checkbox"
    ? "flag"
    : kind === "checkbox-group"
      ? "list"
      : KINDS.find((one) => one === kind && one !== "text");

async function heldNow(
  { form, surface }: OpenPage,
  controls: readonly Control[],
  wanted: readonly WantedField[],
  taken: ReadonlySet<string>,
): Promise<Map<number, FieldValue>> {
  const held = await currentValues(form);
  const found = controls.filter(({ widget }) => widget === "found");
  const values = new Map<number, FieldValue>(held.map((value, index) => [index, value]));
  if (found.length === 0) return values;
  const shown = await shownIn(surface, labelsOf(found));
  found.forEach(({ index, kind, label }, i) => {
    const { on = [], values: written = [], text = "" } = shown[i] ?? {};
    const asShown = kind === "checkbox" ? on.length > 0 : kind === "checkbox-group" ? [...on] : (written[0] ?? text);
    const put = taken.has(label) ? wanted.find((one) => one.label === label)?.value : undefined;
    values.set(index, put ?? asShown);
  });
  return values;
}
