import type { Locator, Page } from "playwright";
import { playwright } from "../../../env/browser/playwright.js";
import { nativeFile } from "../../../env/forms/native.js";
import type { Kind } from "../../../env/forms/values.js";
import { isBlank } from "../../../env/forms/wire.js";
import type { FieldValue } from "../../../env/site.js";
import type { Action, PlaceOf } from "../contract.js";
import { rest, slowed } from "../gestures.js";
import type { Surface } from "../surface.js";
import { NoOption, NoWay, type Way } from "../way.js";
import { fileOf } from "../ways/file.js";
import { type Link, parseChain, type Value, written, writtenChain } from "./code.js";
import { argumentOf, FINDS, found, numberIn } from "./locate.js";
import { filled, itemTokens, PLACE, type Tokens, tokensOf } from "./tokens.js";
import { untilMarked } from "./until.js";

/** Methods of Playwright by which a recording may operate an element, or the page. */
export const ACTS =
  /^(?:click|dblclick|tap|hover|check|uncheck|setChecked|fill|clear|pressSequentially|type|press|selectOption|setInputFiles|dragTo|focus|blur)$/;
const OF_PAGE = /^(?:keyboard\.(?:press|type|insertText|down|up)|mouse\.(?:click|move|down|up)|waitForTimeout)$/;
/** Methods that neither open nor close anything. */
const QUIET =
  /^(?:fill|clear|check|uncheck|setChecked|selectOption|setInputFiles|pressSequentially|press|waitForTimeout)$/;
/** Methods that enter a text. */
const TYPES = /^(?:fill|pressSequentially|type|insertText)$/;

/** Time limit of a step on a quiet machine, and most of a pause, in milliseconds. */
const STEP_MS = 900;
const MOST_PAUSE_MS = 10_000;
/** Most times that a step is repeated for a value. */
const MOST_TIMES = 500;
/** Pause between two items of a list, in milliseconds. */
const ITEM_MS = 60;

/** The parts of an action: the chain that finds its element, and the method with its arguments. */
export interface Call {
  readonly find: readonly Link[];
  readonly method: string;
  readonly args: readonly Value[];
}

/** Splits an action. @returns undefined if a recording may not have it. */
export function callOf(links: readonly Link[]): Call | undefined {
  const last = links.at(-1);
  const method = links.map(({ name }) => name).join(".");
  if (OF_PAGE.test(method)) return { find: [], method, args: last?.args ?? [] };
  const find = links.slice(0, -1);
  const isKnown = find.every(({ name, args }) => FINDS.test(name) && args !== undefined);
  if (last?.args === undefined || !ACTS.test(last.name) || !isKnown || find.length === 0) return undefined;
  return { find, method: last.name, args: last.args };
}

const call = (text: string): Call => {
  const found = callOf(parseChain(text));
  if (found === undefined) throw new Error(`${text} is no action`);
  return found;
};

/** Lists the statements of actions. */
export const textsOf = (actions: readonly Action[]): string[] =>
  actions.flatMap((one) => {
    if (typeof one === "string") return [one];
    if ("until" in one) return [one.do];
    if ("do" in one) return [one.do, ...(one.back === undefined ? [] : [one.back])];
    return "each" in one ? [...one.each, ...one.between] : Object.values(one.cases).flat();
  });

/** Returns why a statement is no action of a contract; undefined if it is one. */
export function actionProblem(text: string): string | undefined {
  try {
    call(text);
    return undefined;
  } catch (error) {
    return (error as Error).message.replace(/^action:1: /, "");
  }
}

/** Returns what is known of a way by which recorded actions enter a value. */
export function natureOf(actions: readonly Action[]): Pick<Way, "isLiteral" | "isTyping" | "isQuiet"> {
  const calls = textsOf(actions).map(call);
  const isPlaced = (values: readonly Value[]): boolean => PLACE.test(written(values));
  const picks = calls.some(
    ({ find, method, args }) => PLACE.test(writtenChain(find)) || (method === "selectOption" && isPlaced(args)),
  );
  const isCounted = actions.some((one) => typeof one !== "string");
  const types = calls.some(({ method, args }) => TYPES.test(method) && isPlaced(args)) && !picks && !isCounted;
  const typed = calls.filter(({ method }) => TYPES.test(method)).map(locatorOf);
  const isQuiet = calls.every(
    (one) => QUIET.test(one.method) || (one.method === "click" && typed.includes(locatorOf(one))),
  );
  return { ...(types ? { isLiteral: true, isTyping: true } : {}), ...(isQuiet ? { isQuiet } : {}) };
}

/** Returns the place that a field's actions operate first. */
export const placeOf = (actions: readonly Action[]): PlaceOf | undefined => firstPlace(textsOf(actions).map(call));

/** Locates the element of a step. */
export const targetOf = (page: Page, { find }: Call): Locator => found(page, find, { texts: {} });

/** Returns the place that steps operate first, if it does not depend on the value. */
export function firstPlace(calls: readonly Call[]): PlaceOf | undefined {
  const first = calls.find((one) => one.find.length > 0 && !PLACE.test(locatorOf(one)));
  return first && { locator: locatorOf(first), nth: 0 };
}

/** Writes the place of an action as a contract's locator. */
export const locatorOf = ({ find }: Call): string => writtenChain(find);
/** Tells whether two steps are on the same element. */
export const isSamePlace = (a: Call, b: Call): boolean => a.find.length > 0 && locatorOf(a) === locatorOf(b);

/** Carries out recorded actions for a value. @throws NoOption if an element that the value names is not there. */
export async function perform(
  surface: Surface,
  actions: readonly Action[],
  kind: Kind,
  value: FieldValue,
  patience = 1,
): Promise<void> {
  if (isBlank(value) && natureOf(actions).isTyping !== true) return;
  const limit = slowed(surface, patience * STEP_MS);
  const tokens = tokensOf(kind, value);
  const run = async (all: readonly string[], of: Tokens): Promise<void> => {
    for (const text of all) await act(surface, call(text), of, limit);
  };
  for (const one of actions) {
    if (typeof one === "string") await run([one], tokens);
    else if ("cases" in one) {
      if (!Object.hasOwn(one.cases, String(value))) throw new NoOption(`no steps are recorded for ${String(value)}`);
      await run(one.cases[String(value)] as string[], tokens);
    } else if ("each" in one) {
      for (const [index, item] of [value].flat().entries()) {
        const of = itemTokens(String(item), index);
        if (index > 0) await run(one.between, of);
        await run(one.each, of);
        await rest(surface, ITEM_MS);
      }
    } else if ("until" in one) {
      const target = found(surface.page, call(one.do).find, tokens);
      await untilMarked(target, filled(one.until, tokens), () => run([one.do], tokens));
    } else {
      const times = Math.round(numberIn(one.times, tokens));
      if (Math.abs(times) > MOST_TIMES) throw new NoWay(`${times} times are too many`);
      if (times < 0 && one.back === undefined) throw new NoWay("no step back is recorded");
      for (let i = 0; i < Math.abs(times); i++) await run([times < 0 ? (one.back as string) : one.do], tokens);
    }
  }
}

/** Carries out one step. @param limit its time limit in milliseconds. */
export async function act(surface: Surface, step: Call, tokens: Tokens, limit: number): Promise<void> {
  surface.page.setDefaultTimeout(limit);
  try {
    await carriedOut(surface, step, tokens);
  } finally {
    surface.page.setDefaultTimeout(surface.actionTimeoutMs);
  }
}

async function carriedOut(surface: Surface, { find, method, args }: Call, tokens: Tokens): Promise<void> {
  const { page } = surface;
  const given = args.map((value) => argumentOf(page, value, tokens));
  if (method === "waitForTimeout") return rest(surface, Math.min(MOST_PAUSE_MS, Number(given[0])));
  if (find.length === 0) {
    const [of = "", name = ""] = method.split(".");
    const target = (page as unknown as Record<string, Record<string, (...given: unknown[]) => Promise<void>>>)[of];
    await target?.[name]?.(...given);
    return rest(surface, 0);
  }
  const { value } = tokens;
  if (method === "selectOption" && Array.isArray(value)) given[0] = value.map((label) => ({ label }));
  if (method === "setInputFiles") given[0] = [value ?? given[0]].flat().map((name) => fileOf(nativeFile(String(name))));
  const ends: ((exact: boolean) => Locator)[] = [
    () => found(page, find, tokens),
    () => found(page, find, tokens, true),
    () => found(page, find, tokens).locator("visible=true").last(),
  ];
  for (const [i, end] of ends.entries()) {
    const locator = end(i > 0);
    const target = locator as unknown as Record<string, (...given: unknown[]) => Promise<void>>;
    try {
      await target[method]?.(...given);
      return rest(surface, 0);
    } catch (error) {
      // a step on several elements is refused
      if (i + 1 < ends.length && (await locator.count().catch(() => 0)) > 1) continue;
      const isNamed = PLACE.test(writtenChain(find)) || method === "selectOption";
      if (isNamed && error instanceof playwright().errors.TimeoutError) throw new NoOption(String(error));
      throw error;
    }
  }
}
