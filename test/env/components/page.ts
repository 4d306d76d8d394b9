/** A field's value as a tasks file writes it. */
export type Value = string | number | boolean | readonly string[];
/** The values of one person by visible label. */
export type Person = Readonly<Record<string, Value>>;

/**
 * The place of a field in what the server receives: a form key or a path as `guest.name`, and the notation on the
 * wire where it differs from the value: a table (of each item, for a list) or a function.
 */
export type Wire =
  | string
  | readonly [path: string, notation: Readonly<Record<string, unknown>> | ((value: never) => unknown)];

/** An answer of the server; the page is shown again where there is no body and no address to go to. */
export interface Reply {
  readonly status: number;
  readonly location?: string;
  readonly json?: unknown;
  readonly html?: string;
  /** shown above the form, which is shown again */
  readonly notice?: string;
}

export interface Post {
  /** path of the page, as `/react/mui-order` */
  readonly page: string;
  readonly accepted: boolean;
  /** labels that are required and did not arrive */
  readonly missing: readonly string[];
}

/** A form built with component libraries; its source is `sources/<id>.*`. */
export interface ComponentPage {
  readonly id: string;
  readonly title: string;
  /** npm packages whose controls stand on the page */
  readonly libraries: readonly string[];
  readonly people: readonly Person[];
  readonly wire: Readonly<Record<string, Wire>>;
  /** labels without whose values the server refuses */
  readonly required: readonly string[];
  readonly answer: (post: Post) => Reply;
  /** suggestions that the page asks the server for */
  readonly lookup?: readonly string[];
  /** name of the button that sends */
  readonly send: string;
}

/** Turns columns of values into one record a person. */
export function people(columns: Readonly<Record<string, readonly Value[]>>): Person[] {
  const count = Math.max(...Object.values(columns).map((column) => column.length));
  return Array.from({ length: count }, (_, i) =>
    Object.fromEntries(
      Object.entries(columns).map(([label, column]) => {
        const value = column[i];
        if (value === undefined) throw new Error(`${label} has ${column.length} values, expected ${count}`);
        return [label, value];
      }),
    ),
  );
}

export const NAMES = ["Ann Lee", "Bo Fernandez", "Chidi Okoro"];

/** An answer by address: a page of thanks, or the form again with a notice. */
export const redirect =
  (notice: string) =>
  ({ page, accepted }: Post): Reply =>
    accepted ? { status: 303, location: `${page}/thanks` } : { status: 200, notice };

/** An answer that leads back to the form, which then shows a flash message. */
export const flash =
  (thanks: string, notice: string) =>
  ({ page, accepted }: Post): Reply => ({
    status: 303,
    location: `${page}?flash=${encodeURIComponent(accepted ? thanks : notice)}`,
  });

/** JSON with a status that tells: 201, or 422 with the labels that are missing. */
export const byStatus =
  (body: unknown = { id: 4711 }) =>
  ({ accepted, missing }: Post): Reply =>
    accepted
      ? { status: 201, json: body }
      : { status: 422, json: { errors: Object.fromEntries(missing.map((label) => [label, ["is required"]])) } };

/** JSON with status 200 either way. */
export const byFlag =
  (yes: unknown, no: unknown) =>
  ({ accepted }: Post): Reply => ({ status: 200, json: accepted ? yes : no });

/** Writes 2024-03-05 by a pattern of `YYYY`, `MM`, `DD`, `M`, `D` and `MMM`, `MMMM` (English). */
export function day(iso: string, pattern: string): string {
  const [y = "", m = "", d = ""] = iso.split("-");
  const month = new Date(`${iso}T00:00:00Z`).toLocaleString("en-US", { month: "long", timeZone: "UTC" });
  const parts: Record<string, string> = {
    YYYY: y,
    MMMM: month,
    MMM: month.slice(0, 3),
    MM: m,
    M: String(+m),
    DD: d,
    D: String(+d),
  };
  return pattern.replace(/YYYY|MMMM|MMM|MM|M|DD|D/g, (part) => parts[part] ?? part);
}
