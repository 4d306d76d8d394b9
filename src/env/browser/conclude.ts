import type { SuccessMarker, Task } from "../site.js";
import { EnvironmentFault } from "./browser.js";
import type { ReadForm } from "./controls.js";
import { Hands } from "./hands.js";
import { showsMarker } from "./marker.js";
import { type Exchange, nameOf } from "./network/exchange.js";
import { passTime } from "./page/actions.js";
import { awaitChange } from "./page/hands.js";
import { type PageSigns, readSigns } from "./page/signs.js";
import { renew } from "./reach.js";
import type { Session } from "./session.js";
import { type Choice, judge, type Sent, type Submission } from "./submission.js";

/** How long a script may think between a click and its request, or before it asks once more, by its own clock. */
export const SCRIPT_PATIENCE_MS = 3000;

/** How long a page may take to send on what has been answered, or to say how it went. */
export const SETTLE_MS = 150;

/** A press of the submit button, and how the page was before it. */
export interface Press {
  readonly session: Session;
  readonly form: ReadForm;
  readonly task: Pick<Task, "keys" | "success">;
  readonly sent: Sent;
  readonly before: PageSigns | undefined;
  /** Documents that the session had shown. */
  readonly documents: number;
  /** Messages that the page had shown in dialogs. */
  readonly saidBefore: number;
}

/**
 * Reads what the server and the page say about a submission.
 * @returns the submission, and what the page shows after it, where that was read.
 * @throws EnvironmentFault where the page that follows is the server's failure.
 */
export async function conclude(
  press: Press,
  choice: Choice,
): Promise<{ submission: Submission; after: PageSigns | undefined }> {
  const { session, form, task, sent, documents } = press;
  const { exchange } = choice;
  const scripted = exchange.how !== "navigation";
  if (scripted && !hasLeft(press)) await settle(press, exchange);
  let status: number | undefined;
  const arrive = async (): Promise<void> => {
    await renew(session, form);
    status = session.status;
    if (status >= 500) throw new EnvironmentFault(`HTTP ${status} after ${nameOf(exchange)}`);
  };
  if (hasLeft(press)) await arrive();
  // a form that sent itself has left its page before
  const earlier = exchange.phase === "step";
  const there = session.documents > documents || earlier;
  const before = earlier ? undefined : press.before;
  const html =
    exchange.answer !== undefined && /html/.test(exchange.answer.contentType) && !there && exchange.answer.text !== ""
      ? exchange.answer.text
      : undefined;
  if (task.success !== undefined)
    return { submission: await marked(press, choice, task.success, html), after: undefined };
  const signs = async (answer?: string): Promise<PageSigns> => {
    try {
      const read = await form.handle.evaluate(readSigns, answer);
      const said = session.said.slice(press.saidBefore).map((text) => ({ text, good: false }));
      return { ...read, notices: [...read.notices, ...said] };
    } catch (error) {
      // the next page came while this one was read
      if (!hasLeft(press)) throw error;
      await arrive();
      return form.handle.evaluate(readSigns, undefined);
    }
  };
  const shown = there || scripted ? await signs() : undefined;
  const submission = judge(task, sent, choice, {
    before,
    after: shown,
    ...(status === undefined ? {} : { status }),
  });
  if (html === undefined || !submission.accepted) return { submission, after: shown };
  const after = await signs(html);
  return { submission: judge(task, sent, choice, { before, after }), after };
}

const hasLeft = ({ session, documents }: Press): boolean => session.isLeaving() || session.documents > documents;

async function settle(press: Press, { answer }: Exchange): Promise<void> {
  const { session, form } = press;
  try {
    await new Hands(session, form.handle).calm(SETTLE_MS * 2, 75);
    // what the server has only taken in, the page asks for again
    const later =
      answer?.status === 202 || /"(?:pending|processing|queued|running|in_progress)"/.test(answer?.text ?? "");
    if (later) await form.handle.evaluate(awaitChange, SCRIPT_PATIENCE_MS);
  } catch (error) {
    if (!hasLeft(press)) throw error;
  }
}

/** Waits for what the task says an accepted form shows. */
async function marked(
  press: Press,
  choice: Choice,
  marker: SuccessMarker,
  html: string | undefined,
): Promise<Submission> {
  const { session, form, task, sent, documents } = press;
  const { answer } = choice.exchange;
  const shown = (): Promise<boolean> =>
    showsMarker(form, marker, {
      statuses: [session.documents > documents ? session.status : undefined, answer?.status],
      addresses: [session.page.url(), answer?.url ?? ""],
      texts: [answer?.text ?? "", html ?? ""],
    });
  let accepted = false;
  for (let waited = 0; waited <= SCRIPT_PATIENCE_MS && !accepted; waited += 100) {
    try {
      accepted = await shown();
      if (!accepted) await form.handle.evaluate(passTime, 100);
    } catch (error) {
      if (!hasLeft(press)) throw error;
    }
    if (session.isLeaving()) await renew(session, form);
  }
  const { refusal: _, ...judged } = judge(task, sent, choice, { before: undefined, after: undefined });
  return accepted ? { ...judged, accepted } : { ...judged, accepted, refusal: "the success marker did not appear" };
}
