import type { BrowserContextOptions } from "playwright";
import type { z } from "zod";
import type { Rng } from "../core/rng.js";
import type { EnvironmentTask, Split } from "./environment.js";

/** Forms of one page. `starter`: 3-6 short fields a form, for the tiny models. `full`: every field of the form. */
export const TIERS = ["starter", "full"] as const;
/** `wizard`: forms of several pages. */
export type Tier = (typeof TIERS)[number] | "wizard";

/**
 * Kind of a control, as a person fills it in. `radio` and `checkbox-group` are one field each: the group's label names the
 * field, the options' labels are its values.
 */
export type ControlKind =
  | "text"
  | "textarea"
  | "email"
  | "tel"
  | "url"
  | "password"
  | "number"
  | "date"
  | "time"
  | "select"
  | "radio"
  | "checkbox"
  | "checkbox-group"
  | "file";

/**
 * The true value of one field.
 * - string: text; an option's visible text (select, radio); a date `YYYY-MM-DD`; a time `HH:MM`; a file's name
 *   (`"None"` or `""`: no file is attached);
 * - number: a number input;
 * - boolean: a single checkbox (true = ticked);
 * - string[]: the visible texts of the ticked boxes of a checkbox group.
 */
export type FieldValue = string | number | boolean | string[];

/** One field's control and what it holds on a page nobody has touched. */
export interface FieldKind {
  readonly kind: ControlKind;
  /** `""` where nothing is preset, `false` for an unticked box, `[]` for a group without ticked boxes. */
  readonly default: FieldValue;
  /** The visible texts of a select, a radio group or a checkbox group, in page order. */
  readonly options?: readonly string[];
  /** Under which it is posted, and its limits, where the site knows them: what `prompt.style: page` shows. */
  readonly name?: string;
  readonly required?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly longest?: number;
}

/** A field as its site declares it. */
export interface DeclaredField extends FieldKind {
  /** Under which it is posted. */
  readonly name: string;
  /** The options in page order, with what each of them sends; of a single box what it sends. */
  readonly offers?: readonly { readonly text: string; readonly value: string }[];
}

/** A form as its site declares it: its page has the browser's own controls, and nothing of it has to be learned. */
export interface DeclaredForm {
  readonly url: string;
  readonly fields: Readonly<Record<string, DeclaredField>>;
  readonly request: { readonly method: string; readonly path: string };
  /** Signs of an answer where the form was accepted, and where it was refused (docs/contracts.md). */
  readonly accepted: readonly string[];
  readonly refused: readonly string[];
}

/** One form to fill in once, with the true values. */
export interface Task extends EnvironmentTask {
  /** As `embedded/starter/library/visitor-pass/train/0007`. */
  readonly id: string;
  /** The form's name, the same for all of its records, as `library/visitor-pass`. */
  readonly form: string;
  readonly formTitle: string;
  /** The form's path on its site, from the root: `/library/visitor-pass`. */
  readonly url: string;
  /** The task in words; it gives the path, not the address, so that the same task reads the same on any port. */
  readonly instruction: string;
  /** Visible label to true value, in page order. */
  readonly fields: Readonly<Record<string, FieldValue>>;
  /** Signs that the form was accepted, where the task gives them: all of them have to hold. */
  readonly success?: SuccessMarker;
  /** Under which key a label's value is posted, where names do not tell: `{"Full name": "guest.n"}`. */
  readonly keys?: Readonly<Record<string, string>>;
  /** The text that the true values come from, where the site has one: what `prompt.style: document` shows instead of them. */
  readonly document?: string;
  /** Place of each true value in the document, in characters; null: nowhere. For tasks with a letter. */
  readonly spans?: Readonly<Record<string, readonly [start: number, end: number] | null>>;
  /** The options of its choices by label, where the site knows them: a document does not say how the form words them. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  /** False where its controls cannot hold all of its true values, so that cleaning leaves it out; absent: not looked at. */
  readonly clean?: boolean;
  readonly tier: Tier;
  /** The labels of each page, where the form has several and the site knows them. */
  readonly pages?: readonly (readonly string[])[];
}

/** Signs of the server's answer, or of the page after it, where a form was accepted. */
export interface SuccessMarker {
  /** A part of the address that the page is at then, as `/thanks`. */
  readonly url?: string;
  /** A text that can be read then, on the page or in the answer; case does not matter. */
  readonly text?: string;
  /** A CSS selector of something that can be seen then. */
  readonly selector?: string;
  /** The answer's HTTP status, or one of several. */
  readonly status?: number | readonly number[];
}

/** A file that a site serves, or that is served in place of a foreign host's. */
export interface Asset {
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** One page of a form of several, untouched. */
export interface KnownPage {
  /** Headings above its fields besides the form's title: the step that it is, what names a group. */
  readonly headings: readonly string[];
  /** The fields that it shows, by label. */
  readonly fields: Readonly<Record<string, FieldKind>>;
}

/** A task and the controls of its fields, by label. */
export interface KnownTask {
  readonly task: Task;
  readonly kinds: Readonly<Record<string, FieldKind>>;
}

/** A server of forms that is up, and its tasks. */
export interface RunningSite {
  /** Origin without a trailing slash, as `http://127.0.0.1:40123`. */
  readonly baseUrl: string;
  /** The kind's name, as `embedded`. */
  readonly name: string;
  /** All tasks of all splits, in a fixed order. */
  tasks(): readonly Task[];
  /** The file that its tasks come from, for messages. */
  readonly source?: string;
  /** Notes for the user before a run: what was left out of the tasks, and why. */
  readonly notes?: readonly string[];
  /** SHA-256 over the ids, fields and splits of all tasks. */
  splitHash(): string;
  /**
   * Its pages are our own and leave nothing in a browser: no cookie, no storage, no worker, nothing that outlives the
   * document. Only then may one context serve episode after episode.
   */
  readonly stateless?: boolean;
  /** Local copies of what the pages load from other hosts, by full address; everything else foreign is blocked. */
  readonly assets?: ReadonlyMap<string, Asset>;
  /** Other origins that its pages may speak to, as an API on another port. */
  readonly allowOrigins?: readonly string[];
  /** Playwright's storage state (cookies and local storage) that every episode begins with: a login that was done once. */
  readonly storageState?: Exclude<BrowserContextOptions["storageState"], string | undefined>;
  /** Number of training tasks that the oracle plays before a run, which stops where it cannot win them; absent: none. */
  readonly rehearse?: number;
  /** Its forms are learned once: where what was found is kept, and for how long one may be searched; absent: never. */
  readonly learn?: { readonly folder: string; readonly minutes: number };
  /** The form of a task, where the site declares it. */
  declaredForm?(task: Task): DeclaredForm;
  /** Each field's control, where the site knows it without a browser: supervised training writes its targets from it. */
  fieldKinds?(task: Task): Readonly<Record<string, FieldKind>>;
  /** The pages of a task's form as who fills it in rightly meets them, where the site knows them without a browser. */
  knownPages?(task: Task): readonly KnownPage[];
  /** A synthetic training task of a form that does not exist, and its controls. */
  augmentedTask?(rng: Rng): KnownTask;
  /**
   * Brings the server back to where every episode begins; called before each, which are then played one at a time. What it
   * throws is a fault.
   */
  reset?(): Promise<void>;
  /** Ends the server and its connections. */
  stop(): Promise<void>;
}

/** A file in `sites/` exports one of these as `site`; the file's name is its key. */
export interface SiteKind<Options = unknown> {
  /** The options as the config gives them: strict, with defaults. */
  readonly schema: z.ZodType<Options>;
  /** The splits that its tasks are of, where that is known without starting it: what `init` writes. */
  splits?(options: Options): readonly Split[] | undefined;
  /** @throws UserError where the site cannot be served with these options. */
  start(options: Options): Promise<RunningSite>;
}
