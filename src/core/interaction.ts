/** The kinds of a blank; `paragraph`: several lines or sentences; `list`: several of the options, joined by commas; `flag`: yes or no. */
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
  /** The texts that it may hold: those of a choice or a list, `yes` and `no` of a flag. */
  readonly options?: readonly string[];
  /** Characters that the page takes, where it says. */
  readonly longest?: number;
}

/**
 * The lines of a page: given texts and blanks, in order. It depends on the page alone, never on what a task wants to be
 * entered, so that nothing of the answer is told by it.
 */
export interface Template {
  readonly parts: readonly (string | Blank)[];
}

/** Observation of a policy before a turn. A policy of text reads `text`; a continuous one reads `vectors`. */
export interface Observation {
  readonly text?: string;
  /** The lines of the answer with blanks in them, where the environment knows them; a policy may write freely all the same. */
  readonly template?: Template;
  /** Named vectors, as `state`. */
  readonly vectors?: Readonly<Record<string, Float32Array>>;
}

/** An answer of a policy: a text, or a vector of continuous controls. */
export interface Action {
  readonly text?: string;
  /** The value of each blank by its name, where the answer fills in a template: `text` is the template with them. */
  readonly values?: Readonly<Record<string, string>>;
  /** Blanks that ran full: their value is cut. */
  readonly cut?: readonly string[];
  readonly vector?: Float32Array;
}

/** A template with values in its blanks, and where each value stands in it, in characters. */
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

/** A blank's value; empty where it has none. */
export function valueIn(values: Readonly<Record<string, string>>, { name }: Pick<Blank, "name">): string {
  return (Object.hasOwn(values, name) ? values[name] : undefined) ?? "";
}

/** Shapes of the observations and actions of a continuous policy. */
export interface Spaces {
  /** Shapes of the observation's vectors by name. */
  readonly observation: Readonly<Record<string, readonly number[]>>;
  /** Actions that it answers with at once, and numbers of each. */
  readonly action: readonly [actions: number, numbers: number];
}

/** One turn of a policy: an environment calls it once or many times an episode. */
export type Act = (observation: Observation) => Promise<Action>;
