import { setTimeout as sleep } from "node:timers/promises";
import type { Answers } from "../forms/contract.js";
import { isError, judgeRequest, keptRequest, type Submission } from "../forms/judge.js";
import { carriedOf } from "../forms/native.js";
import type { Action } from "../forms/plan.js";
import type { Task } from "../site.js";
import { EnvironmentFault } from "./browser.js";
import type { ReadForm } from "./controls.js";
import type { ActionRecord } from "./fill.js";
import { awaitMarker, isEarly } from "./marker.js";
import { type Exchange, formExchange, isSame } from "./network/exchange.js";
import { type Aim, aimAt } from "./page/actions.js";
import type { Session } from "./session.js";
import { look, shownAgain } from "./shown-again.js";

/** Time limit for sending the form, and the wait before a missed click is noticed, in milliseconds. */
const SEND_MS = 3000;
const MISSED_MS = 200;
/** Most clicks on a button that the page keeps moving. */
const MOST_MISSES = 5;

/**
 * Sends the form as a person does, and judges its request and the answer.
 * @param written the texts of the plan.
 */
export async function submitForm(
  session: Session,
  form: ReadForm,
  task: Pick<Task, "fields" | "keys" | "success">,
  action: Action,
  button: number | undefined,
  contract: Answers | undefined,
  written: readonly string[],
): Promise<{ readonly record: ActionRecord; readonly submission?: Submission }> {
  if (button === undefined) return { record: { action, fate: "no-such-control", detail: "no submit button" } };
  const { traffic, documents } = session;
  // a task with success signs, or a known form, needs no comparison of the page
  const before = contract === undefined && task.success === undefined ? await look(session) : undefined;
  const early = await isEarly(form, task.success, written);
  try {
    const pressed = await pressButton(session, form, button, contract?.request);
    if (typeof pressed === "string")
      return { record: { action, fate: pressed === COVERED ? "timeout" : "rejected", detail: pressed } };
    await arrived(session);
    const marked = await awaitMarker(session, form, task.success, { exchanges: [pressed], documents, written, early });
    const request = keptRequest(pressed, contract, written);
    const page =
      before === undefined || isError(request.status) ? undefined : await shownAgain(session, pressed, before);
    const submission = judgeRequest({ controls: form.controls, contract }, request, task, { marked, page });
    const detail = submission.refusal === undefined ? {} : { detail: submission.refusal };
    return { record: { action, fate: "done", submitted: true, ...detail }, submission };
  } finally {
    traffic.disarm();
  }
}

const COVERED = "the submit button could not be clicked";

/**
 * Clicks a button and waits for the form's request and its answer.
 * @param request the form's request, if it is known; else one to the form's address, or with one of its controls.
 * @returns the request, or the reason why there was none.
 * @throws EnvironmentFault if there was none because the server failed the page.
 */
async function pressButton(
  session: Session,
  form: ReadForm,
  button: number,
  request: Answers["request"],
): Promise<Exchange | string> {
  const { traffic, background } = session;
  const aim = await aimed(session, form, button);
  if (aim === undefined) return COVERED;
  if (aim.invalid !== undefined) return aim.invalid;
  const isForm = formRequest(form, aim, request);
  traffic.arm("submit", isForm);
  const sent = (): Exchange | undefined =>
    formExchange(traffic.exchanges.filter((e) => e.phase === "submit" && isForm(e)));
  let { point } = aim;
  for (let misses = 0; misses < MOST_MISSES && sent() === undefined; misses++) {
    await session.page.mouse.click(point.x, point.y);
    await session.until(MISSED_MS, () => sent() !== undefined || session.isLeaving());
    if (sent() !== undefined || (await clicked(form))) break;
    const again = await aimed(session, form, button);
    if (again === undefined) return COVERED;
    point = again.point;
  }
  await session.until(session.stretched(SEND_MS), () => sent() !== undefined || traffic.stopped.length > 0);
  // requests of the page before it sends may take as long as an answer
  await session.until(session.actionTimeoutMs, () => sent() !== undefined || background.unanswered() === undefined);
  await session.until(session.answerTimeoutMs, () => sent() !== undefined || traffic.awaited() === undefined);
  if (sent() === undefined && background.unanswered() === undefined)
    await session.until(MISSED_MS, () => sent() !== undefined);
  await session.answered(sent);
  const exchange = sent();
  if (exchange === undefined) {
    traffic.checkAnswers("submit");
    const lookup = background.unanswered();
    if (lookup !== undefined) throw new EnvironmentFault(`no answer to ${lookup.name}`);
    const abroad = traffic.stopped.find((stopped) => carriedOf(form.controls, stopped.posted) > 0);
    if (abroad !== undefined)
      throw new EnvironmentFault(`the form posts to another host: ${abroad.origin} (site.allow_origins)`);
    return "the page posted nothing";
  }
  return exchange;
}

const clicked = (form: ReadForm): Promise<boolean> => form.handle.evaluate((page) => page.clicked).catch(() => true);

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

/** Aims at a button until a click would reach it. @returns undefined if it stays covered. */
export async function aimed(session: Session, form: ReadForm, button: number): Promise<Aim | undefined> {
  for (const end = performance.now() + session.actionTimeoutMs; ; ) {
    const aim = await form.handle.evaluate(aimAt, button);
    if (aim.gone) throw new EnvironmentFault("the submit button is gone");
    if (aim.hit || aim.invalid !== undefined) return aim;
    if (performance.now() > end) return undefined;
    await sleep(100);
  }
}

/** Waits for the document that replaces the page, if there is one. */
export async function arrived(session: Session): Promise<void> {
  await session.until(session.actionTimeoutMs, () => !session.isLeaving());
}
