import type { Control } from "../browser/controls.js";
import type { FieldValue } from "../site.js";
import { makerOf, takenApart } from "./joined.js";
import {
  findOption,
  listItems,
  looseLabel,
  matchValue,
  parseBoolean,
  parseDate,
  parseTime,
  readDate,
} from "./normalize.js";
import type { PostedPair } from "./posted.js";
import {
  ALIKE,
  isTyped,
  lastWord,
  likeness,
  optionOf,
  sameKey,
  sameOption,
  samePart,
  sameValue,
  wordsOf,
} from "./same.js";

/** What the server received of each control, and what was not plain about it. */
export interface Received {
  /** One value a control, in their order. What was not posted is empty. */
  readonly values: readonly FieldValue[];
  readonly notes: readonly string[];
}

/** What the page held at each control when the form was sent, and what had been typed into it before the page rewrote it. */
export interface HeldValues {
  readonly values: readonly FieldValue[];
  readonly typed?: ReadonlyMap<number, string>;
  /** Hidden fields that changed with a control, and what they held: they speak for it. */
  readonly mirrors?: ReadonlyMap<number, readonly PostedPair[]>;
}

/**
 * Finds the controls' values in what was posted: under the key that the task gives, under a control's own name or id,
 * then by what the control held, wherever it stands and however it is written (a date by another notation, an option by
 * its value), then under a key that resembles the label. Each posted value serves one control.
 * @param keys posted key by label, where a tasks file says it.
 */
export function receivedValues(
  controls: readonly Control[],
  posted: readonly PostedPair[],
  held?: HeldValues,
  keys: Readonly<Record<string, string>> = {},
): Received {
  const leaves = posted.map(([key, value]) => ({ key, value, words: wordsOf(key), used: false }));
  const values: (FieldValue | undefined)[] = controls.map(() => undefined);
  const notes: string[] = [];
  const take = (found: readonly Leaf[]): void => {
    for (const leaf of found) leaf.used = true;
  };
  const give = (i: number, found: readonly Leaf[]): void => {
    const control = controls[i] as Control;
    values[i] = shapedValue(
      control,
      found.map((leaf) => leaf.value),
      held?.values[i],
      held?.typed?.get(i),
      held?.mirrors?.get(i),
    );
    take(found);
  };
  const open = (i: number): boolean => values[i] === undefined;
  const nth = new Map<string, number>();
  controls.forEach((control, i) => {
    const mapped = Object.entries(keys).find(([label]) => looseLabel(label) === looseLabel(control.label))?.[1];
    const found = mapped === undefined ? byName(control, leaves) : leaves.filter((leaf) => sameKey(leaf.key, mapped));
    if (found.length === 0) return;
    give(i, isList(control) || control.kind === "checkbox" ? found : [pick(control, found, held?.values[i], nth)]);
  });
  controls.forEach((_, i) => {
    const mirrors = held?.mirrors?.get(i);
    if (!open(i) || mirrors === undefined) return;
    const found = leaves.filter((leaf) =>
      mirrors.some(([name, value]) => sameKey(leaf.key, name) && leaf.value === value),
    );
    if (found.length > 0) give(i, found);
  });
  // a list before boxes of the names of its items
  controls.forEach((control, i) => {
    const value = held?.values[i];
    if (!open(i) || !isList(control) || !Array.isArray(value) || value.length === 0) return;
    const found = value.map((item) => leaves.filter((leaf) => !leaf.used && sameOption(control, item, leaf.value)));
    const key = found[0]?.[0]?.key;
    const own = found.map((some) => some.find((leaf) => leaf.key === key));
    if (own.every((leaf) => leaf !== undefined)) give(i, own);
  });
  // the best pairs of control and value first: a key that fits outweighs the order in the page
  const offers = controls.flatMap((control, i): Offer[] => {
    const value = held?.values[i];
    if (!open(i) || value === undefined || isList(control) || isEmpty(value)) return [];
    return leaves
      .slice(0, COMPARED)
      .flatMap((leaf, k): Offer[] =>
        !leaf.used && sameValue(control, value, leaf.value, held?.typed?.get(i))
          ? [{ i, k, fit: likeness(control, leaf.words) - (value === false ? 0.5 : 0) }]
          : [],
      );
  });
  for (const { i, k } of offers.sort((a, b) => b.fit - a.fit || a.i - b.i || a.k - b.k)) {
    const leaf = leaves[k] as Leaf;
    if (!open(i) || leaf.used) continue;
    const control = controls[i] as Control;
    // a box that is off, or a bare yes, is told by its key only
    const others = offers.filter((offer) => offer.i === i && !leaves[offer.k]?.used);
    if (others.length > 1 && control.kind === "checkbox" && likeness(control, leaf.words) < ALIKE)
      notes.push(`ambiguous: several posted values may be "${control.label}"; a key map in the tasks file decides`);
    give(i, [leaf]);
  }
  controls.forEach((control, i) => {
    if (!open(i)) return;
    const value = held?.values[i];
    if (isList(control)) giveList(control, i, Array.isArray(value) ? value : undefined);
    else if (control.kind === "date" || control.kind === "time") giveParts(control, i, value);
  });
  if (held !== undefined) {
    const isRight = (i: number): boolean =>
      values[i] !== undefined && sameValue(controls[i] as Control, held.values[i] ?? "", String(values[i]));
    const madeOf = makerOf(controls, held.values);
    for (const leaf of leaves.slice(0, COMPARED)) {
      const parts = madeOf(leaf.value);
      for (const i of parts) if (!isRight(i)) values[i] = held.values[i];
      if (parts.length > 0) leaf.used = true;
    }
    controls.forEach((_, i) => {
      if (isRight(i)) return;
      const rest = leaves.filter((leaf) => !leaf.used || values[i] === leaf.value);
      const parts = takenApart(
        held.values[i] ?? "",
        rest.map((leaf) => leaf.value),
      ).map((k) => rest[k] as Leaf);
      if (parts.length === 0) return;
      take(parts);
      values[i] = held.values[i];
    });
  }
  controls.forEach((control, i) => {
    if (!open(i)) return;
    const value = held?.values[i];
    const ranked = leaves
      .filter((leaf) => !leaf.used)
      .map((leaf) => ({ leaf, fit: likeness(control, leaf.words) }))
      .sort((a, b) => b.fit - a.fit);
    const best = ranked[0];
    if (best !== undefined && best.fit >= ALIKE && held !== undefined && !isList(control)) give(i, [best.leaf]);
    else if (
      /confirm|repeat|again|re-?(?:enter|type)|verify/i.test(control.label) &&
      leaves.some((leaf) => leaf.value === value)
    )
      values[i] = value;
    else if (typeof value === "string" && control.kind === "checkbox") values[i] = false;
    else if (
      typeof value === "string" &&
      value.length > 3 &&
      leaves.some((leaf) => leaf.key !== "" && leaf.value.includes(value) && likeness(control, leaf.words) > 0)
    )
      values[i] = value;
  });

  // what a library posts for an option may be a number of its own, under any key: the one value that is left
  const left = controls.flatMap((control, i) =>
    open(i) &&
    // (a control that hidden fields speak for has been asked for above)
    !held?.mirrors?.has(i) &&
    control.widget !== "native" &&
    ["select", "radio"].includes(control.kind) &&
    !isEmpty(held?.values[i] ?? "")
      ? [i]
      : [],
  );
  const rest = leaves.filter(
    (leaf) =>
      !leaf.used &&
      leaf.key !== "" &&
      leaf.value !== "" &&
      !/csrf|token|nonce|time|stamp|session|version|action|method|query|operation/i.test(leaf.key),
  );
  const [i] = left;
  const [leaf] = rest;
  if (i !== undefined && leaf !== undefined && left.length === 1 && rest.length === 1) {
    values[i] = held?.values[i];
    notes.push(
      `"${controls[i]?.label}" is taken to be ${leaf.key}: nothing else is left; a key map in the tasks file decides`,
    );
  }

  function giveList(control: Control, i: number, value: readonly string[] | undefined): void {
    if (value === undefined) return;
    const named = leaves.filter((leaf) => !leaf.used && likeness(control, leaf.words) >= ALIKE);
    const yes = leaves.filter(
      (leaf) =>
        !leaf.used && parseBoolean(leaf.value) !== undefined && optionOf(control, lastWord(leaf.key)) !== undefined,
    );
    const texts = leaves.filter((leaf) => !leaf.used && value.some((item) => sameOption(control, item, leaf.value)));
    if (yes.length > 0) {
      values[i] = yes
        .filter((leaf) => parseBoolean(leaf.value) === true)
        .map((leaf) => optionOf(control, lastWord(leaf.key)) ?? leaf.key);
      take(yes);
    } else if (texts.length > 0) give(i, texts);
    else if (named.length > 0) give(i, named);
    else {
      const whole = leaves.find(
        (leaf) =>
          !leaf.used &&
          value.length > 0 &&
          matchValue(control, [...value], listItems(control.options, leaf.value)) === 1,
      );
      if (whole !== undefined) give(i, [whole]);
    }
  }

  /** A date or a time in several values: year, month and day, or hour and minute, by their keys. */
  function giveParts(control: Control, i: number, value: FieldValue | undefined): void {
    if (typeof value !== "string" || value === "") return;
    const wanted =
      control.kind === "date" ? (parseDate(value)?.split("-") ?? []) : (parseTime(value)?.split(":") ?? []);
    const names =
      control.kind === "date"
        ? [/year|yyyy|\byy?\b/i, /month|\bmm?\b|mon/i, /day|\bdd?\b/i]
        : [/hour|\bhh?\b/i, /min|\bmm\b/i];
    if (wanted.length < names.length) return;
    const found = names.map((name, part) =>
      leaves.find(
        (leaf) =>
          name.test(leaf.key.replace(/birthday|([a-z])([A-Z])/g, "$1 $2").replace(/_/g, " ")) &&
          samePart(leaf.value, wanted[part] ?? "", part),
      ),
    );
    if (found.some((leaf) => leaf === undefined)) return;
    take(found.filter((leaf) => leaf !== undefined));
    values[i] = value;
  }

  return {
    values: controls.map(
      (control, i) => values[i] ?? (control.kind === "checkbox" ? false : isList(control) ? [] : ""),
    ),
    notes: [...new Set(notes)],
  };
}

/** How many of the controls' changed values a request carries, of how many; a bare yes or no counts where there is nothing else. */
export function carriedOf(
  controls: readonly Control[],
  all: readonly PostedPair[],
  held: HeldValues,
): { carried: number; of: number } {
  const posted = all.slice(0, COMPARED);
  const changed = controls.flatMap((control, i) => {
    const value = held.values[i];
    return value === undefined || isEmpty(value) || matchValue(control, control.default, value) === 1
      ? []
      : [{ control, value, i }];
  });
  const strong = changed.filter(
    ({ control, value }) => control.kind !== "checkbox" && control.kind !== "file" && String(value).length > 1,
  );
  const counted = strong.length > 0 ? strong : changed;
  const madeOf = makerOf(controls, held.values);
  const joined = new Set(posted.flatMap(([, value]) => madeOf(value)));
  const texts = posted.map(([, value]) => value);
  const carried = counted.filter(({ control, value, i }) => {
    if (Array.isArray(value))
      return posted.some(([key, v]) =>
        value.some(
          (item) =>
            sameOption(control, item, v) ||
            (parseBoolean(v) === true && looseLabel(lastWord(key)) === looseLabel(item)),
        ),
      );
    if (joined.has(i) || posted.some(([, v]) => sameValue(control, value, v, held.typed?.get(i)))) return true;
    if (takenApart(value, texts).length > 0) return true;
    if (held.mirrors?.get(i)?.some(([name, v]) => posted.some(([key, p]) => sameKey(key, name) && p === v)))
      return true;
    return (
      (control.kind === "date" || control.kind === "time") &&
      parseDate(value)
        ?.split("-")
        .every((part, k) => posted.some(([, v]) => samePart(v, part, k))) === true
    );
  });
  return { carried: carried.length, of: counted.length };
}

interface Leaf {
  readonly key: string;
  readonly value: string;
  readonly words: readonly string[];
  used: boolean;
}

interface Offer {
  readonly i: number;
  readonly k: number;
  readonly fit: number;
}

/** Values beyond these are not compared with every control: a page may send ten thousand. */
const COMPARED = 2000;

const isList = (control: Control): boolean => control.kind === "checkbox-group";

const isEmpty = (value: FieldValue): boolean => value === "" || (Array.isArray(value) && value.length === 0);

function byName(control: Control, leaves: readonly Leaf[]): Leaf[] {
  for (const name of [control.name, control.id]) {
    if (name === "") continue;
    const exact = leaves.filter((leaf) => !leaf.used && leaf.key === name);
    const found = exact.length > 0 ? exact : leaves.filter((leaf) => !leaf.used && sameKey(leaf.key, name));
    if (found.length > 0) return found;
  }
  return [];
}

/** Of several values of one name the one that the control held; else those that share a name come in page order. */
function pick(control: Control, found: readonly Leaf[], held: FieldValue | undefined, nth: Map<string, number>): Leaf {
  const own =
    held === undefined || isEmpty(held) ? undefined : found.find((leaf) => sameValue(control, held, leaf.value));
  const turn = nth.get(control.name) ?? 0;
  nth.set(control.name, turn + 1);
  const filled = found.filter((leaf) => leaf.value !== "");
  return own ?? (held !== undefined && isEmpty(held) ? undefined : filled[turn]) ?? found[turn] ?? (found[0] as Leaf);
}

/** A control's value out of what was posted for it, shaped by its kind. */
function shapedValue(
  control: Control,
  values: readonly string[],
  held: FieldValue | undefined,
  typed: string | undefined,
  mirrors: readonly PostedPair[] | undefined,
): FieldValue {
  if (
    mirrors !== undefined &&
    held !== undefined &&
    values.some((value) => mirrors.some(([, mirror]) => mirror === value && value !== ""))
  )
    return held;
  switch (control.kind) {
    case "checkbox":
      // a scripted form may post false instead of nothing; any other value of a ticked box means ticked
      return values.some((value) => parseBoolean(value) !== false);
    case "checkbox-group":
      return values.slice(0, 2 * Math.max(control.options.length, 50) + 1).flatMap((value) => textsOf(control, value));
    default: {
      const [value = ""] = values;
      const date = control.notation === undefined ? undefined : readDate(value, control.notation);
      if (date !== undefined) return date;
      if (held !== undefined && !isEmpty(held) && sameValue(control, held, value, typed))
        return typed !== undefined && (isTyped(typed, value) || isMasked(typed, String(held))) ? typed : held;
      const choice = control.kind === "select" || control.kind === "radio";
      const option = choice ? control.options.find((o) => o.value === value && value !== "") : undefined;
      if (option !== undefined) return option.text;
      // what a library posts for an option that was picked may be a number of its own
      const opaque =
        choice &&
        control.widget !== "native" &&
        value !== "" &&
        held !== undefined &&
        !isEmpty(held) &&
        findOption(control.options, value) === undefined;
      return opaque ? held : value;
    }
  }
}

/** Whether a page writes in its own way what was typed: by a mask, or a number with its unit. */
function isMasked(typed: string, held: string): boolean {
  return isTyped(typed, held) || (/^\d+$/.test(typed) && held.replace(/[^\d.,]+/g, " ").trim() === typed);
}

function textsOf(control: Control, value: string): string[] {
  if (value === "") return [];
  const exact = control.options.find((option) => option.value === value)?.text ?? optionOf(control, value);
  return exact !== undefined
    ? [exact]
    : control.widget === "native"
      ? [value]
      : listItems(control.options, value).map((item) => optionOf(control, item) ?? item);
}
