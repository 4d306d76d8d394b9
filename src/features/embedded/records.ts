import { fail } from "../../core/errors.js";
import { Rng } from "../../core/rng.js";
import type { Split } from "../../env/environment.js";
import { recordSplit } from "../../env/forms/split-hash.js";
import type { FieldValue, Tier } from "../../env/site.js";
import type { Field } from "./fields.js";
import { type Form, fieldsOf } from "./form.js";
import { isReserved } from "./values.js";

/** The true values of one form by label, in page order. */
export type FormRecord = Readonly<Record<string, FieldValue>>;

/** Pairs of fields whose values make one combination. */
const COUPLES: ReadonlyMap<string, string> = new Map([
  ["given", "family"],
  ["street", "city"],
]);

/**
 * Lists the combinations in a record: full names, streets with their city, dates, numbers from 20 on ... About 20 % of
 * all combinations are reserved (`isReserved`): no training record contains one, whatever the seed.
 */
export function combinationsOf(fields: readonly Field[], record: FormRecord): string[] {
  const found: string[] = [];
  for (const [i, field] of fields.entries()) {
    const value = record[field.label];
    if (value === undefined) continue;
    if (field.source.combines(value)) found.push(String(value));
    const mate = fields.slice(i + 1).find((other) => other.source.name === COUPLES.get(field.source.name));
    if (mate !== undefined) found.push(`${value} ${record[mate.label]}`);
  }
  return found;
}

/** Draws one record of these fields; `training` keeps reserved combinations out. */
export function drawRecord(fields: readonly Field[], rng: Rng, training: boolean): FormRecord {
  // drawing value by value soon finds a record without reserved combinations, even for a form with many fields
  for (;;) {
    const record: Record<string, FieldValue> = {};
    for (const field of fields) {
      let value = field.source.draw(rng);
      while (training && field.source.combines(value) && isReserved(String(value))) value = field.source.draw(rng);
      record[field.label] = value;
    }
    if (!training || !combinationsOf(fields, record).some(isReserved)) return record;
  }
}

const splitOf = (form: Form, tier: Tier, record: FormRecord): Split =>
  recordSplit(`split/${tier}/${form.id}/${JSON.stringify(record)}`);

/**
 * Draws `count` different records of one form for one split.
 * @param trim drops the values that are not asked for: records are compared, and split, by the others.
 * @throws UserError if the form has too few different records.
 */
export function recordsOf(
  form: Form,
  tier: Tier,
  split: Split,
  count: number,
  seed: number,
  trim: (record: FormRecord) => FormRecord = (record) => record,
): FormRecord[] {
  const rng = Rng.named(seed, `embedded/${tier}/${form.id}/${split}`);
  const fields = fieldsOf(form, tier);
  const seen = new Set<string>();
  const records: FormRecord[] = [];
  for (let misses = 0; records.length < count; misses++) {
    if (misses > 500) {
      fail(`embedded site: ${count} ${split} records of ${form.id} (${tier}) wanted, found ${records.length}`, {
        hint: `Ask for fewer records: sizes.${split}`,
      });
    }
    const record = trim(drawRecord(fields, rng, split === "train"));
    const key = JSON.stringify(record);
    if (seen.has(key) || (split !== "heldout" && splitOf(form, tier, record) !== split)) continue;
    seen.add(key);
    records.push(record);
    misses = 0;
  }
  return records;
}
