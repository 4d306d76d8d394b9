import type { FrameLocator, Locator, Page } from "playwright";
import { escaped, NoWay } from "../way.js";
import { Chain, isOptions, type Link, parseChain, type Value } from "./code.js";
import { filled, LINEAR, type Tokens } from "./tokens.js";

/** Methods of Playwright by which a recording may find an element. */
export const FINDS =
  /^(?:getBy(?:Role|Label|Text|Placeholder|AltText|Title|TestId)|locator|frameLocator|filter|first|last|nth|contentFrame|and|or)$/;

/** Finds the elements of a locator that is written as codegen does: `getByRole('button', { name: 'Next' })`. */
export const locatedBy = (page: Page, text: string): Locator => found(page, parseChain(text), { texts: {} });
export const isCode = (locator: string): boolean => /^(?:getBy[A-Z]\w+|locator|frameLocator)\(/.test(locator);

/** Finds the element of a chain. @param isExact takes names as a whole. */
export function found(page: Page, links: readonly Link[], tokens: Tokens, isExact = false): Locator {
  let at: Page | Locator | FrameLocator = page;
  for (const { name, args = [] } of links) {
    const given = args.map((value) => argumentOf(page, value, tokens));
    if (isExact && /^getBy(?!TestId)/.test(name) && typeof given[name === "getByRole" ? 1 : 0] !== "undefined")
      given[1] = { ...(given[1] as object), exact: true };
    if (!FINDS.test(name)) throw new NoWay(`${name} finds nothing`);
    at = (at as unknown as Record<string, (...given: unknown[]) => Locator>)[name]?.(...given) as Locator;
  }
  return at as Locator;
}

/** Evaluates an argument with a value in its places. */
export function argumentOf(page: Page, value: Value, tokens: Tokens): unknown {
  if (value instanceof RegExp) return new RegExp(filled(value.source, tokens, escaped), value.flags);
  if (value instanceof Chain) return found(page, value.links, tokens);
  if (Array.isArray(value)) return value.map((item: Value) => argumentOf(page, item, tokens));
  if (isOptions(value))
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, argumentOf(page, one, tokens)]));
  if (typeof value !== "string") return value;
  if (value === "{value}" && typeof tokens.value === "boolean") return tokens.value;
  return LINEAR.test(value) ? numberIn(value, tokens) : filled(value, tokens);
}

/** Computes `{value * 2 + 1}`. @throws NoWay if the value is no number. */
export function numberIn(text: string, tokens: Tokens): number {
  const [, of = "", factor, offset] = LINEAR.exec(text) ?? [];
  const number = Number(tokens.texts[of]) * Number(factor) + Number(offset);
  if (!Number.isFinite(number)) throw new NoWay(`${of} is no number`);
  return number;
}
