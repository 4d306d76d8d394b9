import { isDeepStrictEqual } from "node:util";
import { looseLabel } from "../../../env/forms/normalize.js";
import type { Kind } from "../../../env/forms/values.js";
import { isBlank } from "../../../env/forms/wire.js";
import type { FieldValue } from "../../../env/site.js";
import type { Action } from "../contract.js";
import { escaped } from "../way.js";
import type { Call } from "./actions.js";
import { type Link, type Node, written } from "./code.js";
import { PLACE, type Tokens, tokensOf } from "./tokens.js";

/** What one person did for one field. */
export interface Sample {
  readonly value: FieldValue;
  readonly calls: readonly Call[];
}

/** A step with the number of times that it was taken in a row. */
interface Repeated {
  readonly call: Call;
  readonly times: number;
}

/** Least length in characters of a value that counts as found inside a text when only one person is known. */
const TELLING = 3;

export const textOf = ({ find, method, args }: Call): string => {
  const own: Link[] = method.split(".").map((name) => ({ name }));
  const last: Link = { name: own.at(-1)?.name ?? method, args };
  return written({ is: "chain", root: "page", links: [...find, ...own.slice(0, -1), last] });
};

/**
 * Generalizes what people did for one field: finds where the value stands in each step.
 * @param all values that the field has to take.
 * @returns undefined if the samples do not show how another value is entered.
 */
export function generalized(kind: Kind, samples: readonly Sample[], all: readonly FieldValue[]): Action[] | undefined {
  if (kind === "flag") return flagActions(samples);
  const entered = samples.filter(({ value, calls }) => calls.length > 0 && !(isBlank(value) && kind !== "text"));
  if (entered.length === 0) return undefined;
  const found = kind === "list" ? (whole(entered) ?? itemActions(entered)) : (aligned(kind, entered) ?? undefined);
  if (found !== undefined) return found;
  const cases = Object.fromEntries(entered.map(({ value, calls }) => [String(value), calls.map(textOf)]));
  return all.every((value) => isBlank(value) || Object.hasOwn(cases, String(value))) ? [{ cases }] : undefined;
}

function flagActions(samples: readonly Sample[]): Action[] | undefined {
  const done = samples.filter(({ calls }) => calls.length > 0);
  const [first] = done;
  if (first === undefined) return undefined;
  const isSet = ({ calls }: Sample): boolean =>
    calls.length === 1 && /^(?:un)?check$|^setChecked$/.test(calls[0]?.method ?? "");
  if (done.every(isSet)) {
    const value: Node = { is: "value", value: "{value}" };
    return [textOf({ find: (first.calls[0] as Call).find, method: "setChecked", args: [value] })];
  }
  const of = (on: boolean): string[] => done.find(({ value }) => value === on)?.calls.map(textOf) ?? [];
  return [{ cases: { true: of(true), false: of(false) } }];
}

/** Finds a list that is entered by one step: files, or the options of a native list. */
function whole(samples: readonly Sample[]): Action[] | undefined {
  const isWhole = ({ calls: [call, ...more] }: Sample): boolean =>
    more.length === 0 && /^(?:selectOption|setInputFiles)$/.test(call?.method ?? "");
  const [first] = samples;
  if (first === undefined || !samples.every(isWhole)) return undefined;
  return [textOf({ ...(first.calls[0] as Call), args: [{ is: "value", value: "{value}" }] })];
}

/** Finds the steps that are taken for each item of a list. */
function itemActions(samples: readonly Sample[]): Action[] | undefined {
  const cut = samples.map((sample) => ({ ...sample, at: carriers(sample) }));
  const most = cut.reduce((top, one) => (one.at.length > top.at.length ? one : top));
  if (cut.some(({ at, value }) => at.length !== [value].flat().length)) return undefined;
  const [first = 0] = most.at;
  const gap = most.at.length > 1 ? (most.at[1] as number) - first - 1 : 0;
  if (most.at.some((at, i) => i > 0 && at - (most.at[i - 1] as number) - 1 !== gap)) return undefined;
  const last = most.at.at(-1) as number;
  const like = (a: Call | undefined, b: Call | undefined): boolean =>
    a !== undefined && b !== undefined && a.method === b.method && a.find.length === b.find.length;
  // steps after an item's own that follow the last item too belong to the item
  let after = 0;
  while (after < gap && like(most.calls[first + 1 + after], most.calls[last + 1 + after])) after++;
  const before = gap - after;
  const isLed = Array.from({ length: before }, (_, i) =>
    like(most.calls[first - 1 - i], most.calls[first + gap - i]),
  ).every(Boolean);
  const start = isLed ? before : 0;
  const blocks = (from: number, to: number, least: number): Tagged[][] => {
    const count = to - from;
    return Array.from({ length: count }, (_, j) =>
      cut.flatMap(({ calls, at, value }) =>
        at.flatMap((own, i): Tagged[] => {
          const call = calls[own + from + j];
          return i < least || call === undefined ? [] : [{ call, tokens: itemTokens([value].flat()[i] as string, i) }];
        }),
      ),
    );
  };
  const unified = (columns: Tagged[][]): string[] | undefined => {
    const found = columns.map(unifiedCall);
    return found.includes(undefined) ? undefined : (found as string[]);
  };
  const each = unified(blocks(-start, after + 1, 0));
  const between = unified(isLed ? [] : blocks(-before, 0, 1));
  const fixed = (of: (one: (typeof cut)[number]) => readonly Call[]): string[] | undefined => {
    const [own = [], ...others] = cut.map((one) => of(one).map(textOf));
    return others.every((other) => isDeepStrictEqual(other, own)) ? own : undefined;
  };
  const lead = fixed(({ calls, at }) => calls.slice(0, (at[0] ?? 0) - start));
  const tail = fixed(({ calls, at }) => calls.slice((at.at(-1) ?? 0) + after + 1));
  if (each === undefined || between === undefined || lead === undefined || tail === undefined) return undefined;
  return [...lead, { each, between }, ...tail];
}

interface Tagged {
  readonly call: Call;
  readonly tokens: Tokens;
}

const itemTokens = (item: string, index: number): Tokens => {
  const { texts } = tokensOf("text", item);
  return { texts: { ...texts, index: String(index), number: String(index + 1) }, value: item };
};

/** Lists the steps that name an item of a list, in the order of the items or of the steps. */
function carriers({ value, calls }: Sample): number[] {
  const items = [value].flat().map((item) => looseLabel(String(item)));
  const left = new Set(items);
  return calls.flatMap((call, i) => {
    const named = stringsIn(call).map(looseLabel);
    const item =
      items.find((one) => left.has(one) && named.some((name) => name === one)) ??
      items.find((one) => left.has(one) && named.some((name) => name.includes(one)));
    if (item === undefined) return [];
    left.delete(item);
    return [i];
  });
}

/** Lists all texts in a step. */
export function stringsIn({ find, args }: Pick<Call, "find" | "args">): string[] {
  const of = (node: Node): string[] => {
    switch (node.is) {
      case "value":
        return node.value instanceof RegExp
          ? [node.value.source.replace(/\\(.)/g, "$1").replace(/^\^|\$$/g, "")]
          : [String(node.value)];
      case "list":
        return node.items.flatMap(of);
      case "object":
        return node.entries.flatMap(([key, value]) =>
          /^(?:exact|delay|force|button|position)$/.test(key) ? [] : of(value),
        );
      case "chain":
        return node.links.flatMap((link) => (link.args ?? []).flatMap(of));
      default:
        return [];
    }
  };
  return [
    ...find.flatMap((link) => (link.name === "getByRole" ? (link.args ?? []).slice(1) : (link.args ?? [])).flatMap(of)),
    ...args.flatMap(of),
  ];
}

function repeated(calls: readonly Call[]): Repeated[] {
  const found: Repeated[] = [];
  for (const call of calls) {
    const last = found.at(-1);
    const isAgain =
      /^(?:click|press|keyboard\.press)$/.test(call.method) && last !== undefined && textOf(last.call) === textOf(call);
    if (isAgain) found[found.length - 1] = { call, times: last.times + 1 };
    else found.push({ call, times: 1 });
  }
  return found;
}

/** Lays the steps of all samples side by side, and unites those of each place. */
function aligned(kind: Kind, samples: readonly Sample[]): Action[] | undefined {
  const rows = samples.map(({ value, calls }) => ({ tokens: tokensOf(kind, value), value, steps: repeated(calls) }));
  const longest = rows.reduce((top, row) => (row.steps.length > top.steps.length ? row : top));
  const columns: { readonly tokens: Tokens; readonly value: FieldValue; readonly step: Repeated | undefined }[][] =
    longest.steps.map(() => []);
  for (const { tokens, value, steps } of rows) {
    let at = 0;
    longest.steps.forEach((step, i) => {
      const own = steps[at];
      const left = longest.steps.length - i > steps.length - at;
      const fits =
        own !== undefined &&
        (!left ||
          unifiedCall([
            { call: step.call, tokens: longest.tokens },
            { call: own.call, tokens },
          ]) !== undefined);
      columns[i]?.push({ tokens, value, step: fits ? own : undefined });
      if (fits) at++;
    });
    if (at < steps.length) return undefined;
  }
  const actions: Action[] = [];
  for (const column of columns) {
    const there = column.flatMap(({ tokens, step }) =>
      step === undefined ? [] : [{ call: step.call, tokens, times: step.times }],
    );
    const text = unifiedCall(there);
    const counts = column.map(({ step }) => step?.times ?? 0);
    // an empty text needs no step of its own
    const isSame = column.every(
      ({ value, step }) => step?.times === counts.find((n) => n > 0) || (step === undefined && value === ""),
    );
    if (text !== undefined && isSame) actions.push(...Array.from({ length: Math.max(...counts) }, () => text));
    else {
      const counted = countedStep(kind, column);
      if (counted === undefined) return undefined;
      actions.push(counted);
    }
  }
  const isPlaced = actions.some((one) => typeof one !== "string" || PLACE.test(one));
  return isPlaced ? actions : undefined;
}

/** Finds how often a step is taken for a value: once a month or a year from now, or by the size of a number. */
function countedStep(
  kind: Kind,
  column: readonly { readonly tokens: Tokens; readonly step: Repeated | undefined }[],
): Action | undefined {
  const texts = [...new Set(column.flatMap(({ step }) => (step === undefined ? [] : [textOf(step.call)])))];
  const [forth, back, ...more] = texts;
  if (forth === undefined || more.length > 0) return undefined;
  const counts = column.map(({ step }) =>
    step === undefined ? 0 : textOf(step.call) === forth ? step.times : -step.times,
  );
  for (const of of kind === "number" ? ["value"] : ["months", "years"]) {
    const sizes = column.map(({ tokens }) => Number(tokens.texts[of]));
    const line =
      linear(sizes, counts) ??
      (of === "months" ? linear([...sizes, 0], [...counts, (counts[0] ?? 0) - (sizes[0] ?? 0)]) : undefined);
    if (line !== undefined && line[0] !== 0)
      return { do: forth, times: `{${of} * ${line[0]} + ${line[1]}}`, ...(back === undefined ? {} : { back }) };
  }
  return undefined;
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
function unifiedCall(all: readonly Tagged[]): string | undefined {
  const [first] = all;
  if (first === undefined) return undefined;
  const { find, method } = first.call;
  if (all.some(({ call }) => call.method !== method || call.find.length !== find.length)) return undefined;
  const links = find.map((link, i) => {
    const others = all.map(({ call }) => call.find[i] as Link);
    return others.some(({ name }) => name !== link.name)
      ? undefined
      : unifiedAll(
          others.map((one) => one.args ?? []),
          all,
        );
  });
  const given = unifiedAll(
    all.map(({ call }) => call.args),
    all,
  );
  if (given === undefined || links.includes(undefined)) return undefined;
  return textOf({ find: find.map((link, i) => ({ name: link.name, args: links[i] as Node[] })), method, args: given });
}

function unifiedAll(rows: readonly (readonly Node[])[], all: readonly Tagged[]): Node[] | undefined {
  const [first = []] = rows;
  if (rows.some((row) => row.length !== first.length)) return undefined;
  const found = first.map((_, i) =>
    unified(
      rows.map((row) => row[i] as Node),
      all.map(({ tokens }) => tokens),
    ),
  );
  return found.includes(undefined) ? undefined : (found as Node[]);
}

function unified(nodes: readonly Node[], tokens: readonly Tokens[]): Node | undefined {
  const [first] = nodes;
  if (first === undefined || nodes.some((node) => node.is !== first.is)) return undefined;
  switch (first.is) {
    case "value": {
      const values = nodes.map((node) => (node as typeof first).value);
      const isText = values.every((value) => typeof value === "string");
      if (isText) return textNode(templateOf(values as string[], tokens, (text) => text));
      if (values.every((value) => value instanceof RegExp)) {
        const source = templateOf(
          values.map((value) => (value as RegExp).source),
          tokens,
          escaped,
        );
        return source === undefined
          ? undefined
          : { is: "value", value: new RegExp(source, (values[0] as RegExp).flags) };
      }
      if (values.every((value) => value === values[0])) return first;
      for (const of of ["value", "index"]) {
        const line = linear(
          tokens.map(({ texts }) => Number(texts[of])),
          values.map(Number),
        );
        if (line !== undefined) return textNode(`{${of} * ${line[0]} + ${line[1]}}`);
      }
      return undefined;
    }
    case "list":
      return joined(
        nodes.map((node) => (node as typeof first).items),
        tokens,
        (items) => ({ is: "list", items }),
      );
    case "object": {
      const keys = first.entries.map(([key]) => key);
      if (
        nodes.some(
          (node) =>
            !isDeepStrictEqual(
              (node as typeof first).entries.map(([key]) => key),
              keys,
            ),
        )
      )
        return undefined;
      const rows = nodes.map((node) => (node as typeof first).entries.map(([, value]) => value));
      return joined(rows, tokens, (items) => ({
        is: "object",
        entries: items.map((item, i) => [keys[i] as string, item]),
      }));
    }
    default:
      return nodes.every((node) => written(node) === written(first)) ? first : undefined;
  }
}

function joined(
  rows: readonly (readonly Node[])[],
  tokens: readonly Tokens[],
  join: (items: Node[]) => Node,
): Node | undefined {
  if (rows.some((row) => row.length !== rows[0]?.length)) return undefined;
  const found = (rows[0] ?? []).map((_, i) =>
    unified(
      rows.map((row) => row[i] as Node),
      tokens,
    ),
  );
  return found.includes(undefined) ? undefined : join(found as Node[]);
}

const textNode = (value: string | undefined): Node | undefined =>
  value === undefined ? undefined : { is: "value", value };

/** Finds a text with places that gives each person's text with that person's value. @param write as it stands in a pattern. */
function templateOf(
  texts: readonly string[],
  tokens: readonly Tokens[],
  write: (text: string) => string,
): string | undefined {
  const isAlone = new Set(tokens.map(({ value }) => String(value))).size === 1;
  const [text = "", own] = [texts[0], tokens[0]];
  const names = Object.keys(own?.texts ?? {})
    .filter((name) => !/^(?:months|years|(?:from|to) (?:months|years))$/.test(name))
    .filter((name) => !isAlone || isTelling(name, text, own?.texts[name] ?? ""))
    .sort(
      (a, b) => Number(isPiece(a)) - Number(isPiece(b)) || (own?.texts[b]?.length ?? 0) - (own?.texts[a]?.length ?? 0),
    );
  const dead = new Set<string>();
  const search = (at: readonly number[]): string | undefined => {
    if (at.every((n, i) => n === texts[i]?.length)) return "";
    if (dead.has(at.join())) return undefined;
    const go = (pieces: readonly string[], as: string): string | undefined => {
      if (!pieces.every((piece, i) => piece !== "" && texts[i]?.startsWith(piece, at[i]))) return undefined;
      const rest = search(at.map((n, i) => n + (pieces[i] as string).length));
      return rest === undefined ? undefined : as + rest;
    };
    const place = (name: string): string | undefined =>
      go(
        tokens.map((one) => write(one.texts[name] ?? "")),
        `{${name}}`,
      );
    const sign = text[at[0] as number] ?? "";
    const ways = [
      ...names.filter((name) => !isPiece(name)).map((name) => () => place(name)),
      () =>
        go(
          texts.map(() => sign),
          sign,
        ),
      ...names.filter(isPiece).map((name) => () => place(name)),
    ];
    for (const way of ways) {
      const found = way();
      if (found !== undefined) return found;
    }
    dead.add(at.join());
    return undefined;
  };
  const whole = tokens.map((one) => one.texts.value ?? "");
  // a box may cut a value that is too long for it
  const isCut = texts.every((one, i) => whole[i]?.startsWith(one) === true && one.length * 2 > (whole[i]?.length ?? 0));
  if (texts.every((one, i) => one === whole[i]) || isCut) return "{value}";
  return search(texts.map(() => 0));
}

const isPiece = (name: string): boolean => /^(?:value[:[]|index|number$)/.test(name);

/** Tells whether a value that only one person had may be found in a text. */
const isTelling = (name: string, text: string, part: string): boolean =>
  (name === "number" && text.split(/\D+/).includes(part)) ||
  (!isPiece(name) &&
    (text === part ||
      (/^(?:value|lower)$/.test(name) ? part.length >= TELLING : /^(?:(?:from|to) )?(?:[YMD]+|Do|d+)$/.test(name))));
