import type { Rng } from "../../core/rng.js";
import { fraction } from "../../env/forms/split-hash.js";
import type { FieldValue } from "../../env/site.js";
import {
  ADJECTIVES,
  CITIES,
  FAMILY_NAMES,
  GIVEN_NAMES,
  MAIL_HOSTS,
  NOUNS,
  STREET_ENDINGS,
  STREET_NAMES,
  TRADES,
} from "./words.js";

/** Source of a field's true values. */
export interface Source {
  /** Name of the sort of values: sources with the same name draw the same sort. */
  readonly name: string;
  draw(rng: Rng): FieldValue;
  /** Tells whether a value combines parts, so that a combination can be kept out of training, but not its parts. */
  combines(value: FieldValue): boolean;
}

const source = (name: string, draw: (rng: Rng) => FieldValue, combines: boolean): Source => ({
  name,
  draw,
  combines: () => combines,
});

const two = (n: number): string => String(n).padStart(2, "0");
const digits = (rng: Rng, pairs: number): string => Array.from({ length: pairs }, () => two(rng.int(100))).join("");
const slug = (text: string): string => text.toLowerCase();
const road = (rng: Rng): string => `${rng.pick(STREET_NAMES)} ${rng.pick(STREET_ENDINGS)}`;

export const person = source("person", (rng) => `${rng.pick(GIVEN_NAMES)} ${rng.pick(FAMILY_NAMES)}`, true);
export const yesNo = source("yesNo", (rng) => rng.uniform() < 0.6, false);
export const alwaysYes = source("alwaysYes", () => true, false);

/** Draws days in the years `from` to `to`, both included; no month's 29th to 31st. */
export function day(from = 2026, to = 2027): Source {
  return source(
    "day",
    (rng) => `${from + rng.int(to - from + 1)}-${two(1 + rng.int(12))}-${two(1 + rng.int(28))}`,
    true,
  );
}

/** Draws `min`, `min + step`, ... up to `max`. Numbers below 20 are never reserved, as too many fields use them. */
export function numbers(min: number, max: number, step = 1): Source {
  const count = Math.floor((max - min) / step + 1e-9) + 1;
  const decimals = String(step).split(".")[1]?.length ?? 0;
  return {
    name: "number",
    draw: (rng) => Number((min + step * rng.int(count)).toFixed(decimals)),
    combines: (value) => Number(value) >= 20,
  };
}

/** Draws one of the texts. */
export const oneOf = (texts: readonly string[]): Source => source("option", (rng) => rng.pick(texts), false);

/** Draws one or more of the texts, in their order. */
export function someOf(texts: readonly string[]): Source {
  return source(
    "options",
    (rng) => {
      const sure = rng.int(texts.length);
      return texts.filter((_, i) => i === sure || rng.uniform() < 0.4);
    },
    false,
  );
}

/** Draws file names with this extension. */
export const fileName = (extension: string): Source =>
  source("file", (rng) => `${slug(rng.pick(NOUNS))}-${two(1 + rng.int(99))}.${extension}`, true);

const SENTENCES: readonly ((rng: Rng) => string)[] = [
  (rng) => `We come from ${rng.pick(CITIES)} and bring the ${slug(rng.pick(NOUNS))} with us.`,
  (rng) => `Please keep the ${slug(rng.pick(ADJECTIVES))} ${slug(rng.pick(NOUNS))} ready for ${rng.pick(GIVEN_NAMES)}.`,
  (rng) => `${rng.pick(GIVEN_NAMES)} will call about the ${slug(rng.pick(NOUNS))} before ${two(8 + rng.int(12))}:00.`,
  (rng) =>
    `Ask for ${rng.pick(GIVEN_NAMES)} ${rng.pick(FAMILY_NAMES)} at the ${slug(rng.pick(STREET_NAMES))} entrance.`,
  (rng) => `The ${slug(rng.pick(NOUNS))} near ${rng.pick(STREET_NAMES)} ${rng.pick(STREET_ENDINGS)} is what we need.`,
];

/** Sources of texts by name. */
export const TEXTS: ReadonlyMap<string, Source> = new Map(
  [
    person,
    source("given", (rng) => rng.pick(GIVEN_NAMES), false),
    source("family", (rng) => rng.pick(FAMILY_NAMES), false),
    source("city", (rng) => rng.pick(CITIES), false),
    source("road", road, true),
    /** House number and road. */
    source("street", (rng) => `${1 + rng.int(99)} ${road(rng)}`, true),
    source("noun", (rng) => rng.pick(NOUNS), false),
    /** The name of a book, a team, a band, a stall. */
    source("title", (rng) => `${rng.pick(ADJECTIVES)} ${rng.pick(NOUNS)}`, true),
    source("company", (rng) => `${rng.pick(FAMILY_NAMES)} ${rng.pick(TRADES)}`, true),
    /** Six digits: a member number, a number plate. */
    source("code", (rng) => digits(rng, 3), true),
    source("postcode", (rng) => digits(rng, 2), true),
    source("email", (rng) => `${slug(rng.pick(GIVEN_NAMES))}@${rng.pick(MAIL_HOSTS)}`, true),
    source("tel", (rng) => `${digits(rng, 2)} ${digits(rng, 2)}`, true),
    source("url", (rng) => `https://${slug(rng.pick(NOUNS))}.${rng.pick(MAIL_HOSTS)}`, true),
    source("time", (rng) => `${two(8 + rng.int(12))}:${two(15 * rng.int(4))}`, false),
    /** One or two sentences, for a text area. */
    source(
      "textarea",
      (rng) => {
        const first = rng.pick(SENTENCES)(rng);
        return rng.uniform() < 0.5 ? first : `${first} ${rng.pick(SENTENCES)(rng)}`;
      },
      true,
    ),
  ].map((one) => [one.name, one]),
);

/** The share of combinations that training never sees. */
export const RESERVED_SHARE = 0.2;

/**
 * Tells whether this combination (a full name, a street and its city, a date ...) is kept for val, test and heldout.
 * It does not depend on the seed: a model trained with one seed has not seen the evaluation values of another.
 */
export const isReserved = (combination: string): boolean => fraction(`reserved/${combination}`) < RESERVED_SHARE;
