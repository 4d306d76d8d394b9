import { itemsIn, wholeOf } from "../../../env/forms/wire.js";
import type { FieldValue, Task } from "../../../env/site.js";
import type { Play, Submitted } from "./attempt.js";
import type { LearnedField } from "./candidates.js";
import { codeOf, isOthers, type Options } from "./offered-options.js";

/** Lists the values of a field in tasks whose codes are not known. */
function openValues(field: LearnedField, tasks: readonly Task[]): string[] {
  const known = knownOf(field);
  if (known === undefined) return [];
  const values = tasks.flatMap(({ fields: { [field.label]: value } }) =>
    value === undefined || value === "" ? [] : Array.isArray(value) ? value : [String(value)],
  );
  return [...new Set(values)].filter((value) => !Object.hasOwn(known, value));
}

/**
 * Learns the codes of options that the first persons did not choose: from the page's own options where these agree with
 * the known codes, else from one more submission each, of a person who chooses them.
 */
export async function learnCodes(
  tasks: readonly Task[],
  fields: readonly LearnedField[],
  known: readonly Submitted[],
  play: Play,
): Promise<void> {
  const seen = [...known];
  const tried = new Set<string>();
  for (;;) {
    for (const field of fields) readOptions(field, openValues(field, tasks), seen);
    const open = fields.flatMap((field) => openValues(field, tasks).map((value) => ({ field, value })));
    const next = open.find(({ field, value }) => !tried.has(JSON.stringify([field.label, value])));
    if (next === undefined) return;
    const holds = ({ fields: of }: Task, { field, value }: typeof next): boolean =>
      [of[field.label]].flat().map(String).includes(value);
    const { fields: person } = tasks.find((task) => holds(task, next)) as Task;
    const own = open.filter((one) => holds({ fields: person } as Task, one));
    const shown: Record<string, FieldValue> = { ...person };
    // an item of a list is entered alone
    for (const { field, value } of own) if (field.kind === "list") shown[field.label] = [value];
    for (const { field, value } of own) {
      const isAlone = field.kind !== "list" || String(shown[field.label]) === value;
      if (isAlone) tried.add(JSON.stringify([field.label, value]));
    }
    const attempt = await play(shown, false);
    if (attempt === undefined) return;
    seen.push({ person: shown, attempt });
    for (const field of fields) learnOne(field, { person: shown, attempt }, fields);
  }
}

/** Tells whether pages offered all known codes of a field as the values of its options, or it has none. */
export function isOffered({ wire, label }: LearnedField, seen: readonly Submitted[]): boolean {
  const offered = offeredTo(label, seen);
  return (
    wire?.notation.as !== "codes" ||
    Object.entries(wire.notation.codes).every(([text, code]) => codeOf(offered, text) === code)
  );
}

const offeredTo = (label: string, seen: readonly Submitted[]): Options =>
  seen.flatMap(({ attempt }) => attempt.options[label] ?? []);

/** Takes codes from the options that pages offered, if all known codes of the field are among them. */
function readOptions(field: LearnedField, open: readonly string[], seen: readonly Submitted[]): void {
  const { wire } = field;
  if (wire?.notation.as !== "codes" || open.length === 0 || !isOffered(field, seen)) return;
  const codes = { ...wire.notation.codes };
  for (const value of open) {
    const code = codeOf(offeredTo(field.label, seen), value);
    if (code !== undefined && code !== "" && !Object.values(codes).includes(code)) codes[value] = code;
  }
  field.wire = { ...wire, notation: { as: "codes", codes } };
}

function knownOf({ wire }: LearnedField): Readonly<Record<string, string>> | undefined {
  const notation = wire?.notation;
  return notation?.as === "codes" ? notation.codes : notation?.as === "each" ? notation.keys : undefined;
}

/** Records the code or the key of a value that an attempt entered alone. */
export function learnOne(field: LearnedField, { person, attempt }: Submitted, fields: readonly LearnedField[]): void {
  const { wire, label } = field;
  const known = knownOf(field);
  const value = [person[label] ?? []].flat();
  const posted = attempt.exchange?.posted ?? [];
  if (wire === undefined || known === undefined || value.length !== 1 || attempt.failed.includes(label)) return;
  const text = String(value[0]);
  if (text === "" || Object.hasOwn(known, text)) return;
  const { notation } = wire;
  const taken = new Set(fields.flatMap((other) => (other === field ? [] : (other.wire?.key ?? []))));
  const raws = posted.filter(([key]) => key === wire.key).map(([, raw]) => raw);
  const found =
    notation.as === "each"
      ? posted.filter(([key, raw]) => raw === notation.on && !taken.has(key)).map(([key]) => key)
      : wire.list === undefined
        ? wholeOf(text, raws)
        : itemsIn(raws, wire.list);
  const code = found[0] as string;
  if (found.length !== 1 || Object.values(known).includes(code)) return;
  if (notation.as === "codes" && isOthers(attempt.options[label] ?? [], text, code)) return;
  const all = { ...known, [text]: code };
  if (notation.as === "codes") field.wire = { ...wire, notation: { as: "codes", codes: all } };
  if (notation.as === "each") field.wire = { ...wire, notation: { ...notation, keys: all } };
}

/** Tells whether the codes of a person's value are known. */
export function isCoded(field: LearnedField, value: FieldValue): boolean {
  const known = knownOf(field);
  return known === undefined || [value].flat().every((item) => item === "" || Object.hasOwn(known, String(item)));
}
