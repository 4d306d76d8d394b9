import type { Page } from "playwright";
import { loadConfig, type RunConfig } from "../../config/config.js";
import { fail } from "../../core/errors.js";
import type { Blank, Observation, Template } from "../../core/interaction.js";
import { type Control, findControl } from "../../env/browser/controls.js";
import type { ActionRecord, Fate } from "../../env/browser/fill.js";
import { controlsOnPage, formTemplate, planOf, shownOf, type TemplateControl } from "../../env/forms/blanks.js";
import { CHECK_BELOW, type Group, groupOf } from "../../env/forms/groups.js";
import { looseLabel, matchValue } from "../../env/forms/normalize.js";
import type { ControlKind, FieldValue } from "../../env/site.js";
import { type Answered, type OpenPolicy, openPolicy } from "../../library/policy.js";
import { RunDirectory } from "../../runs/run-directory.js";
import { type PromptStyle, type PromptValue, reads, renderPrompt } from "../../text/prompt.js";
import { type AgentSource, configOfModel, styleOf } from "./agent-config.js";
import { carryOut, fieldsOf, type OpenPage, withForm } from "./filling.js";
import { type Departures, Hold } from "./hold.js";
import { contractOf, formsOf, formsOfSite } from "./known-forms.js";
import { type LeftOut, leftOut } from "./left-out.js";
import { placeOf, quoting } from "./quotes.js";
import { asRecorded, recordOf, recordText } from "./record.js";

/** A field of the page after an agent has filled it in. */
export interface FilledField {
  /** The requested label, else the page's. */
  readonly label: string;
  /** Absent where the page has no such field. */
  readonly kind?: ControlKind;
  /** The field's current value, read back from the page; a password only where it was requested. */
  readonly value?: FieldValue;
  /** Probability of the value written here, given the page and the text, 0 to 1; none where nothing was written. */
  readonly probability?: number;
  /** Set where the field is empty and the page requires it. */
  readonly required?: true;
  /** Span of the written words in the text: characters `start` to `end`. */
  readonly from?: { readonly start: number; readonly end: number };
  /**
   * The reason for a value that is not the requested one. `differs`: it shows another; `not-asked`: the model filled it
   * unasked. `unconfirmed`: it shows the value, but the button that sends the form stays disabled.
   */
  readonly fault?: Exclude<Fate, "done"> | "differs" | "not-asked" | "unconfirmed";
}

/**
 * An agent's actions on a page. `sent`: requests that the page made meanwhile, such as lookups of suggestions; the form
 * itself is never among them. `held`: requests that wait until somebody touches the page, or `release`.
 */
export interface Filled extends Departures {
  /** The model's plan, or the page's lines with its values. */
  readonly plan: string;
  /** The plan after each round of the model; `…` marks open blanks. */
  readonly rounds: readonly string[];
  /** Result of each of its actions, in order; those that would send the form are left to you. */
  readonly actions: readonly Pick<ActionRecord, "action" | "fate">[];
  /** Lines of the plan that are not actions. */
  readonly unresolved: readonly string[];
  /** The requested fields, then the form's other fields. */
  readonly fields: readonly FilledField[];
  /**
   * The same fields by what is left to do. `to check`: the model is less sure than `checkBelow`, or the value is not the
   * wanted one. `left for you`: empty or not on the page, required ones first.
   */
  readonly groups: Readonly<Record<Group, readonly FilledField[]>>;
  /** The other visible controls of the page, with the reason. */
  readonly leftOut: readonly LeftOut[];
  /** The button that sends the form, where it is disabled. */
  readonly disabledButton?: string;
  /** Words of the text with a character that the model's tokenizer does not have, or has in single bytes only. */
  readonly unknownWords: readonly string[];
}

export interface Agent {
  /**
   * Fills the form on a Playwright page (Chromium) with values by label, or from a text: a record (`Label: value` on
   * each line), or prose where the model was trained to read it. A value whose label is on the page is entered
   * unchanged; the model places the others. The form is not sent: press the button yourself after a check. What the
   * page sends by itself is held until then.
   * @throws UserError where the model reads values alone, and the text is no record.
   */
  fill(
    page: Page,
    what: Readonly<Record<string, PromptValue>> | string,
    options?: {
      readonly title?: string;
      readonly instruction?: string;
      readonly document?: string;
      readonly seed?: number;
      /** Values with a lower probability are to be checked; .9 by default. */
      readonly checkBelow?: number;
    },
  ): Promise<Filled>;
  /** Lets a filled-in page send again without waiting for a person to touch it. Requests that were held leave first. */
  release(page: Page): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens an agent. @throws UserError where the run or model does not exist, the run has no fitting checkpoint, or the
 * adapter does not fit the model.
 */
export async function loadAgent(
  source: string | AgentSource,
  options: { readonly checkpoint?: "best" | "last" | number } = {},
): Promise<Agent> {
  const from = typeof source === "string" ? { run: source, ...options } : source;
  const config = "run" in from ? await loadConfig(RunDirectory.open(from.run).config) : await configOfModel(from);
  const policy = await openPolicy("run" in from ? from : { config: config as unknown as Record<string, unknown> });
  const style = styleOf(config);
  const forms = from.contracts === undefined ? formsOfSite(config) : formsOf(from.contracts);
  return {
    fill: (page, what, requested = {}) =>
      withForm(
        page,
        typeof what === "string" ? [] : Object.keys(what),
        (open) => fillForm(open, { page, what, style, policy, quotes: quotes(config) }, requested),
        contractOf(forms, page.url()),
      ),
    release: (page) => Hold.release(page),
    close: () => policy.close(),
  };
}

/** Tells whether blanks are limited to their options, and so to words of the text. */
const quotes = ({ sampler }: RunConfig): boolean =>
  "constrained_decoding" in sampler && sampler.constrained_decoding === true;

interface Filling {
  readonly page: Page;
  readonly what: Parameters<Agent["fill"]>[1];
  readonly style: PromptStyle;
  readonly policy: OpenPolicy;
  readonly quotes: boolean;
}

async function fillForm(
  open: OpenPage,
  { page, what, style, policy, quotes }: Filling,
  { title, instruction = "", document, seed, checkBelow = CHECK_BELOW }: NonNullable<Parameters<Agent["fill"]>[2]>,
): Promise<Filled> {
  const values = typeof what === "string" ? recordOf(what, style) : what;
  const text = document ?? (typeof what === "string" ? what : reads(style) ? recordText(what) : undefined);
  const requested = (values ?? {}) as Readonly<Record<string, FieldValue>>;
  const fields = await fieldsOf(open, requested, values === undefined);
  // files and passwords are in no text
  const controls = controlsOnPage(fields, []).filter(
    ({ kind }) => values !== undefined || !["file", "password"].includes(kind),
  );
  if (controls.length === 0) {
    const inner = page.frames().filter((frame) => frame !== page.mainFrame() && /^(?:https?|file):/.test(frame.url()));
    const hint = inner.length === 0 ? "the page that has it" : inner.map((frame) => frame.url()).join(" or ");
    fail(`${page.url()} shows no form to fill in.`, { hint: `open ${hint}` });
  }
  const task = {
    formTitle: title ?? (await page.title()),
    instruction,
    fields: values ?? Object.fromEntries(controls.map(({ label }) => [label, ""])),
    choices: Object.fromEntries(controls.map(({ label, options = [] }) => [label, options])),
    ...(text === undefined ? {} : { document: text }),
  };
  const lines = openLines(controls);
  const template = quotes && text !== undefined ? quoting(lines, text) : lines;
  const [answer = { rounds: [] }] = await policy.act(
    [{ text: renderPrompt(task, style, shownOf(controls)), template }],
    seed,
  );
  const { actions, unresolved } = planOf(answer, controls);
  const planned = values === undefined ? actions : asRecorded(actions, fields, requested);
  const { records, values: now, sent, held, dead } = await carryOut(open, fields, planned, requested);
  const read = readBack(fields, now, records, values ?? {});
  const required = new Set(fields.flatMap(({ required, label }) => (required ? [looseLabel(label)] : [])));
  const isRequired = ({ label }: FilledField): boolean => required.has(looseLabel(label));
  // a disabled button then has another reason
  const lacks = read.some((field) => isRequired(field) && (field.value === "" || field.value === false));
  const filled = (dead === undefined || lacks ? read : read.map(unconfirmed)).map((field): Sorted => {
    const shown = { ...field, ...evidence(field, answer, text ?? "", requested[field.label]) };
    const about = { required: isRequired(field), given: Object.hasOwn(requested, field.label) };
    const group = groupOf({ ...shown, ...about }, checkBelow);
    if (group !== "left for you") return { field: shown, group };
    return { field: about.required ? { ...field, required: true } : field, group };
  });
  return {
    plan: answer.text ?? "",
    rounds: answer.rounds,
    actions: records,
    unresolved,
    sent,
    held,
    fields: filled.map(({ field }) => field),
    groups: groupsOf(filled),
    leftOut: await leftOut(open, fields),
    unknownWords: policy.policy.model.tokenizer?.unknownWords(text ?? "", { bytes: true }) ?? [],
    ...(dead === undefined ? {} : { disabledButton: dead }),
  };
}

interface Sorted {
  readonly field: FilledField;
  readonly group: Group;
}

function groupsOf(filled: readonly Sorted[]): Filled["groups"] {
  const of = (wanted: Group): FilledField[] => filled.flatMap(({ field, group }) => (group === wanted ? [field] : []));
  const left = of("left for you");
  const [first, others] = [left.filter(({ required }) => required), left.filter(({ required }) => !required)];
  return { filled: of("filled"), "to check": of("to check"), "left for you": [...first, ...others] };
}

const unconfirmed = (field: FilledField): FilledField =>
  field.fault === undefined && typeof field.value === "string" && field.value !== ""
    ? { ...field, fault: "unconfirmed" }
    : field;

/** Returns the probability of the answer's value for a field, and its words in the text; none where not requested. */
function evidence(
  { label, kind = "text" }: FilledField,
  { values = {}, logProbs = {} }: Answered,
  text: string,
  requested: FieldValue | undefined,
): Partial<FilledField> {
  const name = Object.keys(values).find((other) => looseLabel(other) === looseLabel(label));
  const written = (name === undefined ? undefined : values[name])?.trim() ?? "";
  if (
    name === undefined ||
    written === "" ||
    (requested !== undefined && matchValue({ kind, options: [] }, requested, written) < 1)
  )
    return {};
  const from = placeOf(written, text);
  const logProb = logProbs[name];
  return {
    ...(logProb === undefined ? {} : { probability: Math.exp(logProb) }),
    ...(from === undefined ? {} : { from }),
  };
}

/** Returns the lines of a page with blanks that may all stay empty: what a text does not say is left to the person. */
function openLines(controls: readonly TemplateControl[]): Template {
  const { parts } = formTemplate(controls);
  const open = ({ required, ...blank }: Blank): Blank => blank;
  return { parts: parts.map((part) => (typeof part === "string" ? part : open(part))) };
}

/**
 * Builds the observation of a policy that reads texts: a page's controls as a person sees them, the text
 * (`prompt.style: page`), and the page's lines with their blanks.
 */
export function pageObservation(
  title: string,
  controls: readonly TemplateControl[],
  text: string,
  style: PromptStyle = "page",
): Observation {
  const task = { formTitle: title, instruction: "", fields: {}, document: text };
  return { text: renderPrompt(task, style, shownOf(controls)), template: openLines(controls) };
}

/** Reads the page field by field, with the requested labels. */
function readBack(
  controls: readonly Control[],
  now: ReadonlyMap<number, FieldValue>,
  records: readonly ActionRecord[],
  requested: Readonly<Record<string, PromptValue>>,
): FilledField[] {
  const named = new Set<Control>();
  const fields = Object.entries(requested).map(([label, wanted]): FilledField => {
    const target = findControl(controls, label);
    if (target === "none" || target === "ambiguous")
      return { label, fault: target === "none" ? "no-such-control" : target };
    const { control, option } = target;
    named.add(control);
    const held = now.get(control.index) ?? "";
    const value = option === undefined ? held : [held].flat().includes(control.options[option]?.text ?? "");
    const space = { kind: option === undefined ? control.kind : ("checkbox" as const), options: control.options };
    if (matchValue(space, wanted as FieldValue, value) === 1) return { label, kind: space.kind, value };
    const fate = records.findLast((record) => record.control === control.index)?.fate ?? "done";
    return { label, kind: space.kind, value, fault: fate === "done" ? "differs" : fate };
  });
  const others = controls.flatMap((control): FilledField[] => {
    const { label, kind, index, present } = control;
    if (!present || named.has(control)) return [];
    const fate = records.findLast((record) => record.control === index)?.fate;
    const value = kind === "password" ? {} : { value: now.get(index) ?? "" };
    if (fate === undefined || (fate === "done" && fields.length === 0)) return [{ label, kind, ...value }];
    return [{ label, kind, ...value, fault: fate === "done" ? "not-asked" : fate }];
  });
  return [...fields, ...others];
}
