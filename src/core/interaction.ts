/** Kinds of a blank. `paragraph`: lines or sentences; `list`: several options, joined by commas; `flag`: yes or no. */
export const BLANK_KINDS = [
  "text",
  "paragraph",
  "number",
  "date",
  "time",
  "tel",
  "email",
  "url",
  "file",
  "choice",
  "list",
  "flag",
] as const;
export type BlankKind = (typeof BLANK_KINDS)[number];

/** A gap in a template that the policy fills with a value. */
export interface Blank {
  /** Unique in its template. */
  readonly name: string;
  readonly kind: BlankKind;
  /** The allowed texts: those of a choice or a list, `yes` and `no` of a flag. */
  readonly options?: readonly string[];
  /** Most characters that the page accepts, where known. */
  readonly longest?: number;
  /** Set where one of the options must be given. */
  readonly required?: true;
}

/**
 * The lines of a page: fixed texts and blanks, in order. They depend on the page alone, never on a task's wanted
 * values, so that they reveal nothing of the answer.
 */
export interface Template {
  readonly parts: readonly (string | Blank)[];
}

/** Observation of a policy before a turn: `text` for a text policy, `vectors` for a continuous one. */
export interface Observation {
  readonly text?: string;
  /** The lines of the answer with blanks, where the environment knows them; a policy may still write freely. */
  readonly template?: Template;
  /** Vectors by name, as `state`. */
  readonly vectors?: Readonly<Record<string, Float32Array>>;
}

/** An answer of a policy: a text, or a vector of continuous controls. */
export interface Action {
  readonly text?: string;
  /** The value of each blank by its name, where the answer fills in a template; `text` is then the filled template. */
  readonly values?: Readonly<Record<string, string>>;
  /** Blanks whose value was cut at their length. */
  readonly cut?: readonly string[];
  readonly vector?: Float32Array;
}

/** Fills a template's blanks; returns the text and each value's span in it, in characters. */
export function fillTemplate(
  { parts }: Template,
  values: Readonly<Record<string, string>>,
): { readonly text: string; readonly spans: ReadonlyMap<string, { readonly start: number; readonly end: number }> } {
  let text = "";
  const spans = new Map<string, { start: number; end: number }>();
  for (const part of parts) {
    const start = text.length;
    text += typeof part === "string" ? part : valueIn(values, part);
    if (typeof part !== "string") spans.set(part.name, { start, end: text.length });
  }
  return { text, spans };
}

/** Returns a blank's value; empty where it has none. */
export const valueIn = (values: Readonly<Record<string, string>>, { name }: Pick<Blank, "name">): string =>
  (Object.hasOwn(values, name) ? values[name] : undefined) ?? "";

/** Shapes of the observations and actions of a continuous policy. */
export interface Spaces {
  /** Shapes of the observation's vectors by name. */
  readonly observation: Readonly<Record<string, readonly number[]>>;
  /** Number of actions per call, and numbers in each. */
  readonly action: readonly [actions: number, numbers: number];
}

/** One turn of a policy; an environment calls it once or many times per episode. */
export type Act = (observation: Observation) => Promise<Action>;
