import type { SuccessMarker } from "../site.js";
import { type ReadForm, renew } from "./controls.js";
import type { Exchange } from "./network/exchange.js";
import { passTime } from "./page/actions.js";
import { readSigns, sees } from "./page/signs.js";
import type { Session } from "./session.js";

/** Limits how long a page's own clock may run until it shows that a form was accepted. */
const MARKER = { patienceMs: 3000, everyMs: 100 };

/**
 * Waits for what a task says that an accepted form shows.
 * @param documents how many the session had shown when the form was sent.
 * @param isLast it has to come now: it is waited for.
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
