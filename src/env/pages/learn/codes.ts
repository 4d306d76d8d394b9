import type { PostedPair } from "../../forms/posted.js";
import type { FieldValue, Task } from "../../site.js";
import { itemsIn, wholeOf } from "../wire.js";
import type { Attempt, Play } from "./attempt.js";
import type { LearnedField } from "./candidates.js";
import type { Person } from "./fill-in.js";

/**
 * Learns the codes of options that the first persons did not choose: one more submission shows one more option of each
 * such field, until those of all tasks are known.
 */
export async function learnCodes(
  tasks: readonly Task[],
  fields: readonly LearnedField[],
  known: readonly { person: Person; attempt: Attempt }[],
  play: Play,
  end: number,
): Promise<void> {
  const base = known[0]?.person;
  if (base === undefined) return;
  const open = new Map<LearnedField, string[]>();
  for (const field of fields) {
    const known = knownOf(field);
    if (known === undefined) continue;
    const all = new Set(
      tasks.flatMap(({ fields: { [field.label]: value } }) =>
        value === undefined || value === "" ? [] : Array.isArray(value) ? value : [String(value)],
      ),
    );
    open.set(
      field,
      [...all].filter((value) => !Object.hasOwn(known, value)),
    );
  }
  while ([...open.values()].some((values) => values.length > 0) && performance.now() < end) {
    const person: Record<string, FieldValue> = { ...base };
    const asked = [...open].flatMap(([field, values]) => {
      const value = values.shift();
      if (value === undefined) return [];
      person[field.label] = field.kind === "list" ? [value] : value;
      return [{ field, value }];
    });
    const posted = (await play(person, false))?.exchange?.posted ?? [];
    for (const { field, value } of asked) learnOne(field, value, posted, fields);
  }
}

function knownOf({ wire }: LearnedField): Readonly<Record<string, string>> | undefined {
  const notation = wire?.notation;
  return notation?.as === "codes" ? notation.codes : notation?.as === "each" ? notation.keys : undefined;
}

/** Records the code or the key of a value that was entered alone. */
function learnOne(field: LearnedField, value: string, posted: readonly PostedPair[], fields: readonly LearnedField[]) {
  const { wire } = field;
  const known = knownOf(field);
  if (wire === undefined || known === undefined) return;
  const { notation } = wire;
  const taken = new Set(fields.flatMap((other) => (other === field ? [] : (other.wire?.key ?? []))));
  const raws = posted.filter(([key]) => key === wire.key).map(([, raw]) => raw);
  const found =
    notation.as === "each"
      ? posted.filter(([key, raw]) => raw === notation.on && !taken.has(key)).map(([key]) => key)
      : wire.list === undefined
        ? wholeOf(value, raws)
        : itemsIn(raws, wire.list);
  if (found.length !== 1 || Object.values(known).includes(found[0] as string)) return;
  const all = { ...known, [value]: found[0] as string };
  if (notation.as === "codes") field.wire = { ...wire, notation: { as: "codes", codes: all } };
  if (notation.as === "each") field.wire = { ...wire, notation: { ...notation, keys: all } };
}
