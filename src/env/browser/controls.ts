import { isNamed, looseLabel, normalizeLabel } from "../forms/normalize.js";
import type { ControlKind, FieldValue } from "../site.js";
import { type PageForm, type RawButton, type RawControl, readAgain, readPage } from "./page/form.js";
import type { PageHandle, PageWorld } from "./page/world.js";
import type { Session } from "./session.js";

/** One control of a page, as a person sees it. */
export interface Control extends Readonly<Omit<RawControl, "value">> {
  /** Position in the list of controls, by which it is addressed. */
  readonly index: number;
  /** `native`: a control of HTML, set together with others; `found`: operated by the way that its contract names. */
  readonly widget: "native" | "found";
  /** Value on the untouched page. */
  readonly default: FieldValue;
  /** Set if it is not on the untouched page. */
  readonly late?: true;
}

/** A read page: its controls as data, and the handle to change them. It is read again when it changes. */
export interface ReadForm {
  controls: readonly Control[];
  buttons: readonly RawButton[];
  handle: PageHandle<PageForm>;
  readonly labels: readonly string[];
  readonly declared: readonly Control[] | undefined;
  /** Values that controls had when their page was left, by index. */
  readonly left: Map<number, FieldValue>;
}

/** Time that a page may take to draw its form, in milliseconds. */
const DRAWN_MS = 6000;

/**
 * Reads a page's controls.
 * @param declared the controls if they are known: only these are looked up.
 * @param before the previous page, which this one has replaced.
 */
export async function readForm(
  world: PageWorld,
  patienceMs: number,
  labels: readonly string[] = [],
  { declared, before }: { readonly declared?: readonly Control[] | undefined; readonly before?: ReadForm } = {},
): Promise<ReadForm> {
  const known = before?.controls ?? [];
  const how = { patienceMs: Math.min(patienceMs, DRAWN_MS), declared, labels, known };
  const handle = await world.hold(readPage, how, ({ controls, buttonData }) => ({ controls, buttonData }));
  const form: ReadForm = {
    controls: known,
    buttons: [],
    handle,
    labels,
    declared,
    left: before?.left ?? new Map(),
  };
  take(form, handle.first);
  return form;
}

/** Reads a changed page again: known controls keep their index, new ones come after them. */
export async function rescan(form: ReadForm): Promise<void> {
  take(form, await form.handle.evaluate(readAgain));
}

/** Reads the page that has replaced the last one; its controls come after the known ones. */
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

/** Reads the current values. @returns one for each control. */
export async function currentValues(form: ReadForm): Promise<FieldValue[]> {
  const raw = await form.handle.evaluate((page) => {
    page.scan();
    return page.controls.map(({ value, present }) => (present ? value : null));
  });
  return form.controls.map(({ kind }, i) => raw[i] ?? form.left.get(i) ?? emptyOf(kind));
}

const emptyOf = (kind: ControlKind): FieldValue => (kind === "checkbox" ? false : kind === "checkbox-group" ? [] : "");

/** Finds the button that sends the form or leads to its next page: the main form's submit button, else the last. */
export function submitButton({ buttons }: Pick<ReadForm, "buttons">): number | undefined {
  const rank = ({ submits, main }: RawButton): number => Number(submits) * 2 + Number(main);
  const best = buttons.reduce((top, button) => Math.max(top, rank(button)), 0);
  const index = best >= 2 ? buttons.findIndex((b) => rank(b) === best) : buttons.findLastIndex((b) => rank(b) === best);
  return index < 0 ? undefined : index;
}

/** The target of a label: a control, or one option of a group. */
export type Target = { readonly control: Control; readonly option?: number } | "none" | "ambiguous";

const looseForms = new WeakMap<Control, readonly [strict: string, loose: string]>();

/** Returns a control's label in its compared forms; computed once, as each line of a plan needs them. */
function formsOf(control: Control): readonly [strict: string, loose: string] {
  const forms = looseForms.get(control) ?? [normalizeLabel(control.label), looseLabel(control.label)];
  looseForms.set(control, forms);
  return forms;
}

/**
 * Finds the control of a label: by accessible name, then by letters and digits alone, then as one option of a radio or
 * checkbox group. Of several controls with one name, those that are present and that `prefer` accepts come first.
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

/** Returns the control of a label; undefined if there is none or several, or it is the label of an option. */
export function controlNamed(controls: readonly Control[], label: string): Control | undefined {
  const target = findControl(controls, label);
  return typeof target === "string" || target.option !== undefined ? undefined : target.control;
}
