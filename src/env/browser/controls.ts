import { isNamed, looseLabel, normalizeLabel } from "../forms/normalize.js";
import type { ControlKind, FieldValue } from "../site.js";
import { type PageForm, type RawButton, type RawControl, readAgain, readPage } from "./page/form.js";
import type { PageHandle, PageWorld } from "./page/world.js";
import type { Session } from "./session.js";

/** One control of a page, as a person sees it. */
export interface Control extends Readonly<Omit<RawControl, "value">> {
  /** Its place on the page, which is also how it is reached. */
  readonly index: number;
  /** `native`: a control of the browser's own, set at once with others; `found`: operated by the way that its contract names. */
  readonly widget: "native" | "found";
  /** Value on a page nobody has touched; shaped as a FieldValue of its kind. */
  readonly default: FieldValue;
  /** Set where it was not there on the untouched page. */
  readonly late?: true;
}

/** A read page: its controls as data, and the handle through which they are changed. It is read again as it changes. */
export interface ReadForm {
  controls: readonly Control[];
  buttons: readonly RawButton[];
  handle: PageHandle<PageForm>;
  /** The task's labels. */
  readonly labels: readonly string[];
  readonly declared: readonly Control[] | undefined;
  /** Values of controls at the time when the page that they belong to was left. */
  readonly left: Map<number, FieldValue>;
}

/** Limits how long a page may take to draw its form. */
const DRAWN_MS = 6000;

/**
 * Reads a page's controls.
 * @param declared the controls where they are known: nothing but these is looked up.
 * @param before what was read of the page that this one has taken the place of.
 */
export async function readForm(
  world: PageWorld,
  patienceMs: number,
  labels: readonly string[] = [],
  { declared, before }: { readonly declared?: readonly Control[] | undefined; readonly before?: ReadForm } = {},
): Promise<ReadForm> {
  const handle = await world.hold(readPage, {
    patienceMs: Math.min(patienceMs, DRAWN_MS),
    declared,
    labels,
    known: before?.controls ?? [],
  });
  const form: ReadForm = {
    controls: before?.controls ?? [],
    buttons: [],
    handle,
    labels,
    declared,
    left: before?.left ?? new Map(),
  };
  take(form, await handle.evaluate((page) => ({ controls: page.controls, buttonData: page.buttonData })));
  return form;
}

/** Reads the page again after it has changed: known controls keep their place, new ones come after them. */
export async function rescan(form: ReadForm): Promise<void> {
  take(form, await form.handle.evaluate(readAgain));
}

/** Reads the page that has taken the place of the last one; its controls come after those that are known. */
export async function renew(session: Session, form: ReadForm): Promise<void> {
  const { declared, labels } = form;
  const next = await readForm(await session.enter(), DRAWN_MS, labels, { declared, before: form });
  Object.assign(form, { controls: next.controls, buttons: next.buttons, handle: next.handle });
}

function take(form: ReadForm, { controls, buttonData }: Pick<PageForm, "controls" | "buttonData">): void {
  const last = form.controls;
  form.controls = controls.map((raw, index): Control => {
    const declared = form.declared?.[index];
    const known = last[index] ?? (declared === undefined ? undefined : { ...declared, present: raw.present });
    if (known === undefined) {
      const { value, ...seen } = raw;
      return { ...seen, index, widget: "native", default: value, ...(last.length === 0 ? {} : { late: true }) };
    }
    const isLate = known.late === true || (last.length === 0 && !raw.present);
    const options = declared === undefined && raw.present ? raw.options : known.options;
    return { ...known, index, options, present: raw.present, ...(isLate ? { late: true } : {}) };
  });
  form.buttons = buttonData;
}

/** The controls' values now. @returns one FieldValue a control. */
export async function currentValues(form: ReadForm): Promise<FieldValue[]> {
  const raw = await form.handle.evaluate((page) => {
    page.scan();
    return page.controls.map(({ value, present }) => (present ? value : null));
  });
  return form.controls.map(({ kind }, i) => raw[i] ?? form.left.get(i) ?? emptyOf(kind));
}

const emptyOf = (kind: ControlKind): FieldValue => (kind === "checkbox" ? false : kind === "checkbox-group" ? [] : "");

/** The button that sends the form, or leads on in it: a submit of the form that has most of the controls, else the last one. */
export function submitButton({ buttons }: Pick<ReadForm, "buttons">): number | undefined {
  const rank = ({ submits, main }: RawButton): number => Number(submits) * 2 + Number(main);
  const best = buttons.reduce((top, button) => Math.max(top, rank(button)), 0);
  const index = best >= 2 ? buttons.findIndex((b) => rank(b) === best) : buttons.findLastIndex((b) => rank(b) === best);
  return index < 0 ? undefined : index;
}

/** The thing that a label names: a control, or one option of a group. */
export type Target = { readonly control: Control; readonly option?: number } | "none" | "ambiguous";

const looseForms = new WeakMap<Control, readonly [strict: string, loose: string]>();

/** A control's label as it is compared; computed once, since a plan asks for it with every line. */
function formsOf(control: Control): readonly [strict: string, loose: string] {
  const forms = looseForms.get(control) ?? [normalizeLabel(control.label), looseLabel(control.label)];
  looseForms.set(control, forms);
  return forms;
}

/**
 * Finds the control a label names: by accessible name, then by its letters and digits alone, then as one option of a
 * radio or checkbox group. Of several controls with one name one that can be reached is taken, and `prefer` may single
 * one out.
 */
export function findControl(
  controls: readonly Control[],
  label: string,
  prefer: (kind: ControlKind) => boolean = () => true,
): Target {
  for (const [i, wanted] of [normalizeLabel(label), looseLabel(label)].entries()) {
    if (wanted === "") continue;
    let found = controls.filter((control) => formsOf(control)[i] === wanted);
    for (const keep of [({ present }: Control) => present, ({ kind }: Control) => prefer(kind)])
      if (found.length > 1 && found.some(keep)) found = found.filter(keep);
    const [only] = found;
    if (only !== undefined) return found.length === 1 ? { control: only } : "ambiguous";
  }
  const strict = normalizeLabel(label);
  const options = controls.flatMap((control) =>
    control.kind === "radio" || control.kind === "checkbox-group"
      ? control.options.flatMap((option, k) =>
          strict !== "" && isNamed(option, strict) ? [{ control, option: k }] : [],
        )
      : [],
  );
  const [only] = options;
  return only === undefined ? "none" : options.length === 1 ? only : "ambiguous";
}

/** The control of a label; undefined where there is none or several, or it is an option's. */
export function controlNamed(controls: readonly Control[], label: string): Control | undefined {
  const target = findControl(controls, label);
  return typeof target === "string" || target.option !== undefined ? undefined : target.control;
}
