/** Proposes what a person may declare as a form's success and refusal; nothing uses it by itself. */
import type { FieldValue } from "../../../env/site.js";
import type { Play } from "./plays.js";

/** Most texts that are proposed, and most characters of one. */
const MOST = 3;
const MOST_LETTERS = 80;

/** Lists the declarations that fit a play with a task's values and one of the empty form. @param entered the values, which are no sign. */
export function proposals(full: Play, empty: Play | undefined, entered: readonly FieldValue[]): string[] {
  const texts = entered.flat().map(String);
  // a number in a line may be a serial number
  const isSign = (line: string): boolean =>
    /\p{L}{2}/u.test(line) &&
    !/\d/.test(line) &&
    line.length <= MOST_LETTERS &&
    !texts.some((text) => text !== "" && line.includes(text));
  const only = (one: Play, other: Play | undefined): string[] =>
    one.news.filter((line) => isSign(line) && other?.news.includes(line) !== true).slice(0, MOST);
  const [yes, no] = [only(full, empty), empty === undefined ? [] : only(empty, full)];
  const own =
    full.status !== empty?.status && full.status !== undefined && full.status < 400 ? [`status: ${full.status}`] : [];
  const asText = (line: string): string => `text: ${JSON.stringify(line)}`;
  const list = (all: readonly string[]): string => all.map((one) => `{${one}}`).join(" or ");
  return [
    "no success is declared: nothing counts as accepted. Look at the site's answer, and declare in its tasks or in site:",
    ...(yes.length + own.length > 0
      ? [`success may be ${list([...yes.map(asText), ...own])}`]
      : ["nothing that the page showed tells an accepted form from an empty one"]),
    ...(no.length > 0 ? [`refusal may be ${list(no.map(asText))}`] : []),
  ];
}
