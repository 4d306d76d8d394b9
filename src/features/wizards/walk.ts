import { currentValues, type ReadForm, renew, rescan, submitButton } from "../../env/browser/controls.js";
import { checkBackground, type ExecuteOptions, Filler, openForm } from "../../env/browser/execute.js";
import type { ActionRecord, Step } from "../../env/browser/fill.js";
import { awaitMarker, isEarly } from "../../env/browser/marker.js";
import type { Exchange } from "../../env/browser/network/exchange.js";
import { passTime } from "../../env/browser/page/actions.js";
import { type PageSigns, readSigns } from "../../env/browser/page/signs.js";
import type { Session } from "../../env/browser/session.js";
import { aimed, arrived } from "../../env/browser/submit.js";
import type { Played } from "../../env/forms/episode.js";
import { type KeptRequest, keptRequest, NO_MARKER, refusalOf } from "../../env/forms/judge.js";
import { carriedOf, receivedBy } from "../../env/forms/native.js";
import { type Action, type Plan, textsOf } from "../../env/forms/plan.js";
import type { PostedPair } from "../../env/forms/posted.js";
import type { FieldValue, Task } from "../../env/site.js";
import { type SeenPage, seenPage } from "./seen-page.js";

/** Time that a page may take to change after a click that sends nothing, in milliseconds. */
const STEP_MS = 300;

/** Fills in a form turn by turn: each turn performs a plan up to the first button that leads to another page. */
export class Walk {
  /** True if the form was accepted: there is no further turn. */
  done = false;
  private readonly filler: Filler;
  private readonly posted: PostedPair[] = [];
  /** Texts of the plans so far. */
  private readonly written: string[] = [];
  private readonly requests: KeptRequest[] = [];
  private marked: boolean | undefined;
  private readonly received = new Map<number, FieldValue>();
  /** Indices of the controls that the open document has shown. */
  private readonly here = new Set<number>();
  private complaint: string | undefined;
  private status: number | undefined;

  private constructor(
    private readonly session: Session,
    private readonly task: Task,
    private readonly form: ReadForm,
    private readonly options: ExecuteOptions,
  ) {
    this.filler = new Filler(form, task.url, options);
    this.noteControls();
  }

  /** @throws EnvironmentFault if the task's page cannot be opened. */
  static async open(session: Session, task: Task, options: ExecuteOptions): Promise<Walk> {
    return new Walk(session, task, await openForm(session, task, options.known?.controls), options);
  }

  /** Reads the page's present state. */
  async see(): Promise<SeenPage> {
    const { form } = this;
    const [signs, values] = await Promise.all([this.signs(), currentValues(form)]);
    return seenPage(signs, form, values, this.complaint);
  }

  /** Performs one turn's plan. */
  async act(plan: Plan): Promise<void> {
    const { filler, session, task } = this;
    let pressed = false;
    this.complaint = undefined;
    this.written.push(...textsOf(plan.actions));
    for (const action of plan.actions) {
      if (pressed) {
        filler.records.push({ action, fate: "after-submit" });
        continue;
      }
      let step = filler.resolve(action);
      if (step.do === "nothing" && step.fate === "no-such-control" && this.isWanted(action)) {
        // the control may appear after the earlier values are entered
        await filler.flush();
        await this.look();
        step = filler.resolve(action);
      }
      if (step.do === "submit" || isPress(step)) {
        await filler.flush();
        const record = await this.press(action, buttonOf(step));
        filler.records.push(record);
        pressed = record.fate === "done";
      } else await filler.put(action, step);
    }
    await filler.flush();
    if (!pressed) await this.look();
    this.noteControls();
    await checkBackground(session);
    if (!this.done && plan.actions.length === 0) this.complaint ??= `nothing was done on ${task.url}`;
  }

  /** Ends the episode, and returns its result; the page is left. */
  async end(): Promise<Played> {
    const { form, filler } = this;
    const held = await currentValues(form);
    await form.handle.dispose();
    const { controls } = form;
    const values = filler.merits(controls.map((control, i) => this.received.get(i) ?? held[i] ?? control.default));
    const { requests, marked } = this;
    return {
      controls,
      values,
      evidence: {
        requests,
        values,
        controls,
        ...filler.unearnedFiles,
        marked,
        ...(this.done ? {} : { page: this.complaint ?? "the form was not sent to its end" }),
      },
      actions: filler.records,
      accepted: this.done,
      refusal: this.complaint,
      status: this.status,
      posted: this.posted,
    };
  }

  private isWanted(action: Action): boolean {
    return "label" in action && Object.hasOwn(this.task.fields, action.label);
  }

  private async look(): Promise<void> {
    const { form, session } = this;
    await session.background.settle(session.stretched(1000));
    await rescan(form);
    this.noteControls();
  }

  private noteControls(): void {
    for (const control of this.form.controls) if (control.present) this.here.add(control.index);
  }

  private signs(): Promise<PageSigns> {
    return this.form.handle.evaluate(readSigns);
  }

  /** Clicks a button, and reads the sent requests, their answers, and whether the form goes on. */
  private async press(action: Action, button: number | undefined): Promise<ActionRecord> {
    const { form, session, options, task } = this;
    if (button === undefined) return { action, fate: "no-such-control", detail: "no submit button" };
    await this.filler.attachRequired();
    await rescan(form);
    this.noteControls();
    const values = await currentValues(form);
    const aim = await aimed(session, form, button);
    if (aim?.hit !== true) {
      this.complaint = aim?.invalid ?? "the button could not be clicked";
      return { action, fate: "rejected", detail: this.complaint };
    }
    const { documents } = session;
    const { written } = this;
    const early = await isEarly(form, task.success, written);
    const [state, from] = [stateOf(form), session.traffic.exchanges.length];
    session.traffic.arm("step", (exchange) => this.isSent(exchange));
    const posts = await session.page.mouse.click(aim.point.x, aim.point.y).then(() => this.answered(from, state));
    session.traffic.disarm();
    const arrived = session.documents > documents;
    if (arrived) {
      form.controls.forEach(({ present }, i) => {
        if (present) form.left.set(i, values[i] as FieldValue);
      });
      await renew(session, form);
    } else await rescan(form);
    const { errors, notices } = await this.signs();
    const changed = arrived || stateOf(form) !== state;
    const ends = posts.length > 0 && !(changed && submitButton(form) !== undefined);
    const last = posts.at(-1);
    this.status = last?.answer?.status ?? this.status;
    const pairs = posts.flatMap((exchange) => exchange.posted);
    const contract = options.known?.contract;
    const kept = posts.map((post) => keptRequest(post, contract, written));
    const end = kept.at(-1);
    const sent = { exchanges: posts, documents, written, early };
    const marked = await awaitMarker(session, form, task.success, sent, ends);
    this.marked = marked;
    // a page on the way has no signs of its own
    const onTheWay = marked === true ? { marked } : {};
    const refused = kept.map((post) => refusalOf(post, undefined, onTheWay)).find((why) => why !== undefined);
    const unlike = ends && end !== undefined ? refusalOf(end, contract, { marked }) : undefined;
    const stays = posts.length === 0 && !changed ? (errors[0] ?? notices[0]) : undefined;
    const complaint = refused ?? unlike ?? stays;
    if (complaint !== undefined) {
      if (complaint === NO_MARKER) this.take(pairs, end);
      // the page's own error is more useful to the policy than a status code
      this.complaint = errors[0] ?? complaint;
      return { action, fate: "rejected", detail: this.complaint };
    }
    if (posts.length > 0) this.take(pairs, end);
    if (arrived) this.here.clear();
    this.noteControls();
    this.done = marked === true || ends;
    if (this.done) return { action, fate: "done", submitted: true };
    return changed || posts.length > 0
      ? { action, fate: "done", neutral: true }
      : { action, fate: "rejected", detail: "nothing happened" };
  }

  /** Records the values that the server received. @param last of the requests with the values. */
  private take(posted: readonly PostedPair[], last: KeptRequest | undefined): void {
    this.posted.push(...posted);
    if (last !== undefined) this.requests.push({ ...last, posted, of: [...this.here] });
    receivedBy(this.form.controls, posted, this.task).forEach((value, i) => {
      if (this.here.has(i)) this.received.set(i, value);
    });
  }

  /** Tells whether a request contains the form's values, or those of one page. */
  private isSent(exchange: Exchange): boolean {
    if (exchange.owner === "frame") return false;
    if (exchange.how === "navigation") return exchange.posted.length > 0;
    return exchange.method !== "GET" && carriedOf(this.form.controls, exchange.posted) > 0;
  }

  /**
   * Waits until the page has changed, and for the answers to its requests.
   * @returns the requests with the form's values.
   * @throws EnvironmentFault if one of them failed, or got no answer.
   */
  private async answered(from: number, state: string): Promise<Exchange[]> {
    const { form, session } = this;
    const { traffic, documents } = session;
    const posts = (): Exchange[] => traffic.exchanges.slice(from).filter((exchange) => this.isSent(exchange));
    for (const end = performance.now() + session.stretched(STEP_MS); performance.now() < end; ) {
      if (posts().length > 0 || session.hasMovedOn(documents)) break;
      try {
        await rescan(form);
        if (stateOf(form) !== state) break;
        await form.handle.evaluate(passTime, 100);
      } catch {
        break;
      }
    }
    for (let i = 0; i < posts().length; i++) await session.answered(() => posts()[i]);
    await arrived(session);
    return posts();
  }
}

const isPress = (step: Step): boolean => step.do === "ops" && step.ops[0]?.op === "press";

/** Returns the button that a step clicks, to send the form or to go on. */
function buttonOf(step: Step): number | undefined {
  if (step.do === "submit") return step.button;
  const [op] = step.do === "ops" ? step.ops : [];
  return op?.op === "press" ? op.button : undefined;
}

const stateOf = (form: ReadForm): string =>
  `${form.controls.map(({ present }) => Number(present)).join("")} ${form.buttons.map(({ label }) => label).join("|")}`;
