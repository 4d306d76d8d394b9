import type { FrameLocator, Locator, Page } from "playwright";
import { escaped, NoWay } from "../way.js";
import { type Link, type Node, parseChain } from "./code.js";
import { filled, LINEAR, type Tokens } from "./tokens.js";

/** Methods of Playwright by which a recording may find an element. */
export const FINDS =
  /^(?:getBy(?:Role|Label|Text|Placeholder|AltText|Title|TestId)|locator|frameLocator|filter|first|last|nth|contentFrame|and|or)$/;

/** Finds the elements of a locator that is written as codegen does: `getByRole('button', { name: 'Next' })`. */
export const locatedBy = (page: Page, text: string): Locator => found(page, parseChain(text).links, { texts: {} });
export const isCode = (locator: string): boolean => /^(?:getBy[A-Z]\w+|locator|frameLocator)\(/.test(locator);

/** Finds the element of a chain. @param isExact takes names as a whole. */
export function found(page: Page, links: readonly Link[], tokens: Tokens, isExact = false): Locator {
  let at: Page | Locator | FrameLocator = page;
  for (const { name, args = [] } of links) {
    const given = args.map((node) => argumentOf(page, node, tokens));
    if (isExact && /^getBy(?!TestId)/.test(name) && typeof given[name === "getByRole" ? 1 : 0] !== "undefined")
      given[1] = { ...(given[1] as object), exact: true };
    if (!FINDS.test(name)) throw new NoWay(`${name} finds nothing`);
    at = (at as unknown as Record<string, (...given: unknown[]) => Locator>)[name]?.(...given) as Locator;
  }
  return at as Locator;
}

/** Evaluates an argument with a value in its places. */
export function argumentOf(page: Page, node: Node, tokens: Tokens): unknown {
  switch (node.is) {
    case "value":
      if (node.value instanceof RegExp) return new RegExp(filled(node.value.source, tokens, escaped), node.value.flags);
      if (typeof node.value !== "string") return node.value;
      if (node.value === "{value}" && typeof tokens.value === "boolean") return tokens.value;
      return LINEAR.test(node.value) ? numberIn(node.value, tokens) : filled(node.value, tokens);
    case "list":
      return node.items.map((item) => argumentOf(page, item, tokens));
    case "object":
      return Object.fromEntries(node.entries.map(([key, value]) => [key, argumentOf(page, value, tokens)]));
    case "chain":
      return found(page, node.links, tokens);
    default:
      throw new NoWay(`a ${node.is} is no argument`);
  }
}

/** Computes `{value * 2 + 1}`. @throws NoWay if the value is no number. */
export function numberIn(text: string, tokens: Tokens): number {
  const [, of = "", factor, offset] = LINEAR.exec(text) ?? [];
  const number = Number(tokens.texts[of]) * Number(factor) + Number(offset);
  if (!Number.isFinite(number)) throw new NoWay(`${of} is no number`);
  return number;
}
