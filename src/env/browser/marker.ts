import { holdsOwn, textOf, writtenIn } from "../forms/answer.js";
import { isError } from "../forms/judge.js";
import type { SuccessMarker } from "../site.js";
import { type ReadForm, renew } from "./controls.js";
import type { Exchange } from "./network/exchange.js";
import type { PageForm } from "./page/form.js";
import type { Session } from "./session.js";

/** Time that a page may take to show that a form was accepted, and the interval of looking, in milliseconds. */
const MARKER = { patienceMs: 3000, everyMs: 100 };

/** Known facts when the signs of an accepted form are looked for. */
export interface Sent {
  /** The requests that carried the form's values. */
  readonly exchanges: readonly Exchange[];
  /** Number of documents that the session had shown when the form was sent. */
  readonly documents: number;
  /** Texts of the plan: a sign that only repeats them is none. */
  readonly written: readonly string[];
  /** Set if the page showed the signs before the form was sent: in the same document they then prove nothing. */
  readonly early: boolean;
}

/** Runs IN THE PAGE: reads its visible text. */
const readText = ({ clean }: PageForm): string => clean(document.body?.innerText).slice(0, 4000);

/** Runs IN THE PAGE: tells whether a visible element matches a selector; an invalid selector matches nothing. */
function sees(page: PageForm, selector: string): boolean {
  try {
    return page.all(selector).some(page.shown);
  } catch {
    return false;
  }
}

/** Runs IN THE PAGE: waits for so many milliseconds on the page's clock. */
async function passTime(_: PageForm, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) await new Promise((resolve) => setTimeout(resolve, 100));
}

/** Tells whether a page shows the text and the element of a marker. */
async function showsMarker(
  { handle }: ReadForm,
  { text, selector }: SuccessMarker,
  written: readonly string[],
): Promise<boolean> {
  if (text !== undefined && !holdsOwn(await handle.evaluate(readText), text, written)) return false;
  // a plan may write elements into a page that shows its text as markup
  const isOwn = !written.some((one) => /<[a-z]/i.test(one));
  return selector === undefined || (isOwn && (await handle.evaluate(sees, selector)));
}

/** Tells whether a page shows a marker already before its form is sent. */
export const isEarly = async (
  form: ReadForm,
  marker: SuccessMarker = {},
  written: readonly string[],
): Promise<boolean> =>
  (marker.text !== undefined || marker.selector !== undefined) && (await showsMarker(form, marker, written));

/**
 * Waits for the signs of an accepted form that a task gives.
 * @param isLast whether to wait for the signs; else the page is looked at once.
 * @returns whether they appeared; undefined if the task gives none, or nothing was sent, or the server refused it.
 */
export async function awaitMarker(
  session: Session,
  form: ReadForm,
  marker: SuccessMarker | undefined,
  { exchanges, documents, written: texts, early }: Sent,
  isLast = true,
): Promise<boolean | undefined> {
  const last = exchanges.at(-1);
  if (marker === undefined || last === undefined || isError(last.answer?.status ?? null)) return undefined;
  const { status, url, text, selector } = marker;
  const written = writtenIn(
    texts,
    exchanges.flatMap(({ posted }) => posted),
  );
  const inAddress = [...written, ...written.map((one) => encodeURIComponent(one).replaceAll("%20", "+"))];
  const answers = exchanges.flatMap(({ answer }) => answer ?? []);
  const shows = async (): Promise<boolean> => {
    const arrived = session.documents > documents ? session.status : undefined;
    if (isError(arrived ?? null)) return false;
    const statuses = [arrived, ...answers.map((answer) => answer.status)];
    if (status !== undefined && ![status].flat().some((one) => statuses.includes(one))) return false;
    const addresses = [session.page.url(), ...answers.map((answer) => answer.url)];
    if (url !== undefined && !addresses.some((one) => one.includes(url) && holdsOwn(one, url, inAddress))) return false;
    const isNew = arrived !== undefined || !early;
    if (isNew && (await showsMarker(form, marker, written))) return true;
    // the answer to a script may be shown only in part
    const isAnswered = text !== undefined && answers.some((answer) => holdsOwn(textOf(answer.text), text, written));
    return isAnswered && (selector === undefined || (isNew && showsMarker(form, { selector }, written)));
  };
  for (let waited = 0; ; waited += MARKER.everyMs) {
    try {
      if (await shows()) return true;
      if (!isLast || waited >= MARKER.patienceMs) return false;
      await form.handle.evaluate(passTime, MARKER.everyMs);
    } catch (error) {
      if (!(await session.movesOn(documents))) throw error;
      await renew(session, form);
    }
  }
}
