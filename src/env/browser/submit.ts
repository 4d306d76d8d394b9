import { setTimeout as sleep } from "node:timers/promises";
import type { Action } from "../forms/plan.js";
import { carriedOf, type HeldValues } from "../forms/received.js";
import type { Task } from "../site.js";
import { EnvironmentFault } from "./browser.js";
import { NEXT_LABEL, submitButton } from "./buttons.js";
import { conclude, type Press, SCRIPT_PATIENCE_MS, SETTLE_MS } from "./conclude.js";
import { currentValues, type ReadForm, rescan } from "./controls.js";
import type { ActionRecord } from "./fill.js";
import { checkAnswered, nameOf } from "./network/exchange.js";
import { type Aim, aimAt, dialogButton, formOfField, isMissed, passed, passTime, wayClear } from "./page/actions.js";
import { focusField, leaveField } from "./page/hands.js";
import { type PageSigns, readSigns } from "./page/signs.js";
import { renew } from "./reach.js";
import type { Session } from "./session.js";
import {
  type Choice,
  chooseSubmission,
  isBroken,
  isOfForm,
  type Sent,
  type Submission,
  savedBefore,
} from "./submission.js";

/** The page's time is let pass in steps of this. */
const TICK_MS = 50;

/** Clicks that one submit may take: a summary to confirm, a dialog that asks again. */
const MOST_CLICKS = 5;

/** What one clicks where everything has been saved already. */
const DONE = /^(?:done|close|finish|ok|back|save)\b/i;

/** What leaves a page and sends nothing itself. */
const LEAVES = /^(?:done|close|finish|back)\b/i;

/** What a summary asks to be clicked. */
const CONFIRMS =
  /^(?:confirm|submit|send|finish|complete|place|yes|next|continue|pay|book|done|save|register|apply|agree|order|proceed)\b/i;

export interface Submitted {
  readonly record: ActionRecord;
  readonly submission?: Submission;
}

/**
 * Sends the form as a person does, and finds out what the server received and whether it took it.
 * @param complete fills in again what a script has drawn anew; called last before the click.
 */
export async function submitForm(
  session: Session,
  form: ReadForm,
  task: Pick<Task, "keys" | "success">,
  action: Action,
  button: number | undefined,
  complete: () => Promise<void>,
): Promise<Submitted> {
  const attempt = new Attempt(session, form, task);
  try {
    const result = await attempt.send(button, complete);
    if (typeof result === "string")
      return {
        record: {
          action,
          fate: result === "no submit button" ? "no-such-control" : result === COVERED ? "timeout" : "rejected",
          detail: result,
        },
      };
    const detail = result.refusal === undefined ? {} : { detail: result.refusal };
    return { record: { action, fate: "done", submitted: true, ...detail }, submission: result };
  } finally {
    session.traffic.disarm();
  }
}

const COVERED = "the submit button could not be clicked";

/** Clicks beside a button that a page moves away. */
const MOST_MISSES = 5;

class Attempt implements Press {
  sent: Sent;
  before: PageSigns | undefined;
  documents: number;
  saidBefore = 0;
  /** What the page said after the submission that was judged last. */
  private after: PageSigns | undefined;
  /** The button that was clicked last, for `isPassed`. */
  private clicked: number | undefined;

  constructor(
    readonly session: Session,
    readonly form: ReadForm,
    readonly task: Pick<Task, "keys" | "success">,
  ) {
    this.sent = {
      controls: form.controls,
      held: { values: [] },
      target: undefined,
      autosave: false,
      path: new URL(session.page.url()).pathname,
    };
    this.documents = session.documents;
  }

  /**
   * @returns the submission, or why there was none.
   * @throws EnvironmentFault where there was none because the server failed the page.
   */
  async send(button: number | undefined, complete: () => Promise<void>): Promise<Submission | string> {
    const { form, session } = this;
    const first = await this.buttonNow(button);
    if (first === undefined) return this.withoutButton();
    const { label: says = "", submits = true } = form.buttons[first] ?? {};
    // what saves as it is typed does so a moment later, and who leaves at once loses it
    if (form.scripted && !submits && LEAVES.test(says)) await form.handle.evaluate(passTime, 1000);
    if (form.scripted) await complete();
    let next: number = first;
    let why = "the page posted nothing";
    for (let clicks = 0; clicks < MOST_CLICKS; clicks++) {
      await this.hold();
      const aim = await this.click(next);
      if (aim === undefined) return COVERED;
      const choice = aim.invalid === undefined ? await this.await() : undefined;
      if (choice !== undefined) {
        const submission = await this.conclude(choice);
        const confirm = submission.accepted ? await this.confirmButton() : undefined;
        if (confirm === undefined) return submission;
        next = confirm;
        continue;
      }
      why = aim.invalid ?? why;
      const label: string | undefined = form.buttons[next]?.label;
      if (session.documents > this.documents || session.isLeaving()) {
        form.controls.forEach((control, i) => {
          if (control.present) form.left.set(i, this.sent.held.values[i] ?? control.default);
        });
        await renew(session, form);
        // what a page sends when it is left
        if (!session.traffic.exchanges.some((e) => e.phase === "submit")) await session.traffic.next(300);
        const late = chooseSubmission(session.traffic.exchanges, this.sent, false);
        if (late?.plain) return this.conclude(late);
      } else await rescan(form);
      const on: number | undefined = aim.invalid === undefined ? await this.onward(next, label) : undefined;
      if (on === undefined) {
        const saved = DONE.test(label ?? "") ? savedBefore(session.traffic.exchanges, this.sent) : undefined;
        if (saved !== undefined) return this.conclude(saved);
        // a page that was told no by a server that is broken sends nothing
        if (aim.invalid === undefined) session.traffic.checkAnswers("submit");
        break;
      }
      next = on;
    }
    return why;
  }

  /** The button as the page has it now: scripts move them, and let them be clicked when the form is right. */
  private async buttonNow(button: number | undefined): Promise<number | undefined> {
    const { form } = this;
    if (!form.scripted) return button;
    const label = button === undefined ? undefined : form.buttons[button]?.label;
    const own = button !== undefined && button !== submitButton(form) ? label : undefined;
    await form.handle.evaluate(leaveField);
    for (let waited = 0; ; waited += 100) {
      await rescan(form);
      const found = own === undefined ? submitButton(form) : form.buttons.findIndex((b) => b.label === own);
      if (found !== undefined && found >= 0) return found;
      if (waited >= 800 || this.session.traffic.hasSent()) return undefined;
      await form.handle.evaluate(passTime, 100);
    }
  }

  /** Notes what the form holds, before it is sent. */
  private async hold(): Promise<void> {
    const { form } = this;
    const [values, before] = await Promise.all([currentValues(form), form.handle.evaluate(readSigns, undefined)]);
    const held: HeldValues = { values, typed: form.typed, mirrors: form.mirrors };
    // a page that has let go of its values after a first click does not change what was sent
    const carries = carriedOf(form.controls, [], held).of >= carriedOf(this.sent.controls, [], this.sent.held).of;
    this.sent = { ...this.sent, controls: form.controls, held: carries ? held : this.sent.held };
    this.before = before;
    this.saidBefore = this.session.said.length;
  }

  private async click(button: number, misses = 0): Promise<Aim | undefined> {
    const { form, session } = this;
    this.documents = session.documents;
    this.clicked = button;
    const end = performance.now() + session.actionTimeoutMs;
    let aim = await form.handle.evaluate(aimAt, button);
    while (!aim.hit) {
      if (aim.gone) throw new EnvironmentFault("the submit button is gone");
      if (performance.now() > end) return undefined;
      const way = await form.handle.evaluate(wayClear, button);
      if (way !== undefined) await session.page.mouse.click(way.x, way.y);
      await sleep(100);
      aim = await form.handle.evaluate(aimAt, button);
    }
    this.arm(aim);
    await session.page.mouse.click(aim.point.x, aim.point.y);
    // a document that is gone was led on by the click
    const missed = await form.handle.evaluate(isMissed).catch(() => false);
    return missed && misses < MOST_MISSES ? this.click(button, misses + 1) : aim;
  }

  private arm(aim: Aim | undefined): void {
    this.sent = { ...this.sent, held: { ...this.sent.held }, target: aim?.form };
    this.session.traffic.arm("submit", (exchange) => isOfForm(exchange, this.sent));
  }

  /** Waits for the form's request, its answer, and what may come instead of it. */
  private async await(patience = SCRIPT_PATIENCE_MS): Promise<Choice | undefined> {
    const { session, form } = this;
    const { traffic } = session;
    const hardEnd = performance.now() + 2 * session.actionTimeoutMs + patience;
    let quiet = 0;
    let seen = "";
    let ticking: Promise<boolean> | undefined;
    for (;;) {
      const choice = chooseSubmission(traffic.exchanges, this.sent, quiet >= patience);
      const answered =
        choice !== undefined &&
        (choice.exchange.answer !== undefined || choice.exchange.how === "beacon" || choice.exchange.how === "socket");
      const navigation = choice?.exchange.how === "navigation";
      if (choice !== undefined && navigation && answered && !isBroken(choice.exchange)) return choice;
      if (choice !== undefined && navigation && answered) checkAnswered(choice.exchange);
      const enough =
        choice !== undefined && answered && choice.plain && !isBroken(choice.exchange)
          ? choice.exchange.answer === undefined
            ? 500
            : SETTLE_MS
          : patience;
      if (quiet >= enough && (choice === undefined || answered)) {
        if (choice !== undefined) {
          checkAnswered(choice.exchange);
          return choice;
        }
        const lookup = session.background.unanswered();
        if (lookup !== undefined && lookup.ageMs > session.actionTimeoutMs)
          throw new EnvironmentFault(`no answer to ${lookup.name}`);
        if (!(await this.isUnderWay())) break;
        // what follows on an answer follows at once
        quiet = patience - 2 * SETTLE_MS;
      }
      if (session.documents > this.documents || traffic.leaving) {
        if (choice !== undefined) return choice;
        return undefined;
      }
      if (choice === undefined && quiet >= 400 && (await this.isPassed())) return undefined;
      if (performance.now() > hardEnd) {
        if (choice !== undefined && answered) {
          checkAnswered(choice.exchange);
          return choice;
        }
        const open = choice?.exchange ?? traffic.exchanges.find((e) => e.phase === "submit" && e.answer === undefined);
        if (open !== undefined || (await this.isUnderWay()))
          throw new EnvironmentFault(`no answer to ${open === undefined ? "the form post" : nameOf(open)}`);
        break;
      }
      ticking ??= form.handle.evaluate(passTime, TICK_MS).then(
        () => true,
        () => false,
      );
      const ticked = await Promise.race([ticking, traffic.next(session.actionTimeoutMs).then(() => undefined)]);
      const found = chooseSubmission(traffic.exchanges, this.sent, false);
      const now =
        found === undefined
          ? ""
          : `${traffic.exchanges.indexOf(found.exchange)} ${found.with.length} ${found.exchange.answer !== undefined}`;
      if (now !== seen) quiet = 0;
      seen = now;
      if (ticked === undefined) continue;
      ticking = undefined;
      quiet += TICK_MS;
      // the page is gone: what replaces it is waited for
      if (!ticked) await sleep(TICK_MS);
    }
    this.reportStopped();
    return undefined;
  }

  /** A submit event that no script stopped is a navigation, and a script that asks something is not done yet. */
  private async isUnderWay(): Promise<boolean> {
    const { session, form } = this;
    if (session.traffic.isForwarding()) return true;
    if (session.background.unanswered() !== undefined) return true;
    const went = session.traffic.exchanges.some((e) => e.phase === "submit" && e.how === "navigation");
    return (
      !went &&
      session.traffic.stopped.length === 0 &&
      (await form.handle.evaluate((page) => page.submits > page.prevented).catch(() => false))
    );
  }

  /** @throws EnvironmentFault where the form went to a host that the site does not allow. */
  private reportStopped(): void {
    const stopped = this.session.traffic.stopped.find(({ posted }) => {
      const { carried, of } = carriedOf(this.sent.controls, posted, this.sent.held);
      return of > 0 ? 2 * carried >= of : posted.length > 0;
    });
    if (stopped !== undefined)
      throw new EnvironmentFault(`the form posts to another host: ${stopped.origin} (site.allow_origins)`);
  }

  /** Whether the click led on within the page: the button is gone, or a dialog stands before it. */
  private async isPassed(): Promise<boolean> {
    const { form, clicked } = this;
    return clicked !== undefined && (await form.handle.evaluate(passed, clicked).catch(() => true));
  }

  /** The button to click where a click has led on and sent nothing yet. */
  private async onward(last: number, label: string | undefined): Promise<number | undefined> {
    const { form } = this;
    const dialog = await form.handle.evaluate(dialogButton);
    if (dialog !== undefined) return dialog;
    const button = submitButton(form);
    if (button === undefined) return undefined;
    // another page's button is only the form's where it says so
    if (this.session.documents > this.documents && !CONFIRMS.test(form.buttons[button]?.label ?? "")) return undefined;
    const other = form.buttons[button]?.label !== label || (await form.handle.evaluate(passed, last));
    const wasStep = label !== undefined && NEXT_LABEL.test(label);
    return other || (wasStep && this.changedSince()) ? button : undefined;
  }

  private changedSince(): boolean {
    return this.form.controls.some((control, i) => control.present !== this.sent.controls[i]?.present);
  }

  /** What the page that came after a post asks to be clicked once more: a summary of what was typed. */
  private async confirmButton(): Promise<number | undefined> {
    const { form, session } = this;
    if (session.documents <= this.documents || this.task.success !== undefined) return undefined;
    const button = form.buttons.findIndex(
      (b) => /^(?:confirm|submit|finish|complete|place|send|yes)\b/i.test(b.label) && b.submits,
    );
    if (button < 0) return undefined;
    const open = form.controls.some((c) => c.present && c.form === form.buttons[button]?.form && c.kind !== "checkbox");
    const asks = [this.after?.title ?? "", ...(this.after?.headings ?? [])].some((text) =>
      /review|confirm|check|summary|preview|step|almost/i.test(text),
    );
    return open || !asks ? undefined : button;
  }

  private async conclude(choice: Choice): Promise<Submission> {
    const { submission, after } = await conclude(this, choice);
    this.after = after;
    return submission;
  }

  /** A form without a submit button saves what is typed, or is sent by Enter. */
  private async withoutButton(): Promise<Submission | string> {
    const { form, session } = this;
    await this.hold();
    // a page that has sent itself may have forgotten what it sent
    if (session.traffic.exchanges.some((e) => e.phase === "step")) {
      const values = this.sent.held.values.map((value, i) =>
        String(value) === String(form.controls[i]?.default) ? (form.left.get(i) ?? value) : value,
      );
      this.sent = { ...this.sent, held: { ...this.sent.held, values } };
    }
    await form.handle.evaluate(leaveField);
    if (form.scripted || session.traffic.exchanges.some((e) => e.phase === "step")) {
      this.sent = { ...this.sent, autosave: true };
      const saved = await this.await(this.session.traffic.hasSent() ? 1500 : 1000);
      if (saved !== undefined) return this.conclude(saved);
    }
    const field = form.controls.findLast(
      (c) =>
        c.present &&
        !c.elsewhere &&
        ["text", "email", "tel", "url", "password", "number"].includes(c.kind) &&
        c.widget === "native",
    );
    if (field === undefined) return "no submit button";
    this.sent = { ...this.sent, autosave: false };
    await form.handle.evaluate(focusField, { control: field.index, member: 0 });
    this.arm(await form.handle.evaluate(formOfField, field.index));
    await session.page.keyboard.press("Enter");
    const choice = await this.await(form.scripted ? SCRIPT_PATIENCE_MS : 500);
    return choice === undefined ? "no submit button" : this.conclude(choice);
  }
}
