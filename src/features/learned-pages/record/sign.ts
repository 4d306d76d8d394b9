import { isOptions, type Link, type Value } from "./code.js";

/** What an assertion says of the page after the form was sent: a part of its address, a text, or CSS of an element. */
export interface Asserted {
  readonly url?: string;
  readonly text?: string;
  readonly selector?: string;
}

/** Locators that are not CSS alone. */
const NOT_CSS = /^(?:\w+(?::\w+)?=|\/\/|\.\.)|>>|:(?:has-text|text|text-is|text-matches|visible|nth-match|near)\b/;

/**
 * Reads a Playwright assertion as a sign of acceptance.
 * @param links what is asserted about. @param given the argument of the assertion.
 * @returns nothing for an assertion that says neither an address, nor a text, nor an element.
 */
export function signOf(links: readonly Link[], assertion: string, given?: Value): Asserted {
  const text = plainText(given);
  if (assertion === "toHaveURL") return text === undefined ? {} : { url: addressIn(text) };
  const { name, args = [] } = links.findLast((link) => !/^(?:nth|first|last)$/.test(link.name)) ?? {};
  const [of, options] = args;
  const css = name === "getByTestId" ? `[data-testid=${JSON.stringify(of)}]` : name === "locator" ? String(of) : "";
  const element = links.length > 0 && css !== "" && !NOT_CSS.test(css) ? { selector: css } : {};
  if (/^to(?:ContainText|HaveText)$/.test(assertion)) return text === undefined ? {} : { ...element, text };
  if (assertion !== "toBeVisible") return {};
  const hasText = isOptions(options) ? (options.name ?? options.hasText) : undefined;
  const shown = plainText(
    name === "getByText" ? of : name === "filter" && isOptions(of) ? of.hasText : (hasText ?? undefined),
  );
  return { ...element, ...(shown !== undefined && { text: shown }) };
}

/** Returns a text, or the one that a pattern without choices finds; undefined for anything else. */
function plainText(value: Value | undefined): string | undefined {
  if (typeof value === "string") return value.trim() || undefined;
  if (!(value instanceof RegExp)) return undefined;
  const source = value.source.replace(/^\^|\$$/g, "");
  return /(?<!\\)[.*+?()[\]{}|^$]|\\\w/.test(source) ? undefined : source.replace(/\\(.)/g, "$1") || undefined;
}

/** Leaves out the origin of an address, which is another one where the form is filled in. */
const addressIn = (text: string): string => text.replace(/^\*+/, "").replace(/^https?:\/\/[^/]+(?=\/.)/i, "");
