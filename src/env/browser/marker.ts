import type { SuccessMarker } from "../site.js";
import { type ReadForm, renew } from "./controls.js";
import type { Exchange } from "./network/exchange.js";
import { passTime } from "./page/actions.js";
import { readSigns, sees } from "./page/signs.js";
import type { Session } from "./session.js";

/** Time that a page may take to show that a form was accepted, and the interval of looking, in milliseconds. */
const MARKER = { patienceMs: 3000, everyMs: 100 };

/**
 * Waits for the signs of an accepted form that a task gives.
 * @param documents number of documents that the session had shown when the form was sent.
 * @param isLast whether to wait for the signs; else the page is looked at once.
 */
export async function awaitMarker(
  session: Session,
  form: ReadForm,
  { status, url, text, selector }: SuccessMarker,
  documents: number,
  exchanges: readonly Exchange[],
  isLast = true,
): Promise<boolean> {
  const answers = exchanges.flatMap(({ answer }) => answer ?? []);
  const shows = async ({ handle }: ReadForm): Promise<boolean> => {
    const arrived = session.documents > documents ? session.status : undefined;
    const statuses = [arrived, ...answers.map((answer) => answer.status)];
    if (status !== undefined && ![status].flat().some((one) => statuses.includes(one))) return false;
    const addresses = [session.page.url(), ...answers.map((answer) => answer.url)];
    if (url !== undefined && !addresses.some((address) => address.includes(url))) return false;
    if (text !== undefined) {
      const texts = [(await handle.evaluate(readSigns)).text, ...answers.map((answer) => answer.text)];
      if (!texts.some((one) => one.toLowerCase().includes(text.toLowerCase()))) return false;
    }
    return selector === undefined || (await handle.evaluate(sees, selector));
  };
  for (let waited = 0; ; waited += MARKER.everyMs) {
    try {
      if (await shows(form)) return true;
      if (!isLast || waited >= MARKER.patienceMs) return false;
      await form.handle.evaluate(passTime, MARKER.everyMs);
    } catch (error) {
      if (!(await session.movesOn(documents))) throw error;
      await renew(session, form);
    }
  }
}
