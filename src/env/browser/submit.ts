import { type Answers, acceptanceOf } from "../forms/contract.js";
import { type Evidence, keptRequest } from "../forms/judge.js";
import { carriedOf } from "../forms/native.js";
import type { Action } from "../forms/plan.js";
import { EnvironmentFault } from "./browser.js";
import type { ReadForm } from "./controls.js";
import type { ActionRecord } from "./fill.js";
import { Filler } from "./filler.js";
import { beforePress, follow } from "./follow.js";
import { type Exchange, isSame } from "./network/exchange.js";
import type { Aim } from "./page/actions.js";
import { aimed, clickAimed, press } from "./press.js";
import type { Session } from "./session.js";

/** Time limits for sending the form, and for sending it after the page's own requests are answered, in milliseconds. */
const SEND_MS = 3000;
const LOOKED_UP_MS = 200;

/** Fills in a form of one page and sends it once, as a person does; what the server received is judged. */
export class FormFiller extends Filler {
  /** The evidence of what was sent. */
  sent: Pick<Evidence, "requests" | "verdict"> = { requests: [] };

  protected async press(action: Action, button: number | undefined): Promise<ActionRecord> {
    if (button === undefined) return { action, fate: "no-such-control", detail: "no submit button" };
    const { session, form, task, options, written } = this;
    const { traffic } = session;
    const contract = options.known?.contract;
    const acceptance = acceptanceOf(task, contract);
    const [before, aim] = await Promise.all([beforePress(session, acceptance, written), aimed(session, form, button)]);
    if (aim === undefined) return { action, ...COVERED };
    if (aim.invalid !== undefined) return { action, fate: "rejected", detail: aim.invalid };
    try {
      const sent = await pressButton(session, form, button, aim, contract?.request);
      if ("fate" in sent) return { action, ...sent };
      const verdict = await follow(session, acceptance, { before, written, formOf: sent.formOf });
      const last = sent.formOf().at(-1) as Exchange;
      this.sent = { requests: [keptRequest(last, contract)], verdict };
      return { action, ...sentRecord(verdict?.why) };
    } finally {
      traffic.disarm();
    }
  }
}

/** Returns the record of an action that has sent the form. */
export const sentRecord = (refusal: string | undefined): Omit<ActionRecord, "action"> => ({
  ...{ fate: "done", submitted: true },
  ...(refusal === undefined ? {} : { detail: refusal }),
});

/** The fate of a submit that sent nothing. */
type Unsent = Pick<ActionRecord, "fate" | "detail">;
const COVERED: Unsent = { fate: "timeout", detail: "the submit button could not be clicked" };

/**
 * Presses a form's button.
 * @param request the form's request, if it is known; else one to the form's address, or with one of its controls.
 * @returns a function that lists the form's requests so far, or the fate of the submit if there was none.
 * @throws EnvironmentFault if there was none because the server failed the page.
 */
async function pressButton(
  session: Session,
  form: ReadForm,
  button: number,
  aim: Aim,
  request: Answers["request"],
): Promise<{ readonly formOf: () => readonly Exchange[] } | Unsent> {
  const { traffic, background } = session;
  const isForm = formRequest(form, aim, request);
  const formOf = (): Exchange[] => traffic.exchanges.filter((one) => one.phase === "submit" && isForm(one));
  const pressed = await press(session, {
    ...{ phase: "submit", isForm, sent: formOf },
    click: () => clickAimed(session, form, button, aim, () => formOf().length > 0),
    waits: [
      [session.stretched(SEND_MS), () => traffic.stopped.length > 0],
      // requests of the page before it sends may take as long as an answer
      [session.actionTimeoutMs, () => background.unanswered() === undefined],
      [session.answerTimeoutMs, () => traffic.awaited() === undefined],
      [LOOKED_UP_MS, () => background.unanswered() !== undefined],
    ],
  });
  if (pressed === undefined) return COVERED;
  if (formOf().length > 0) return { formOf };
  traffic.checkAnswers("submit");
  const lookup = background.unanswered();
  if (lookup !== undefined) throw new EnvironmentFault(`no answer to ${lookup.name}`);
  const abroad = traffic.stopped.find((stopped) => carriedOf(form.controls, stopped.posted) > 0);
  if (abroad !== undefined)
    throw new EnvironmentFault(`the form posts to another host: ${abroad.origin} (site.allow_origins)`);
  return { fate: "rejected", detail: "the page posted nothing" };
}

/** Returns a function that recognises the form's request. */
function formRequest(
  form: ReadForm,
  { method, address }: Pick<Aim, "method" | "address">,
  request?: Answers["request"],
): (exchange: Exchange) => boolean {
  if (request !== undefined) return (exchange) => exchange.owner !== "frame" && isSame(request, exchange);
  return (exchange) => {
    const { posted, how } = exchange;
    if (exchange.routine) return false;
    const carried = carriedOf(form.controls, posted);
    if (exchange.method === method && (exchange.url.split(/[?#]/)[0] ?? "") === address)
      return method === "POST" || carried > 0 || posted.length === 0;
    if (exchange.owner === "frame") return false;
    // a script may send the form to another address
    if (exchange.method === "GET")
      return how === "navigation" && carried > 0 && carried === form.controls.filter(({ present }) => present).length;
    return how !== "beacon" && carried > 0;
  };
}
