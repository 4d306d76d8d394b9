import { z } from "zod";
import type { RefusedFields, Sign } from "../site.js";
import type { Kind } from "./values.js";

const raw = z.string().max(8192);
/** Notation of a value in the request. */
const notation = z.discriminatedUnion("as", [
  z.strictObject({ as: z.enum(["same", "html", "loose"]) }),
  /** The digits of a phone number, if need be behind a country code. */
  z.strictObject({ as: z.literal("digits"), prefix: raw.optional() }),
  /** A text made of the value: `lower`, `upper`, or its words joined. */
  z.strictObject({ as: z.literal("slug"), by: z.enum(["lower", "upper", "-", "_", "", "camel"]) }),
  z.strictObject({ as: z.literal("number"), times: z.number() }),
  /** A day, a time of day or both, in any unambiguous notation. */
  z.strictObject({ as: z.enum(["day", "time", "moment"]) }),
  z.strictObject({ as: z.literal("pattern"), pattern: z.string().max(100) }),
  z.strictObject({ as: z.literal("seconds"), times: z.number() }),
  z.strictObject({ as: z.literal("flag"), on: raw, off: raw.nullable() }),
  z.strictObject({ as: z.literal("codes"), codes: z.record(z.string(), raw) }),
  /** Each item of a list under a key of its own, which says whether it is chosen. */
  z.strictObject({ as: z.literal("each"), keys: z.record(z.string(), raw), on: raw, off: raw.nullable() }),
  /** Part of a longer text: `{First name} {Last name}`. */
  z.strictObject({ as: z.literal("part"), of: raw }),
  /** A text over several keys, one part each: a postcode in two boxes. */
  z.strictObject({ as: z.literal("pieces"), keys: z.array(raw).min(2), between: raw }),
  /** The first and the last day under keys of their own. */
  z.strictObject({ as: z.literal("ends"), from: raw, to: raw }),
  /** The day's parts under keys of their own. */
  z.strictObject({ as: z.literal("parts"), year: raw, month: raw, day: raw }),
]);
export type Notation = z.output<typeof notation>;

export const wire = z.strictObject({
  /** A form key, or a path of JSON: `order.customer`. */
  key: z.string().max(8192),
  notation,
  /** Index among the texts of the key, from 0, if several labels share it. */
  nth: z.int().min(0).optional(),
  /** Separator of a list's items; each item is written in the notation. */
  list: z.enum(["repeated", ",", ";", "|", "\n"]).optional(),
});
export type Wire = z.output<typeof wire>;

/** Schema of a sign. */
export const sign = z
  .strictObject({
    url: z.string().min(1).max(2000).optional(),
    text: z.string().min(1).max(2000).optional(),
    selector: z.string().min(1).max(2000).optional(),
    status: z.union([z.int().min(100).max(599), z.array(z.int().min(100).max(599)).min(1).readonly()]).optional(),
    json: z
      .strictObject({
        path: z.string().min(1).max(500),
        is: z.union([z.string().max(2000), z.number(), z.boolean()]).optional(),
      })
      .optional(),
  })
  .refine((given) => Object.keys(given).length > 0, "is empty: give url, text, selector, status or json");

/** Schema of the place where a site that refuses a form names the fields that it refuses. */
export const refused = z
  .strictObject({
    selector: z.string().min(1).max(2000).optional(),
    json: z.string().min(1).max(500).optional(),
  })
  .refine((given) => Object.keys(given).length > 0, "is empty: give selector or json");

/**
 * Signs that a site took a form, that it refused one, and the place where it names refused fields: keys of tasks, of
 * contracts and of a site's config.
 */
export const acceptance = { success: sign.optional(), refusal: sign.optional(), refused: refused.optional() };

/** A declared acceptance. */
export interface Acceptance {
  readonly success?: Sign | undefined;
  readonly refusal?: Sign | undefined;
  readonly refused?: RefusedFields | undefined;
}

/** What is known of a form: its request, what a page saves before it, and how it is accepted. */
export interface Answers extends Acceptance {
  readonly request?: { readonly method: string; readonly path: string } | undefined;
  /** Paths of requests that save fields before the form is sent; a part that differs each time is `*`. */
  readonly saves?: readonly string[] | undefined;
}

/** A form that is known: how each of its values is written in its request, and which answers accept it. */
export interface Contract extends Answers {
  readonly fields: Readonly<Record<string, { readonly kind: Kind; readonly wire?: Wire | undefined }>>;
}

/** Returns the declared acceptance of a task's form: the task's own, else its contract's. */
export function acceptanceOf(task: Acceptance, contract: Acceptance | undefined): Acceptance {
  const { success, refusal } = task.success === undefined ? (contract ?? {}) : task;
  return { success, refusal, refused: task.refused ?? contract?.refused };
}
