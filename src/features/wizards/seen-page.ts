import type { Control, ReadForm } from "../../env/browser/controls.js";
import type { FieldValue, KnownPage } from "../../env/site.js";
import type { PageSigns } from "./page-signs.js";

/** The policy's view of a page. */
export interface SeenPage {
  readonly title: string;
  /** Other headings, for example the number of the step. */
  readonly headings: readonly string[];
  /** Errors from the page or the server, and other notices. */
  readonly messages: readonly string[];
  /** Controls that can be filled in now, with their values; labels are without the star of a required field. */
  readonly controls: readonly (Control & { readonly value: FieldValue })[];
  readonly buttons: readonly string[];
}

/** Most headings that are shown besides the title. */
const MOST_HEADINGS = 3;

/** Makes the policy's view of a page. @param complaint error of the last turn. */
export function seenPage(
  signs: PageSigns,
  form: Pick<ReadForm, "controls" | "buttons">,
  values: readonly FieldValue[],
  complaint: string | undefined,
): SeenPage {
  const [title = signs.title, ...headings] = signs.headings;
  const shown = [...signs.errors, ...signs.notices];
  const messages =
    complaint === undefined || shown.some((text) => complaint.includes(text)) ? shown : [complaint, ...shown];
  return {
    title,
    headings: headings.slice(0, MOST_HEADINGS),
    messages: [...new Set(messages)],
    controls: form.controls.flatMap((control, i) =>
      control.present
        ? [{ ...control, label: control.label.replace(/[\s*:]+$/, ""), value: values[i] ?? control.default }]
        : [],
    ),
    buttons: form.buttons.map(({ label }) => label),
  };
}

/** Makes the view of an untouched page from its description, as a browser would show it. */
export function knownPage(title: string, { headings, fields }: KnownPage): SeenPage {
  return {
    title,
    headings: headings.slice(0, MOST_HEADINGS),
    messages: [],
    controls: Object.entries(fields).map(
      ([label, { kind, default: preset, options = [], required = false }], index) => ({
        index,
        kind,
        widget: "native",
        label,
        name: "",
        required,
        default: preset,
        value: preset,
        // an empty list begins with an entry that is not a choice
        options: options.map((text, i) => ({ text, value: kind === "select" && preset === "" && i === 0 ? "" : text })),
        present: true,
      }),
    ),
    buttons: [],
  };
}
