import type { Exchange } from "../browser/network/exchange.js";
import type { Session } from "../browser/session.js";
import { innermost } from "./native.js";
import { normalizeText } from "./normalize.js";
import type { PostedPair } from "./posted.js";

/** Most lines of an answer or a page that are read, and most characters of a line. */
const MOST_LINES = 400;
const MOST_LETTERS = 160;

/** Lists the features of an answer to a form: `status 303`, `json ok = true`, `says Thank you`. */
export function featuresOf(exchange: Exchange): string[] {
  const { answer } = exchange;
  if (answer === undefined) return [];
  const features = [`status ${answer.status}`];
  if (isShownAgain(exchange)) features.push(AGAIN);
  if (answer.status >= 300 && answer.status < 400) {
    const { pathname, search } = new URL(answer.url);
    features.push(`leads to ${pathname}${search}`, `leads to ${pathname.replace(/[0-9a-f-]*\d[0-9a-f-]*/gi, "#")}`);
  }
  const json = jsonOf(answer.text);
  if (json !== undefined) walk(json, "", features);
  else for (const line of linesOf(answer.text)) features.push(`says ${line}`);
  return features;
}

/** The feature of an answer that is the form again. */
export const AGAIN = "the form again";

/** Tells whether the page in an answer has fields with all the names that were sent. */
function isShownAgain({ answer, posted, how, method }: Exchange): boolean {
  if (how !== "navigation" || method === "GET" || answer === undefined || answer.status >= 300 || posted.length === 0)
    return false;
  return posted.every(([name]) => answer.text.includes(`name="${name}"`) || answer.text.includes(`name=${name}`));
}

const folded = (text: string): string => normalizeText(text).toLowerCase();

/**
 * Tells whether a text holds another one, apart from what a plan wrote: a page or an answer may repeat that. Case and
 * the width of spaces do not matter.
 */
export function holdsOwn(text: string, wanted: string, written: readonly string[]): boolean {
  const [all, part] = [folded(text), folded(wanted)];
  if (part === "" || !all.includes(part)) return false;
  const isWord = (letter = ""): boolean => /[\p{L}\p{N}]/u.test(letter);
  const own = all.split("");
  for (const value of written.map(folded))
    for (let at = value === "" ? -1 : all.indexOf(value); at >= 0; at = all.indexOf(value, at + value.length)) {
      const end = at + value.length;
      // a short value is a chance part of other words
      if (value.length > 2 || !(isWord(all[at - 1]) || isWord(all[end]))) own.fill(" ", at, end);
    }
  const sign = isWord(part) ? /[\p{L}\p{N}]/u : /\S/u;
  for (let at = all.indexOf(part); at >= 0; at = all.indexOf(part, at + 1))
    if (sign.test(own.slice(at, at + part.length).join(""))) return true;
  return false;
}

/** Adds to the texts of a plan what the page made of them: cut or completed ones that were sent, and text in markup. */
export function writtenIn(texts: readonly string[], posted: readonly PostedPair[]): string[] {
  const known = texts.map(folded).filter((text) => text !== "");
  const sent = posted
    .map(([, value]) => value)
    .filter((value) => {
      const own = folded(value);
      return own !== "" && known.some((text) => text.includes(own) || own.includes(text));
    });
  const all = [...texts, ...sent];
  return [...new Set([...all, ...all.map(textOf)])];
}

/** Drops the features that are nothing but what a plan wrote: lines, and what JSON has under a key that was sent. */
export function ownFeatures(
  features: readonly string[],
  written: readonly string[],
  posted: readonly PostedPair[],
): string[] {
  const keys = new Set(posted.map(([key]) => innermost(key)));
  return features.filter((feature) => {
    const [, path, text] = /^(?:says|shows|json (.*?) =) (.*)$/s.exec(feature) ?? [];
    return text === undefined || (path !== undefined && !keys.has(innermost(path))) || holdsOwn(text, text, written);
  });
}

function jsonOf(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function walk(value: unknown, path: string, features: string[]): void {
  if (features.length > MOST_LINES) return;
  if (path !== "") features.push(`json has ${path}`);
  if (Array.isArray(value)) {
    features.push(`json ${path} is ${value.length === 0 ? "an empty list" : "a list"}`);
    for (const item of value.slice(0, 3)) walk(item, `${path}[]`, features);
  } else if (typeof value === "object" && value !== null) {
    if (path !== "")
      features.push(`json ${path} is ${Object.keys(value).length === 0 ? "an empty object" : "an object"}`);
    for (const [key, inner] of Object.entries(value)) walk(inner, path === "" ? key : `${path}.${key}`, features);
  } else if (String(value).length <= MOST_LETTERS) features.push(`json ${path} = ${String(value)}`);
}

/** Returns the text of a document, or of an answer that is none, without markup. */
export const textOf = (html: string): string =>
  html
    .slice(0, 500_000)
    .replace(/<!--[\s\S]*?-->|<(script|style|svg|select|template)\b[^>]*>[\s\S]*?<\/\1>/gi, "\n")
    .replace(/<[^>]*>/g, "\n");

const linesOf = (html: string): string[] =>
  textOf(html)
    .split(/\s*\n\s*/)
    .map((line) => line.replace(/\s+/g, " ").trim())
    .filter((line) => line !== "" && line.length <= MOST_LETTERS)
    .slice(0, MOST_LINES);

/** Reads the lines that the page shows, and the texts of its dialogs. */
export async function visibleLines(session: Session): Promise<string[]> {
  const text = await session.view.evaluate(() => {
    let text = "";
    const read = (node: Element | ShadowRoot): void => {
      text += `\n${node instanceof HTMLElement ? node.innerText : ""}`;
      for (const e of node.querySelectorAll("*")) if (e.shadowRoot !== null && text.length < 100000) read(e.shadowRoot);
    };
    if (document.body !== null) read(document.body);
    return text.slice(0, 100000);
  });
  const lines = text.split("\n").map((line) => line.replace(/\s+/g, " ").trim());
  return [...new Set([...lines, ...session.alerts])].filter((line) => line !== "" && line.length <= MOST_LETTERS);
}
