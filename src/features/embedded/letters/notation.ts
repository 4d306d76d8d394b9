import type { FieldValue } from "../../../env/site.js";
import type { Field } from "../fields.js";
import { type Grammar, OTHER_WORDS, type Side } from "./grammar.js";

const MONTHS = "January February March April May June July August September October November December".split(" ");
const ONES =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const DOZENS: Readonly<Record<number, string>> = { 2: "a couple", 6: "half a dozen", 12: "a dozen", 24: "two dozen" };

/** Writes a whole number from 0 to 99 in words; undefined for any other number. */
export function inWords(n: number): string | undefined {
  if (!Number.isInteger(n) || n < 0 || n > 99) return undefined;
  return n < 20 ? ONES[n] : `${TENS[Math.floor(n / 10) - 2]}${n % 10 === 0 ? "" : `-${ONES[n % 10]}`}`;
}

function ordinal(n: number): string {
  const ending = n > 10 && n < 14 ? undefined : ["", "st", "nd", "rd"][n % 10];
  return `${n}${ending || "th"}`;
}

/** Returns the parts of a value that notations of its kind may name. */
function partsOf(kind: Field["kind"], value: FieldValue): Readonly<Record<string, string>> {
  const text = String(value);
  if (kind === "date") {
    const [y = "", mm = "", dd = ""] = text.split("-");
    const month = MONTHS[Number(mm) - 1] ?? "";
    const [d, m] = [String(Number(dd)), String(Number(mm))];
    return { y, mm, dd, d, m, month, mon: month.slice(0, 3), ord: ordinal(Number(dd)) };
  }
  if (kind === "time") {
    const [h24 = "", mm = ""] = text.split(":");
    const hour = Number(h24);
    const ap = hour < 12 ? "am" : "pm";
    const [now, next] = [inWords(hour % 12 || 12), inWords((hour + 1) % 12 || 12)];
    const spoken: Record<string, string> = {
      "00": `${now} o'clock ${ap}`,
      "15": `quarter past ${now} ${ap}`,
      "30": `half past ${now} ${ap}`,
      // "am" or "pm" belongs to the named hour, which is the next one
      "45": `quarter to ${next} ${(hour + 1) % 24 < 12 ? "am" : "pm"}`,
    };
    return { h: String(hour % 12 || 12), h24, mm, ap, ...(spoken[mm] === undefined ? {} : { past: spoken[mm] }) };
  }
  if (kind === "tel") {
    const [a = "", b = ""] = text.split(" ");
    return { a, b, a1: a.slice(0, 2), a2: a.slice(2), b1: b.slice(0, 2), b2: b.slice(2) };
  }
  if (kind === "email") {
    const [user = "", host = ""] = text.split("@");
    return { user, host };
  }
  const words = kind === "number" ? inWords(Number(value)) : undefined;
  const dozen = kind === "number" ? DOZENS[Number(value)] : undefined;
  return { ...(words === undefined ? {} : { words }), ...(dozen === undefined ? {} : { dozen }) };
}

/** Lists other notations of a value that people use but the control does not take. */
export function otherNotations(field: Field, value: FieldValue, grammar: Grammar, side: Side): string[] {
  if (field.options !== undefined && !Array.isArray(value)) {
    const other = OTHER_WORDS[side].options.get(String(value));
    return other === undefined ? [] : [other];
  }
  const parts = partsOf(field.kind, value);
  const { kind } = field;
  const rows =
    kind === "date" || kind === "time" || kind === "tel" || kind === "email" || kind === "number" ? grammar[kind] : [];
  return rows.flatMap((row) => {
    const names = [...row.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);
    return names.every((name) => name in parts)
      ? [row.replace(/\{(\w+)\}/g, (_, name: string) => parts[name] ?? "")]
      : [];
  });
}
