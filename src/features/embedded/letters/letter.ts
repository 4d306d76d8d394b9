import type { Rng } from "../../../core/rng.js";
import type { FieldValue, Task } from "../../../env/site.js";
import { type Field, kindOf } from "../fields.js";
import { isReserved } from "../values.js";
import { GIVEN_NAMES } from "../words.js";
import { GRAMMARS, type Grammar, OTHER_WORDS, type Side, type Voice } from "./grammar.js";
import { otherNotations } from "./notation.js";

export const LEVELS = ["off", 1, 2, 3] as const;
export type LetterLevel = (typeof LEVELS)[number];
type WrittenLevel = Exclude<LetterLevel, "off">;

/** Shares of fields by level: with another name, another notation, a gap, a correction, another person, an aside. */
const SHARES: Readonly<
  Record<WrittenLevel, Readonly<Record<"name" | "notation" | "gap" | "correction" | "other" | "aside", number>>>
> = {
  1: { name: 0.15, notation: 0.15, gap: 0, correction: 0, other: 0, aside: 0 },
  2: { name: 0.8, notation: 0.75, gap: 0, correction: 0, other: 0, aside: 0 },
  3: { name: 0.8, notation: 0.75, gap: 0.25, correction: 0.3, other: 0.25, aside: 0.5 },
};

/** A part of the letter, with the place of a label's value in it. */
interface Clause {
  readonly text: string;
  readonly label?: string;
  readonly span?: readonly [start: number, end: number];
}

interface Writing {
  readonly level: WrittenLevel;
  readonly side: Side;
  readonly grammar: Grammar;
  readonly voice: Voice;
  readonly training: boolean;
  readonly rng: Rng;
}

/**
 * Adds a letter to a task, with its values and their places. A field that the letter leaves out is no longer asked for:
 * its true value is that of the untouched page. A task stays as it is where letters are off.
 */
export function withLetter(task: Task, fields: readonly Field[], level: LetterLevel, rng: Rng): Task {
  if (level === "off") return task;
  const side: Side = task.split === "heldout" ? "heldout" : "train";
  const grammar = GRAMMARS[side];
  const voice = rng.pick(level === 1 ? grammar.voices.slice(0, 2) : grammar.voices);
  const writing: Writing = { level, side, grammar, voice, training: task.split === "train", rng };
  const gaps = gapsOf(task, fields, SHARES[level].gap, rng);
  const truth = Object.fromEntries(
    fields.flatMap((field): [string, FieldValue][] => {
      const value = task.fields[field.label];
      if (value === undefined) return [];
      return [[field.label, gaps.has(field.label) ? kindOf(field).default : value]];
    }),
  );
  const described = fields.filter(({ label }) => label in truth && !gaps.has(label));
  const clauses = described.flatMap((field) => clausesOf(field, truth[field.label] as FieldValue, writing));
  if (rng.uniform() < SHARES[level].aside) clauses.push({ text: rng.pick(grammar.aside) });
  return {
    ...task,
    fields: truth,
    ...put(rng.shuffle(clauses), Object.keys(truth), voice, rng),
    choices: Object.fromEntries(
      fields.flatMap(({ label, options = [] }) =>
        options.length > 0 ? [[label, options.map(({ text }) => text)]] : [],
      ),
    ),
  };
}

/** Draws the labels to leave out: no required ones, and at least two fields to fill in remain. */
function gapsOf(task: Task, fields: readonly Field[], share: number, rng: Rng): Set<string> {
  const drawn = fields.filter(({ required }) => !required && rng.uniform() < share);
  const needed = fields.filter((field) => task.fields[field.label] !== kindOf(field).default && !drawn.includes(field));
  return new Set(needed.length < 2 ? [] : drawn.map(({ label }) => label));
}

/** Returns a field's name in a letter: its label's words, or synonyms. */
function nameOf({ label }: Field, { side, level, rng }: Writing): string {
  const words = label.toLowerCase().split(" ");
  if (rng.uniform() >= SHARES[level].name) return words.join(" ");
  return words.map((word) => OTHER_WORDS[side].labels.get(word) ?? word).join(" ");
}

function notationOf(field: Field, value: FieldValue, { level, grammar, side, rng }: Writing): string {
  if (Array.isArray(value)) return value.join(` ${grammar.and} `);
  const others = rng.uniform() < SHARES[level].notation ? otherNotations(field, value, grammar, side) : [];
  return others.length === 0 ? String(value) : level === 1 ? (others[0] as string) : rng.pick(others);
}

/** Draws another possible value of the field; undefined if 20 draws find none. */
function otherValue(field: Field, value: FieldValue, { training, rng }: Writing): FieldValue | undefined {
  for (let i = 0; i < 20; i++) {
    const other = field.source.draw(rng);
    const kept = training && field.source.combines(other) && isReserved(String(other));
    if (String(other) !== String(value) && !kept) return other;
  }
  return undefined;
}

function clausesOf(field: Field, value: FieldValue, writing: Writing): Clause[] {
  const { level, grammar, voice, rng } = writing;
  const { label } = field;
  const name = nameOf(field, writing);
  if (typeof value === "boolean") {
    const text = rng.pick(value ? voice.yes : voice.no).replace("{l}", name);
    return [{ text, label, span: [0, text.length] }];
  }
  if (Array.isArray(value) && value.length === 0) return [];
  const written = notationOf(field, value, writing);
  const share = SHARES[level];
  const other = share.other > 0 && !Array.isArray(value) ? otherValue(field, value, writing) : undefined;
  const wrong = other === undefined ? "" : notationOf(field, other, writing);
  const corrected = wrong !== "" && wrong !== written && rng.uniform() < share.correction;
  const row = rng.pick(voice.say);
  const pattern = corrected ? row.replace("{v}", rng.pick(grammar.correction)) : row;
  const clauses: Clause[] = [{ label, ...fill(pattern, { l: name, v: written, w: wrong }) }];
  if (wrong !== "" && wrong !== written && rng.uniform() < share.other) {
    const { text } = fill(rng.pick(grammar.otherPerson), { l: name, w: wrong, p: rng.pick(GIVEN_NAMES) });
    clauses.push({ text });
  }
  return clauses;
}

/** Fills in a pattern. @returns the text with the place of the value. */
function fill(pattern: string, parts: Readonly<Record<string, string>>): Required<Pick<Clause, "text" | "span">> {
  let text = "";
  let span: [number, number] = [0, 0];
  for (const [i, piece] of pattern.split(/\{([lvwp])\}/).entries()) {
    const start = text.length;
    // every second piece is a part's name
    text += i % 2 === 0 ? piece : (parts[piece] ?? "");
    if (i % 2 === 1 && piece === "v") span = [start, text.length];
  }
  return { text, span };
}

/** Joins the clauses to a letter. @returns the letter with the place of each label's value. */
function put(
  clauses: readonly Clause[],
  labels: readonly string[],
  voice: Voice,
  rng: Rng,
): Required<Pick<Task, "document" | "spans">> {
  const spans: Record<string, readonly [number, number] | null> = Object.fromEntries(
    labels.map((label) => [label, null]),
  );
  let text = rng.pick(voice.opening);
  for (const [i, clause] of clauses.entries()) {
    text += i === 0 ? " " : voice.join;
    if (clause.label !== undefined && clause.span !== undefined)
      spans[clause.label] = [text.length + clause.span[0], text.length + clause.span[1]];
    text += voice.join === ". " ? clause.text.charAt(0).toUpperCase() + clause.text.slice(1) : clause.text;
  }
  return { document: text + rng.pick(voice.closing), spans };
}
