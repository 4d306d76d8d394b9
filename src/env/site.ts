import type { BrowserContextOptions } from "playwright";
import type { z } from "zod";
import type { Rng } from "../core/rng.js";
import type { EnvironmentTask, Split } from "./environment.js";

/** Forms of one page. `starter`: 3-6 short fields in a form, for the tiny models. `full`: all fields of the form. */
export const TIERS = ["starter", "full"] as const;
/** `wizard`: forms of several pages. */
export type Tier = (typeof TIERS)[number] | "wizard";

/**
 * Kind of a control. `radio` and `checkbox-group` are one field each: the group's label names the field, the options'
 * labels are its values.
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

/** One field's control and its value on the untouched page. */
export interface FieldKind {
  readonly kind: ControlKind;
  /** `""` without a preset, `false` for an unticked checkbox, `[]` for a group without ticked checkboxes. */
  readonly default: FieldValue;
  /** The visible texts of a select, a radio group or a checkbox group, in page order. */
  readonly options?: readonly string[];
  /** The key that it is posted under, and its limits, if the site knows them; `prompt.style: page` shows them. */
  readonly name?: string;
  readonly required?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly longest?: number;
}

/** A field as its site declares it. */
export interface DeclaredField extends FieldKind {
  /** The key that it is posted under. */
  readonly name: string;
  /** The options in page order with their posted values; the posted value of a single checkbox. */
  readonly offers?: readonly { readonly text: string; readonly value: string }[];
}

/** A form as its site declares it: its page has HTML controls only, and it need not be learned. */
export interface DeclaredForm {
  readonly url: string;
  readonly fields: Readonly<Record<string, DeclaredField>>;
  readonly request: { readonly method: string; readonly path: string };
  readonly success: Sign;
  readonly refusal?: Sign;
}

/** One form to fill in once, with the true values. */
export interface Task extends EnvironmentTask {
  /** As `embedded/starter/library/visitor-pass/train/0007`. */
  readonly id: string;
  /** The form's name, as `library/visitor-pass`, the same for all of its records. */
  readonly form: string;
  readonly formTitle: string;
  /** The form's path on its site, from the root: `/library/visitor-pass`. */
  readonly url: string;
  /** The task in words. It has the path, not the address, so that it reads the same on any port. */
  readonly instruction: string;
  /** Visible label to true value, in page order; none where only the site's verdict is learned from. */
  readonly fields: Readonly<Record<string, FieldValue>>;
  /** Signs that the form was accepted, and that it was refused, if the task or its site declares them. */
  readonly success?: Sign;
  readonly refusal?: Sign | undefined;
  /** The place where the site names the fields that it refuses. */
  readonly refused?: RefusedFields | undefined;
  /** The key that a label's value is posted under, if names do not tell: `{"Full name": "guest.n"}`. */
  readonly keys?: Readonly<Record<string, string>>;
  /** The text that contains the true values, if there is one; `prompt.style: document` shows it in their place. */
  readonly document?: string;
  /** Place of each true value in the document, in characters; null if it is not there. For tasks with a letter. */
  readonly spans?: Readonly<Record<string, readonly [start: number, end: number] | null>>;
  /** The options of choices by label, if the site knows them: a document may use other words than the form. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  /** False if its controls cannot hold all true values, so that cleaning leaves it out; absent: not checked. */
  readonly clean?: boolean;
  readonly tier: Tier;
  /** The labels of each page, if the form has several and the site knows them. */
  readonly pages?: readonly (readonly string[])[];
}

/** Signs in a server's answer, or on the page after it: all that are given are required. */
export interface Sign {
  /** A part of the page's address then, as `/thanks`. */
  readonly url?: string | undefined;
  /** A text on the page or in the answer; case does not matter. */
  readonly text?: string | undefined;
  /** A CSS selector of a visible element. */
  readonly selector?: string | undefined;
  /** The HTTP status of the answer to the form, or several allowed ones. */
  readonly status?: number | readonly number[] | undefined;
  /** A path in a JSON answer, as `data.id`; without `is` any value but null, false and an empty text counts. */
  readonly json?: { readonly path: string; readonly is?: string | number | boolean | undefined } | undefined;
}

/** The place where a site that refuses a form names fields: by their labels, or by the keys that they are posted under. */
export interface RefusedFields {
  /** CSS selector of visible elements: of controls, or of texts that contain a label. */
  readonly selector?: string | undefined;
  /** A path in the JSON answer, as `errors`: the keys of an object, or the texts of a list. */
  readonly json?: string | undefined;
}

/** A file that a site serves, or that replaces a file of another host. */
export interface Asset {
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** One untouched page of a form of several pages. */
export interface KnownPage {
  /** Headings above its fields besides the form's title: of the step and of groups. */
  readonly headings: readonly string[];
  /** Its fields, by label. */
  readonly fields: Readonly<Record<string, FieldKind>>;
}

/** A task and the controls of its fields, by label. */
export interface KnownTask {
  readonly task: Task;
  readonly kinds: Readonly<Record<string, FieldKind>>;
}

/** A running server of forms with its tasks. */
export interface RunningSite {
  /** Origin without a trailing slash, as `http://127.0.0.1:40123`. */
  readonly baseUrl: string;
  /** The kind's name, as `embedded`. */
  readonly name: string;
  /** All tasks of all splits, in a fixed order. */
  tasks(): readonly Task[];
  /** The file of its tasks, for messages. */
  readonly source?: string;
  /** Notes for the user before a run, such as the reason why tasks were left out. */
  readonly notes?: readonly string[];
  /** SHA-256 over the ids, fields and splits of all tasks. */
  splitHash(): string;
  /**
   * Set if its pages leave nothing in a browser that outlives the document: no cookie, no storage, no worker. Only then
   * may one context serve several episodes.
   */
  readonly stateless?: boolean;
  /** Local copies of files of other hosts, by full address; all other foreign requests are blocked. */
  readonly assets?: ReadonlyMap<string, Asset>;
  /** Other origins that its pages may speak to, as an API on another port. */
  readonly allowOrigins?: readonly string[];
  /** Playwright's storage state (cookies and local storage) that every episode begins with, for example a login. */
  readonly storageState?: Exclude<BrowserContextOptions["storageState"], string | undefined>;
  /** Number of training tasks that the oracle has to solve before a run; absent: none. */
  readonly rehearse?: number;
  /** Most episodes that are begun an hour; absent: any number. */
  readonly submissionsPerHour?: number;
  /** Limits of learning a form; absent: no form is learned. */
  readonly learn?: {
    /** Folder of the contracts. */
    readonly folder: string;
    /** Time limit of one form, in minutes. */
    readonly minutes: number;
    /** Most times that one form is sent. */
    readonly submissions: number;
    /** Paths of requests that save fields before the form is sent; a part that differs each time is `*`. */
    readonly saves: readonly string[];
    /** SHA-256 of the modules that contracts may name, by path. */
    readonly modules: Readonly<Record<string, string>>;
  };
  /** Reads the body of a request that is coded, as in base64, into what JSON holds; undefined: it is read as it is. */
  decode?(request: { readonly method: string; readonly path: string; readonly body: string }): unknown;
  /** Returns the form of a task, if the site declares it. */
  declaredForm?(task: Task): DeclaredForm;
  /** Returns each field's control, if it is known without a browser: supervised training makes its targets from it. */
  fieldKinds?(task: Task): Readonly<Record<string, FieldKind>>;
  /** Returns the pages of a task's form as they appear with its true values, if known without a browser. */
  knownPages?(task: Task): readonly KnownPage[];
  /** Returns a training task of an invented form, with its controls. */
  augmentedTask?(rng: Rng): KnownTask;
  /**
   * Resets the server before each episode; episodes are then played one at a time. An error that it throws becomes a
   * fault.
   */
  reset?(): Promise<void>;
  /** Stops the server and its connections. */
  stop(): Promise<void>;
}

/** A file in `sites/` exports one of these as `site`; the file's name is its key. */
export interface SiteKind<Options = unknown> {
  /** The options as the config gives them: strict, with defaults. */
  readonly schema: z.ZodType<Options>;
  /** Returns the splits of its tasks, if they are known without starting the site; `init` writes them. */
  splits?(options: Options): readonly Split[] | undefined;
  /** @throws UserError if the site cannot be served with these options. */
  start(options: Options): Promise<RunningSite>;
}
