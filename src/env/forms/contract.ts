import { z } from "zod";
import type { Kind } from "./values.js";

const raw = z.string().max(8192);
/** Notation of a value in the request. */
const notation = z.discriminatedUnion("as", [
  z.strictObject({ as: z.enum(["same", "html", "loose"]) }),
  /** The digits of a phone number, if need be behind a country code. */
  z.strictObject({ as: z.literal("digits"), prefix: raw.optional() }),
  /** A text made of the value: `lower`, `upper`, or its words joined. */
  z.strictObject({ as: z.literal("slug"), by: z.enum(["lower", "upper", "-", "_", "", "camel", "first"]) }),
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

/** Features by which the request of a form is recognised, and an accepted form separated from a refused one. */
export interface Answers {
  readonly request?: { readonly method: string; readonly path: string } | undefined;
  readonly accepted: readonly string[];
  readonly refused: readonly string[];
  /** Paths of requests that save fields before the form is sent; a part that differs each time is `*`. */
  readonly saves?: readonly string[] | undefined;
}

/** A form that is known: how each of its values is written in its request, and which answers accept it. */
export interface Contract extends Answers {
  readonly fields: Readonly<Record<string, { readonly kind: Kind; readonly wire?: Wire | undefined }>>;
}
