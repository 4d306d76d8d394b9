import { isDeepStrictEqual } from "node:util";
import { stringify } from "yaml";
import { z } from "zod";
import { parseYaml } from "../../config/yaml.js";
import { fail } from "../../core/errors.js";
import { checked, type LineOf, listed } from "../../core/problems.js";
import { acceptance, wire } from "../../env/forms/contract.js";
import { KINDS } from "../../env/forms/values.js";

/** Keys that leave a text. */
export const KEYS = ["Tab", "Enter"] as const;

const place = z.strictObject({
  /** `label=Name`, `field="Name"` or any selector of Playwright that is public: its engines `internal:` may run code. */
  locator: z
    .string()
    .min(1)
    .max(2000)
    .refine(
      (text) => !/(^|>>|\s)\s*internal:/.test(text),
      "is an internal selector of Playwright: take label=, css= or role=",
    ),
  nth: z.int().min(0).default(0),
});
export type PlaceOf = z.output<typeof place>;

/** A variant of a way: what it operates or types, and how it ends. A way uses the keys that its own variants have. */
const variant = z.strictObject(
  {
    /** The part that is operated, or the manner, as a word that the way defines: `button`, `slowly`. */
    by: z.string().optional(),
    /** The notations in which a day and a time of day are typed. */
    day: z.string().optional(),
    time: z.string().optional(),
    /** The order of a day's parts. */
    order: z.array(z.enum(["day", "month", "year"])).optional(),
    /** The text between two parts of a value. */
    between: z.string().optional(),
    /** The number that a slider begins with. */
    from: z.number().optional(),
    /** Set if a list is opened for each item. */
    each: z.literal(true).optional(),
    /** The key that leaves a text. */
    key: z.enum(KEYS).optional(),
    /** Set if a button confirms the value. */
    confirm: z.literal(true).optional(),
  },
  {
    error: ({ code }) =>
      code === "invalid_type"
        ? "expected parts, as {by: button, confirm: true}; older versions wrote a text"
        : undefined,
  },
);
export type Variant = z.output<typeof variant>;

const step = z.string().max(4000);
/** Steps of a recorded field: Playwright statements without `await page.`, with places for the value. */
const action = z.union([
  step,
  z.strictObject({ do: step, times: z.string(), back: step.optional() }),
  z.strictObject({ do: step, until: z.string() }),
  z.strictObject({ each: z.array(step).min(1), between: z.array(step).default([]) }),
  z.strictObject({ cases: z.record(z.string(), z.array(step)) }),
]);
export type Action = z.output<typeof action>;
/** Stands for a way in the fields that are operated by recorded steps. */
export const RECORDED = "recorded";

const field = z.strictObject({
  ...place.shape,
  locator: place.shape.locator.default("css=body"),
  /** A file of `ways/`, or the path of a module. */
  way: z.string().min(1),
  variant: variant.default({}),
  /** The recorded steps that enter the value, for `way: recorded`. */
  actions: z.array(action).readonly().optional(),
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
  /** Set if people have shown how the form is filled in. */
  recorded: z.literal(true).optional(),
  fields: z.record(z.string(), field),
  /** Buttons that lead on to the next part of the form. */
  steps: z.array(place).default([]),
  submit: place.optional(),
  /** Buttons of confirmation windows before the form is sent. */
  confirm: z.array(place).default([]),
  request: z.strictObject({ method: z.string(), path: z.string() }).optional(),
  /** Paths of requests that save fields before the form is sent, as `/draft/*`: declared, never found. */
  saves: z.array(z.string()).optional(),
  /** Time that the form took to send, in milliseconds. */
  sends_within_ms: z.number().min(0).max(600_000).default(1000),
  ...acceptance,
  /** Labels without a proved key, with the reason: they score nothing until one is declared by hand. */
  not_proved: z.record(z.string(), z.string()).default({}),
});
const schema = shape.superRefine(({ request, submit, fields, steps }, { addIssue }) => {
  const refuse = (path: string[], message: string): void => addIssue({ code: "custom", path, message });
  if (request !== undefined && submit === undefined) refuse(["request"], "there is no submit button that sends it");
  for (const [label, { way, actions }] of Object.entries(fields))
    if ((way === RECORDED) !== (actions !== undefined))
      refuse(["fields", label, "actions"], `the way ${RECORDED} has them, and no other`);
  for (const [label, { step }] of Object.entries(fields))
    if (step > steps.length)
      refuse(["fields", label, "step"], `the form has ${steps.length + 1} parts, numbered from 0 (steps)`);
});
/** A learned form: how each field is operated, where its value stands in the request, which answers accept it. */
export type Contract = z.output<typeof schema>;

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
