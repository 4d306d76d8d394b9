import { setTimeout as sleep } from "node:timers/promises";
import { EnvironmentFault } from "./browser.js";
import type { ReadForm } from "./controls.js";
import type { Exchange, Phase } from "./network/exchange.js";
import { type Aim, aimAt } from "./page/actions.js";
import type { Condition, Session } from "./session.js";

/** Time in which the request of a click mostly comes, in milliseconds: asking the page for the click costs more. */
const AT_ONCE_MS = 50;
/** Wait before a missed click is noticed, in milliseconds, and most clicks on a button that the page keeps moving. */
const MISSED_MS = 200;
const MOST_MISSES = 5;

/** A page whose button is pressed: that of an episode, or a user's own. `T`: a request of the page. */
export interface Pressable<T> {
  readonly traffic: { arm(phase: Exclude<Phase, "open">, isForm: (exchange: Exchange) => boolean): void };
  until(ms: number, isSo: Condition): Promise<boolean>;
  /** Waits for the answer to a request. */
  answered(sent: () => T | undefined): Promise<void>;
}

/** A press of a button: its click, its waits, and the test of its requests. */
export interface Pressing<T> {
  readonly phase: Exclude<Phase, "open">;
  readonly isForm: (exchange: Exchange) => boolean;
  /** Returns the form's requests so far. */
  readonly sent: () => readonly T[];
  /** Clicks the button. @returns false if it cannot be clicked. */
  readonly click: () => Promise<boolean>;
  /** Waits for the first request, one after the other: a time limit in milliseconds, and what ends the wait early. */
  readonly waits: readonly (readonly [ms: number | (() => Promise<number>), isOver: Condition])[];
}

/**
 * Presses a button, waits for the form's requests and takes their answers. The requests stay armed, so that a script
 * may still leave the page: the caller disarms them.
 * @returns time until the first request was sent, in milliseconds; undefined if the button cannot be clicked.
 * @throws what `answered` throws for an answer that does not come, or an error of the server.
 */
export async function press<T>(page: Pressable<T>, how: Pressing<T>): Promise<number | undefined> {
  const { phase, isForm, sent, click, waits } = how;
  const start = performance.now();
  page.traffic.arm(phase, isForm);
  if (!(await click())) return undefined;
  for (const [ms, isOver] of waits)
    if (sent().length === 0)
      await page.until(typeof ms === "number" ? ms : await ms(), () => sent().length > 0 || isOver());
  const sentMs = performance.now() - start;
  for (let i = 0; i < sent().length; i++) await page.answered(() => sent()[i]);
  return sentMs;
}

/** Aims at a button until a click would reach it. @returns undefined if it stays covered. */
export async function aimed(session: Session, form: ReadForm, button: number): Promise<Aim | undefined> {
  for (const end = performance.now() + session.actionTimeoutMs; ; await sleep(100)) {
    const aim = await form.handle.evaluate(aimAt, button);
    if (aim.gone) throw new EnvironmentFault("the submit button is gone");
    if (aim.hit || aim.invalid !== undefined) return aim;
    if (performance.now() > end) return undefined;
  }
}

/** Clicks a button that was aimed at, and again if the page has moved it away. @returns false if it is covered then. */
export async function clickAimed(
  session: Session,
  form: ReadForm,
  button: number,
  aim: Aim,
  isSent: () => boolean,
): Promise<boolean> {
  let next: Aim | undefined = aim;
  for (let misses = 0; misses < MOST_MISSES && next !== undefined; misses++) {
    await session.page.mouse.click(next.point.x, next.point.y);
    if (!isSent()) await session.traffic.next(AT_ONCE_MS);
    const isDone = async (): Promise<boolean> => isSent() || (await isClicked(form));
    if (await session.until(MISSED_MS, isDone)) return true;
    next = await aimed(session, form, button);
  }
  return next !== undefined;
}

/** Tells whether the button has got the click; a page that is being left has. */
const isClicked = (form: ReadForm): Promise<boolean> => form.handle.evaluate((page) => page.clicked).catch(() => true);

/** Waits for the document that replaces the page, if there is one. */
export async function arrived(session: Session): Promise<void> {
  await session.until(session.actionTimeoutMs, () => !session.isLeaving());
}
