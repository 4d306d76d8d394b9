import { looseLabel, parseDate } from "../../../env/forms/normalize.js";
import { dayIn } from "../../../env/forms/values.js";
import { isBlank } from "../../../env/forms/wire.js";
import type { FieldValue, Task } from "../../../env/site.js";
import { kindOfAll, partsOf as wordsOf } from "../values.js";
import { isSamePlace } from "./actions.js";
import { stringsIn } from "./generalize.js";
import { FURTHER, type Seen } from "./observe.js";
import { tokensOf } from "./tokens.js";

/** The part that a step has: it enters a field's value, leads on, sends the form, or does nothing that counts. */
export type Part = { readonly label: string } | "step" | "submit" | "none";

/** Certainty that a step belongs to a label: by its element's name, by the whole value, by a part of it. */
const NAMED = 6;
const WHOLE = 5;
const HELD = 3;
const PIECE = 1;
/** Added for the label of the step before, and taken off for a label that other steps belong to. */
const AGAIN = 0.6;
const USED = 1.5;
/** Least length in characters of a value that may stand in a longer text, and of a part of a value. */
const LONG = 4;
const SHORT = 2;

const isKey = ({ call }: Seen): boolean => /press|waitForTimeout|keyboard|blur/.test(call.method);

/** Rates how sure a step enters a value. */
function worth(
  label: string,
  value: FieldValue,
  { call, names }: Seen,
  fixed: ReadonlySet<string>,
  isLast: boolean,
): number {
  const texts = stringsIn(call);
  const loose = texts.map(looseLabel);
  const [own, groups] = [looseLabel(label), names.map(looseLabel)];
  const isNamed = (text: string): boolean =>
    text === own || (!isLast && own.length > 3 && text.length < own.length + 20 && text.includes(own));
  const named = [...loose, ...groups].some(isNamed) ? NAMED : 0;
  // a name that is the same for everybody holds no part of a value
  const varied = loose.filter((one) => !fixed.has(one));
  const items = [value].flat();
  const rate = (item: string | number | boolean): number => {
    const text = looseLabel(String(item));
    if (typeof item === "boolean" || text === "") return 0;
    if (loose.includes(text)) return WHOLE;
    if (text.length >= LONG && varied.some((one) => one.includes(text))) return HELD;
    const kind = kindOfAll([value]);
    const day = kind === "date" ? parseDate(String(item)) : undefined;
    if (day !== undefined && texts.some((one) => dayIn(one) === day)) return WHOLE;
    const parts = Object.entries(tokensOf(kind, item).texts).filter(
      ([name]) => !/^(?:value$|lower|value[:[]|.*months|.*years)/.test(name),
    );
    // a day or a time in another notation: `19.01.2027`, `1:30`
    const all = new Set(parts.map(([, part]) => part));
    const isMade = (one: string, least: number): boolean =>
      wordsOf(one).length >= least && wordsOf(one).every((word) => all.has(word));
    const isDated = kind === "date" || kind === "range" || kind === "moment";
    const isTimed = kind === "time" || kind === "moment";
    if ((isDated || isTimed) && texts.some((one) => isMade(one, isTimed ? 2 : 3))) return HELD;
    const named = parts.filter(([name, part]) => /[Dd]/.test(name) || !/^\d/.test(part)).map(([, part]) => part);
    // two parts of a day in a text that is no day: `Saturday, January 23,`
    const isPart = (one: string): boolean => new Set(wordsOf(one).filter((word) => named.includes(word))).size > 1;
    if (
      texts.some(
        (one) =>
          parts.some(([, part]) => part === one && (isDated || part.length >= SHORT)) || (isDated && isPart(one)),
      )
    )
      return PIECE + 0.5;
    const isStart = (one: string): boolean => one.length >= SHORT && text.startsWith(one);
    return kind === "text" && varied.some(isStart) ? PIECE : 0;
  };
  return named + Math.max(0, ...items.map(rate));
}

/** Assigns each step of a run to the field that it enters. @param fixed texts that the steps of all people have. */
export function partsOf(seen: readonly Seen[], { fields }: Task, fixed: ReadonlySet<string>): Part[] {
  const used = new Map<string, number>();
  const labels: (string | undefined)[] = [];
  for (const [i, one] of seen.entries()) {
    const same = seen.findIndex((other, j) => j < i && j >= i - 2 && isSamePlace(other.call, one.call));
    const before = labels[i - 1];
    const rated = Object.entries(fields).map(([label, value]) => {
      // the button that sends may have a label in its name: `Send message`
      const base = worth(label, value, one, fixed, i === seen.length - 1 && one.call.method === "click");
      const isOther = label !== before && used.has(label);
      return [label, base === 0 ? 0 : base + (label === before ? AGAIN : 0) - (isOther ? USED : 0)] as const;
    });
    const best = rated.reduce((top, other) => (other[1] > top[1] ? other : top), ["", 0]);
    let label: string | undefined = best[1] > 0 ? best[0] : undefined;
    if (isKey(one) && label === undefined) label = before;
    if (label === undefined && same >= 0) label = labels[same];
    if (label !== undefined) {
      used.set(label, i);
      // a click on the element that is filled in next, on its label, or that gets the next keys, belongs to it
      const led = /^keyboard/.test(one.call.method) ? seen[i - 1]?.call.method === "click" : seen[i - 1]?.isLabel;
      if (led && labels[i - 1] === undefined) labels[i - 1] = label;
      for (let j = i - 1; j >= 0 && labels[j] !== label && isSamePlace((seen[j] as Seen).call, one.call); j--)
        labels[j] = label;
    }
    labels[i] = label;
  }
  const isOpen = (label: string): boolean =>
    fields[label] !== false && !isBlank(fields[label] as FieldValue) && !labels.includes(label);
  inOrder(seen, labels, Object.keys(fields), isOpen);
  const without = Object.keys(fields).filter(isOpen);
  return settledParts(seen, labels, without.length === 1 ? without[0] : undefined);
}

/** Finds the click that sends the form: the last one after all fields. */
function sendsAt(seen: readonly Seen[], labels: readonly (string | undefined)[]): number {
  const last = labels.findLastIndex((label) => label !== undefined);
  return seen.findLastIndex(({ call }, i) => i > last && call.method === "click");
}

/**
 * Assigns steps that name nothing between two fields to the labels that stand between these two on the page, if they
 * are as many. A step onward is none of them: its element goes.
 */
function inOrder(
  seen: readonly Seen[],
  labels: (string | undefined)[],
  all: readonly string[],
  isOpen: (label: string) => boolean,
): void {
  const sends = sendsAt(seen, labels);
  const end = sends < 0 ? seen.length : sends;
  for (let i = 0, j = 0; i < end; i = j + 1) {
    for (j = i; j < end && labels[j] === undefined; ) j++;
    const to = j < end ? all.indexOf(labels[j] as string) : all.length;
    const gap = all.slice(i === 0 ? 0 : all.indexOf(labels[i - 1] as string) + 1, Math.max(0, to)).filter(isOpen);
    const isLasting = seen.slice(i, j).every(({ call, after }, n) => call.method === "click" && after.has(i + n));
    if (gap.length === j - i && isLasting) labels.splice(i, gap.length, ...gap);
  }
}

/** Finds the parts of the steps that no value names. @param open the one label without a step: an idle click is its own. */
function settledParts(
  seen: readonly Seen[],
  labels: readonly (string | undefined)[],
  open: string | undefined,
): Part[] {
  const parts: Part[] = labels.map((label) => (label === undefined ? "none" : { label }));
  const sends = sendsAt(seen, labels);
  for (let i = 0; i < seen.length; i++) {
    if (labels[i] !== undefined) continue;
    const one = seen[i] as Seen;
    const next = labels.findIndex((label, j) => j > i && label !== undefined);
    const [before, after] = [labels.slice(0, i).findLast((label) => label !== undefined), labels[next]];
    if (i === sends) parts[i] = "submit";
    else if (after === undefined)
      parts[i] =
        i > sends
          ? "none"
          : open !== undefined && one.after.has(i)
            ? { label: open }
            : one.isFresh || before === undefined
              ? "step"
              : { label: before };
    else if (before === after) parts[i] = { label: after };
    else parts[i] = between(seen, i, next, open ?? before, after, labels);
  }
  return parts;
}

/** Decides on a step between two fields: it confirms the first, opens the second, or leads to a further part. */
function between(
  seen: readonly Seen[],
  i: number,
  next: number,
  before: string | undefined,
  after: string,
  labels: readonly (string | undefined)[],
): Part {
  const target = seen[next] as Seen;
  const one = seen[i] as Seen;
  const isNeeded = !one.ahead.has(target.at) && !(target.isFresh && target.at > one.at + FURTHER);
  if (!isNeeded) return before === undefined ? "none" : { label: before };
  const end = labels.findLastIndex((label, j) => j >= next && label === after);
  const stays = target.after.has(Math.min(end, seen.length - 2)) && (target.after.has(next) || end > next);
  return stays ? "step" : { label: after };
}
