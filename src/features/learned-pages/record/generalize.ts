import { isDeepStrictEqual } from "node:util";
import { isSameNumber, looseLabel } from "../../../env/forms/normalize.js";
import type { Kind } from "../../../env/forms/values.js";
import { isBlank } from "../../../env/forms/wire.js";
import type { FieldValue } from "../../../env/site.js";
import type { Action } from "../contract.js";
import { escaped } from "../way.js";
import type { Call } from "./actions.js";
import { isOptions, type Link, type Token, tokensIn, written, writtenChain } from "./code.js";
import { itemTokens, PLACE, type Tokens, tokensOf } from "./tokens.js";

/** What one person did for one field. */
export interface Sample {
  readonly value: FieldValue;
  readonly calls: readonly Call[];
}

/** A step of a person, and what stands for that person's value. */
interface Tagged {
  readonly call: Call;
  readonly tokens: Tokens;
}

/** Least length in characters of a value that counts as found inside a text when only one person is known. */
const TELLING = 3;

const linksOf = ({ find, method, args }: Call): Link[] => {
  const names = method.split(".");
  return [...find, ...names.map((name, i): Link => (i + 1 < names.length ? { name } : { name, args }))];
};
export const textOf = (call: Call): string => writtenChain(linksOf(call));

/**
 * Generalizes what people did for one field: finds where the value stands in each step.
 * @param all values that the field has to take.
 * @returns undefined if the samples do not show how another value is entered.
 */
export function generalized(kind: Kind, samples: readonly Sample[], all: readonly FieldValue[]): Action[] | undefined {
  const entered = samples.filter(
    ({ value, calls }) => calls.length > 0 && (/^(?:text|flag)$/.test(kind) || !isBlank(value)),
  );
  if (entered.length === 0) return undefined;
  const found =
    kind === "flag"
      ? whole(entered)
      : kind === "list"
        ? (whole(entered) ?? itemActions(entered))
        : aligned(kind, entered);
  if (found !== undefined) return found;
  const cases: Record<string, string[]> = kind === "flag" ? { true: [], false: [] } : {};
  for (const { value, calls } of entered) cases[String(value)] = calls.map(textOf);
  // the same steps for two values lack the one that chooses
  if (new Set(Object.values(cases).map(String)).size < Object.keys(cases).length) return undefined;
  return all.every((value) => isBlank(value) || Object.hasOwn(cases, String(value))) ? [{ cases }] : undefined;
}

/** Finds a value that is entered by one step: a box, files, or the options of a native list. */
function whole(samples: readonly Sample[]): Action[] | undefined {
  const one = ({ calls }: Sample): string =>
    calls.map(({ method }) => method.replace(/^(?:un)?check$/, "setChecked")).join();
  const [first] = samples as [Sample];
  const method = one(first);
  if (!/^(?:setChecked|selectOption|setInputFiles)$/.test(method) || samples.some((s) => one(s) !== method))
    return undefined;
  const [call] = first.calls as [Call];
  return [textOf({ ...call, method, args: ["{value}", ...call.args.filter(isOptions)] })];
}

/** Finds the steps that are taken for each item of a list. */
function itemActions(samples: readonly Sample[]): Action[] | undefined {
  const cut = samples.map((sample) => ({ ...sample, at: carriers(sample) }));
  if (cut.some(({ at, value }) => at.length !== [value].flat().length)) return undefined;
  const { at: places, calls: steps } = cut.reduce((top, one) => (one.at.length > top.at.length ? one : top));
  const [first = 0, second = first + 1] = places;
  const last = places.at(-1) as number;
  const gap = second - first - 1;
  if (places.some((at, i) => at !== first + i * (gap + 1))) return undefined;
  const like = (i: number, j: number): boolean => {
    const [a, b] = [steps[i], steps[j]];
    return a !== undefined && a.method === b?.method && a.find.length === b.find.length;
  };
  // steps after an item's own that follow the last item too belong to the item
  let after = 0;
  while (after < gap && like(first + 1 + after, last + 1 + after)) after++;
  const before = gap - after;
  const isLed = Array.from({ length: before }, (_, i) => like(first - 1 - i, first + gap - i)).every(Boolean);
  const start = isLed ? before : 0;
  const united = (from: number, to: number, least: number): string[] | undefined =>
    all(
      Array.from({ length: to - from }, (_, j) => {
        const tagged = cut.flatMap(({ calls, at, value }) =>
          at.slice(least).flatMap((own, i): Tagged[] => {
            const call = calls[own + from + j];
            const item = String([value].flat()[i + least]);
            return call === undefined ? [] : [{ call, tokens: itemTokens(item, i + least) }];
          }),
        );
        return unifiedCall(tagged);
      }),
    );
  const fixed = (of: (one: (typeof cut)[number]) => readonly Call[]): string[] | undefined => {
    const [own = [], ...others] = cut.map((one) => of(one).map(textOf));
    return others.every((other) => isDeepStrictEqual(other, own)) ? own : undefined;
  };
  const each = united(-start, after + 1, 0);
  const between = united(isLed ? 0 : -before, 0, 1);
  const lead = fixed(({ calls, at }) => calls.slice(0, (at[0] ?? 0) - start));
  const tail = fixed(({ calls, at }) => calls.slice((at.at(-1) ?? 0) + after + 1));
  return each && between && lead && tail && [...lead, { each, between }, ...tail];
}

/** Returns a list that has everything. */
const all = <T>(list: readonly (T | undefined)[]): T[] | undefined =>
  list.includes(undefined) ? undefined : (list as T[]);

/** Lists the steps that name an item of a list, in the order of the items or of the steps. */
function carriers({ value, calls }: Sample): number[] {
  const left = [value].flat().map((item) => looseLabel(String(item)));
  const found: number[] = [];
  let last: string | undefined;
  for (const [i, call] of calls.entries()) {
    const named = stringsIn(call).map(looseLabel);
    const item =
      left.find((one) => named.some((name) => name === one)) ??
      left.find((one) => named.some((name) => name.includes(one)));
    // a choice among what was typed
    if (call.method === "click" && last !== undefined && named.includes(last)) found[found.length - 1] = i;
    else if (item !== undefined) {
      left.splice(left.indexOf(item), 1);
      last = item;
      found.push(i);
    }
  }
  return found;
}

/** The beginning of a link whose text or number is no name: a role, an index, or an option. */
const NAMELESS = /^(?:getByRole|nth|exact|delay|force|button|x|y)$/;

/** Lists all texts in a step. */
export function stringsIn(call: Call): string[] {
  const tokens = tokensIn(textOf(call));
  return tokens.flatMap(({ sort, value }, i) => {
    if (NAMELESS.test(tokens[i - 2]?.text ?? "")) return [];
    if (sort === "regexp")
      return [
        patternOf(value)
          .replace(/\\(.)/g, "$1")
          .replace(/^\^|\$$/g, ""),
      ];
    return sort === "string" || sort === "num" ? [String(value)] : [];
  });
}
const patternOf = (value: unknown): string => (value as { readonly pattern: string }).pattern;

/** A step with the number of times that it was taken in a row. */
interface Repeated extends Tagged {
  readonly times: number;
}

function repeated(calls: readonly Call[], tokens: Tokens): Repeated[] {
  const found: Repeated[] = [];
  for (const call of calls) {
    const last = found.at(-1);
    const isAgain = /^(?:click|press|keyboard\.press)$/.test(call.method) && last && textOf(last.call) === textOf(call);
    if (isAgain) found[found.length - 1] = { ...last, times: last.times + 1 };
    else found.push({ call, tokens, times: 1 });
  }
  return found;
}

/** The steps of all people at one place in their order; a person may lack it. */
type Column = readonly { readonly tokens: Tokens; readonly step: Repeated | undefined }[];

/** Lays the steps of all samples side by side, and unites those of each place. */
function aligned(kind: Kind, samples: readonly Sample[]): Action[] | undefined {
  const rows = samples.map(({ value, calls }) => {
    const tokens = tokensOf(kind, value);
    return { tokens, left: repeated(calls, tokens) };
  });
  const longest = [...rows.reduce((top, row) => (row.left.length > top.left.length ? row : top)).left];
  const columns = longest.map(
    (step, i): Column =>
      rows.map(({ tokens, left }) => {
        const [own] = left;
        const isShort = longest.length - i > left.length;
        const fits = own !== undefined && (!isShort || unifiedCall([step, own]) !== undefined);
        return { tokens, step: fits ? left.shift() : undefined };
      }),
  );
  if (rows.some(({ left }) => left.length > 0)) return undefined;
  const actions = all(columns.map((column) => repeatedStep(column) ?? countedStep(kind, column)))?.flat();
  // a beginning is typed to find an option: the choice is missing
  if (/\{value:\d+\}/.test(String(actions?.at(-1)))) return undefined;
  return actions?.some((one) => typeof one !== "string" || PLACE.test(one)) ? actions : undefined;
}

/** Unites a step that everybody took as often. */
function repeatedStep(column: Column): Action[] | undefined {
  const text = unifiedCall(column.flatMap(({ step }) => step ?? []));
  const times = Math.max(...column.map(({ step }) => step?.times ?? 0));
  // an empty text needs no step of its own
  const isSame = column.every(({ tokens, step }) => step?.times === times || (!step && tokens.value === ""));
  return text !== undefined && isSame ? Array<string>(times).fill(text) : undefined;
}

/** Finds how often a step is taken for a value: once a month or a year from now, by a number's size, or until it is marked. */
function countedStep(kind: Kind, column: Column): Action[] | undefined {
  const texts = [...new Set(column.flatMap(({ step }) => (step === undefined ? [] : [textOf(step.call)])))];
  const [forth, back, ...more] = texts;
  if (forth === undefined || more.length > 0) return undefined;
  // a line through two people fits anything: a step that names a part of the value is none that is counted
  const isNaming = ({ call, tokens }: Tagged): boolean =>
    stringsIn(call).some((text) =>
      Object.entries(tokens.texts).some(([name, part]) => part === text && !/s$/.test(name)),
    );
  if (column.every(({ step }) => step === undefined || isNaming(step))) return undefined;
  const counts = column.map(({ step }) =>
    step === undefined ? 0 : textOf(step.call) === forth ? step.times : -step.times,
  );
  for (const of of kind === "number" ? ["value"] : ["months", "years"]) {
    const sizes = column.map(({ tokens }) => Number(tokens.texts[of]));
    const line =
      linear(sizes, counts) ??
      (of === "months" ? linear([...sizes, 0], [...counts, (counts[0] ?? 0) - (sizes[0] ?? 0)]) : undefined);
    if (line !== undefined && line[0] !== 0)
      return [{ do: forth, times: `{${of} * ${line[0]} + ${line[1]}}`, ...(back === undefined ? {} : { back }) }];
  }
  // in a list, an arrow is pressed until the value's option is marked
  const isArrow = texts.length === 1 && column.every(({ step }) => step && /Arrow(?:Up|Down|Left|Right)'/.test(forth));
  return isArrow ? [{ do: forth, until: "{value}" }] : undefined;
}

/** Fits a line through points. @returns its slope and its height at 0; undefined if it misses one. */
function linear(xs: readonly number[], ys: readonly number[]): [number, number] | undefined {
  const [x0 = 0, y0 = 0] = [xs[0], ys[0]];
  const other = xs.findIndex((x) => x !== x0);
  if (other < 0 || ![...xs, ...ys].every(Number.isFinite)) return undefined;
  const slope = ((ys[other] as number) - y0) / ((xs[other] as number) - x0);
  const round = (x: number): number => Math.round(x * 1e6) / 1e6;
  const height = y0 - slope * x0;
  return xs.every((x, i) => Math.abs(slope * x + height - (ys[i] as number)) < 0.01)
    ? [round(slope), round(height)]
    : undefined;
}

/** Unites a step of several people. @returns undefined if more differs than the value explains. */
function unifiedCall(steps: readonly Tagged[]): string | undefined {
  const rows = steps.map(({ call }) => tokensIn(textOf(call)));
  const [first, ...others] = rows;
  if (first === undefined || others.some(({ length }) => length !== first.length)) return undefined;
  const columns = first.map((_, i) => rows.map((row) => row[i] as Token));
  return all(
    columns.map((column) =>
      unified(
        column,
        steps.map(({ tokens }) => tokens),
      ),
    ),
  )?.join("");
}

/** Unites a name, a sign, a text or a number of several people. */
function unified(column: readonly Token[], tokens: readonly Tokens[]): string | undefined {
  const [{ sort, text, gap, value }] = column as [Token];
  if (column.some((one) => one.sort !== sort)) return undefined;
  if (sort === "string" || sort === "regexp") {
    const isPattern = sort === "regexp";
    const found = isPattern
      ? templateOf(
          column.map((one) => patternOf(one.value)),
          tokens,
          escaped,
        )
      : templateOf(
          column.map((one) => String(one.value)),
          tokens,
          (part) => part,
        );
    return found === undefined
      ? undefined
      : gap + (isPattern ? text.replace(patternOf(value), () => found) : written(found));
  }
  if (column.every((one) => one.text === text)) return gap + text;
  for (const of of sort === "num" ? ["value", "index"] : []) {
    const line = linear(
      tokens.map(({ texts }) => Number(texts[of])),
      column.map((one) => Number(one.value)),
    );
    if (line !== undefined) return `${gap}'{${of} * ${line[0]} + ${line[1]}}'`;
  }
  return undefined;
}

/** Finds a text with places that gives each person's text with that person's value. @param write as it stands in a pattern. */
function templateOf(
  texts: readonly string[],
  tokens: readonly Tokens[],
  write: (text: string) => string,
): string | undefined {
  const isAlone = new Set(tokens.map(({ value }) => String(value))).size === 1;
  const [text = "", own] = [texts[0], tokens[0]];
  const places = Object.keys(own?.texts ?? {})
    .filter((name) => !/months$|years$/.test(name))
    .filter((name) => !isAlone || isTelling(name, text, own?.texts[name] ?? ""))
    .sort((a, b) => (own?.texts[b]?.length ?? 0) - (own?.texts[a]?.length ?? 0))
    .map((name) => ({ name, as: `{${name}}`, parts: tokens.map((one) => write(one.texts[name] ?? "")) }))
    // a word that all values have may be the label's: it stands as it is
    .filter(({ name, parts }) => isAlone || !name.startsWith("value.") || new Set(parts).size > 1);
  const pieces = places.filter(({ name }) => isPiece(name));
  const wholes = places.filter(({ name }) => !isPiece(name));
  const dead = new Set<string>();
  const search = (at: readonly number[]): string | undefined => {
    if (at.every((n, i) => n === texts[i]?.length)) return "";
    if (dead.has(at.join())) return undefined;
    const sign = text[at[0] as number] ?? "";
    for (const { as, parts } of [...wholes, { as: sign, parts: texts.map(() => sign) }, ...pieces]) {
      if (!parts.every((part, i) => part !== "" && texts[i]?.startsWith(part, at[i]))) continue;
      const rest = search(at.map((n, i) => n + (parts[i] as string).length));
      if (rest !== undefined) return as + rest;
    }
    dead.add(at.join());
    return undefined;
  };
  const whole = tokens.map((one) => one.texts.value ?? "");
  // a box may cut a value that is too long for it
  const isCut =
    new Set(texts).size === new Set(whole).size &&
    texts.every((one, i) => whole[i]?.startsWith(one) === true && one.length * 2 > (whole[i]?.length ?? 0));
  if (texts.every((one, i) => one === whole[i]) || isCut) return "{value}";
  // a beginning that is typed, in any case: no letters that both have by chance, and the one that differs
  const isTyped = (part: string, i: number): boolean => part.toLowerCase() === texts[i]?.toLowerCase();
  const begun = pieces.find(({ parts }) => parts.every(isTyped));
  if (!isAlone && begun !== undefined && new Set(texts).size > 1) return begun.as;
  // one person alone has typed the beginning of a word
  const isBeginning = isAlone && text.length > 1 && /^[\p{L}\p{N}]/u.test((whole[0] ?? "").slice(text.length));
  const begins = `value:${text.length}`;
  if (isBeginning && isTyped(own?.texts[begins] ?? "", 0)) return `{${begins}}`;
  // codegen writes what a mask has made of the typed text
  const isMasked = (one: string, i: number): boolean =>
    lettersOf(one) !== "" && (lettersOf(one) === lettersOf(whole[i] ?? "") || isSameNumber(whole[i] ?? "", one));
  // a name that goes on behind the value is found by the value: `Express, ready tomorrow`
  const isBegun = (one: string, i: number): boolean => !isAlone && one.startsWith(`${whole[i]} `);
  const isWhole = texts.every(isMasked) || texts.every(isBegun);
  return search(texts.map(() => 0)) ?? (isWhole ? "{value}" : undefined);
}

const lettersOf = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

const isPiece = (name: string): boolean => /^(?:value[:[]|index|number$)/.test(name);

/** Tells whether a value that only one person had may be found in a text. */
const isTelling = (name: string, text: string, part: string): boolean =>
  (name === "number" && text.split(/\D+/).includes(part)) ||
  (!isPiece(name) &&
    (text === part ||
      (/^(?:value|lower)$/.test(name) ? part.length >= TELLING : /^(?:(?:from|to) )?(?:[YMD]+|Do|d+)$/.test(name))));
