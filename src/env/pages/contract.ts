import { isDeepStrictEqual } from "node:util";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { checked } from "../../core/problems.js";
import { KINDS } from "./values.js";

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
  /** The first and the last day under keys of their own. */
  z.strictObject({ as: z.literal("ends"), from: raw, to: raw }),
  /** The day's parts under keys of their own. */
  z.strictObject({ as: z.literal("parts"), year: raw, month: raw, day: raw }),
]);
export type Notation = z.output<typeof notation>;

const wire = z.strictObject({
  /** A form key, or a path of JSON: `order.customer`. */
  key: z.string().max(8192),
  notation,
  /** Separator of a list's items; each item is written in the notation. */
  list: z.enum(["repeated", ",", ";", "|", "\n"]).optional(),
});
export type Wire = z.output<typeof wire>;

const place = z.strictObject({
  /** `label=Name`, `field="Name"` or any selector of Playwright. */
  locator: z.string().min(1).max(2000),
  nth: z.int().min(0).default(0),
});
export type PlaceOf = z.output<typeof place>;

const field = z.strictObject({
  ...place.shape,
  /** A file of `ways/`, or the path of a module. */
  way: z.string().min(1),
  variant: z.string().default(""),
  kind: z.enum(KINDS),
  /** Number of the form's part that shows the field, from 0. */
  step: z.int().min(0).default(0),
  default: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).default(""),
  wire: wire.optional(),
  /** Set if it was written by hand: it is kept when the form is learned again. */
  hand: z.boolean().default(false),
});
export type ContractField = z.output<typeof field>;

const schema = z.strictObject({
  form: z.string(),
  url: z.string(),
  /** Hash of the page's structure when it was learned. */
  page: z.string(),
  fields: z.record(z.string(), field),
  /** Buttons that lead on to the next part of the form. */
  steps: z.array(place).default([]),
  submit: place.optional(),
  /** Buttons of confirmation windows before the form is sent. */
  confirm: z.array(place).default([]),
  request: z.strictObject({ method: z.string(), path: z.string() }).optional(),
  /** Time that the form took to send, in milliseconds. */
  sends_within_ms: z.number().default(1000),
  /** Features of answers to an accepted form, and of those to a refused one. */
  accepted: z.array(z.string()).default([]),
  refused: z.array(z.string()).default([]),
  /** Labels that could not be learned, with the tries. */
  not_learned: z.record(z.string(), z.string()).default({}),
});
/** A learned form: how each field is operated, where its value stands in the request, which answers accept it. */
export type Contract = z.output<typeof schema>;

/** The part of a contract that identifies the form's request, and tells an accepted form from a refused one. */
export interface Answers {
  readonly request?: Contract["request"];
  readonly accepted: readonly string[];
  readonly refused: readonly string[];
}

/** Parses a contract. @throws UserError if the text is not a contract. */
export const readContract = (text: string, file: string): Contract =>
  checked(schema, parse(text), `${file} is no contract`, {
    hint: "refusion-train learn writes one; docs/contracts.md says what stands in it.",
  });

/** Writes a contract as YAML, without default values. */
export function writeContract(contract: Contract): string {
  const fields = Object.entries(contract.fields).map(([label, one]) => [label, withoutDefaults(field, one)]);
  return stringify(withoutDefaults(schema, { ...contract, fields: Object.fromEntries(fields) }), { lineWidth: 120 });
}

/** Leaves out the values that a schema adds by itself. */
function withoutDefaults({ shape }: z.ZodObject, value: object): object {
  const isDefault = (key: string, given: unknown): boolean =>
    shape[key] instanceof z.ZodDefault && isDeepStrictEqual(shape[key].def.defaultValue, given);
  return Object.fromEntries(Object.entries(value).filter(([key, given]) => !isDefault(key, given)));
}
