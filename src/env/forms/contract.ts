import { isDeepStrictEqual } from "node:util";
import { stringify } from "yaml";
import { z } from "zod";
import { fail } from "../../core/errors.js";
import { checked, type LineOf, listed } from "../../core/problems.js";
import { parseYaml } from "../../core/yaml.js";
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

const shape = z.strictObject({
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
  /** Pause before the form is sent, in milliseconds: some pages take a value over late. */
  rests_ms: z.number().min(0).max(10_000).default(0),
  /** Time that the form took to send, in milliseconds. */
  sends_within_ms: z.number().min(0).max(600_000).default(1000),
  /** Features of answers to an accepted form, and of those to a refused one. */
  accepted: z.array(z.string()).default([]),
  refused: z.array(z.string()).default([]),
  /** Set if no refused answer was ever seen: a rule that only the server knows may refuse unnoticed. */
  no_refusal: z.boolean().default(false),
  /** Labels that could not be learned, with the tries. */
  not_learned: z.record(z.string(), z.string()).default({}),
});
const schema = shape.superRefine(({ request, submit, fields, steps }, { addIssue }) => {
  const refuse = (path: string[], message: string): void => addIssue({ code: "custom", path, message });
  if (request !== undefined && submit === undefined) refuse(["request"], "there is no submit button that sends it");
  for (const [label, { step }] of Object.entries(fields))
    if (step > steps.length)
      refuse(["fields", label, "step"], `the form has ${steps.length + 1} parts, numbered from 0 (steps)`);
});
/** A learned form: how each field is operated, where its value stands in the request, which answers accept it. */
export type Contract = z.output<typeof schema>;

/** The part of a contract that identifies the form's request, and tells an accepted form from a refused one. */
export interface Answers {
  readonly request?: Contract["request"];
  readonly accepted: readonly string[];
  readonly refused: readonly string[];
}

/** A contract and the file that holds it. */
export interface ContractFile {
  readonly contract: Contract;
  readonly file: string;
  readonly line: LineOf;
}

const NEXT = {
  hint: "`refusion-train learn` learns the form again and sets this file aside; docs/contracts.md says what stands in it.",
};

/** Refuses a contract's file. @param problems each with its line. @throws UserError with all of them. */
export const refuseContract = (file: string, problems: readonly string[], next = NEXT): never =>
  fail(`${file} is no contract:${listed(problems)}`, next);

/** Parses a contract's file. @throws UserError with the line of every problem. */
export function openContract(text: string, file: string): ContractFile {
  const { tree, faults, line } = parseYaml(text);
  if (faults.length > 0) refuseContract(file, faults);
  return { contract: checked(schema, tree, `${file} is no contract`, NEXT, line), file, line };
}

/** Parses a contract. @throws UserError as `openContract`. */
export const readContract = (text: string, file: string): Contract => openContract(text, file).contract;

/** Writes a contract as YAML, without default values. */
export function writeContract(contract: Contract): string {
  const fields = Object.entries(contract.fields).map(([label, one]) => [label, withoutDefaults(field, one)]);
  return stringify(withoutDefaults(shape, { ...contract, fields: Object.fromEntries(fields) }), { lineWidth: 120 });
}

/** Leaves out the values that a schema adds by itself. */
function withoutDefaults({ shape }: z.ZodObject, value: object): object {
  const isDefault = (key: string, given: unknown): boolean =>
    shape[key] instanceof z.ZodDefault && isDeepStrictEqual(shape[key].def.defaultValue, given);
  return Object.fromEntries(Object.entries(value).filter(([key, given]) => !isDefault(key, given)));
}
