import { currentValues, type ReadForm, renew, rescan, submitButton } from "../../env/browser/controls.js";
import { checkBackground, openForm } from "../../env/browser/execute.js";
import type { ActionRecord, Step } from "../../env/browser/fill.js";
import { type ExecuteOptions, Filler } from "../../env/browser/filler.js";
import { beforePress, follow } from "../../env/browser/follow.js";
import type { Exchange } from "../../env/browser/network/exchange.js";
import { aimed, arrived, clickAimed, press } from "../../env/browser/press.js";
import type { Session } from "../../env/browser/session.js";
import { acceptanceOf } from "../../env/forms/contract.js";
import { type Played, playedBy } from "../../env/forms/episode.js";
import { type KeptRequest, keptRequest, type Verdict } from "../../env/forms/judge.js";
import { carriedOf } from "../../env/forms/native.js";
import type { Action, Plan } from "../../env/forms/plan.js";
import type { FieldValue, Task } from "../../env/site.js";
import { type PageSigns, readSigns } from "./page-signs.js";
import { type SeenPage, seenPage } from "./seen-page.js";

/** Time that a page may take to change after a click that sends nothing, in milliseconds. */
const STEP_MS = 300;

/** Fills in a form turn by turn: each turn performs a plan up to the first button that leads to another page. */
export class Walk extends Filler {
  /** True if the form was accepted: there is no further turn. */
  done = false;
  private readonly requests: KeptRequest[] = [];
  private verdict: Verdict | undefined;
  /** Indices of the controls that the open document has shown. */
  private readonly here = new Set<number>();
  private complaint: string | undefined;

  /** @throws EnvironmentFault if the task's page cannot be opened. */
  static async open(session: Session, task: Task, options: ExecuteOptions): Promise<Walk> {
    const walk = new Walk(session, task, await openForm(session, task, options.known?.controls), options);
    walk.noteControls();
    return walk;
  }

  /** Reads the page's present state. */
  async see(): Promise<SeenPage> {
    const { form } = this;
    const [signs, values] = await Promise.all([this.signs(), currentValues(form)]);
    return seenPage(signs, form, values, this.complaint);
  }

  /** Performs one turn's plan. */
  async act({ actions }: Plan): Promise<void> {
    this.complaint = undefined;
    if (!(await this.carryOut(actions))) await this.look();
    this.noteControls();
    await checkBackground(this.session);
    if (!this.done && actions.length === 0) this.complaint ??= `nothing was done on ${this.task.url}`;
  }

  /** Resolves an action; a click on any button may send the form, or lead on. */
  override async resolve(action: Action): Promise<Step> {
    let step = await super.resolve(action);
    const isWanted = "label" in action && Object.hasOwn(this.task.fields, action.label);
    if (step.do === "nothing" && step.fate === "no-such-control" && isWanted) {
      // the control may appear after the earlier values are entered
      await this.flush();
      await this.look();
      step = await super.resolve(action);
    }
    const [op] = step.do === "ops" ? step.ops : [];
    return op?.op === "press" ? { do: "submit", button: op.button } : step;
  }

  /** Ends the episode, and returns its result, as its record is judged; the page is left. */
  async end(): Promise<Played> {
    const { form, requests, done } = this;
    await form.handle.dispose();
    const { controls } = form;
    const why = this.complaint ?? "the form was not sent to its end";
    const verdict = done ? this.verdict : { accepted: false, why };
    const evidence = { requests, verdict, controls, ...this.unearnedFiles };
    return playedBy({ controls, contract: this.options.known?.contract }, evidence, this.records, this.task);
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
  protected async press(action: Action, button: number | undefined): Promise<ActionRecord> {
    const { form, session, options, task, written } = this;
    if (button === undefined) return { action, fate: "no-such-control", detail: "no submit button" };
    await rescan(form);
    this.noteControls();
    const values = await currentValues(form);
    const aim = await aimed(session, form, button);
    if (aim?.hit !== true) {
      this.complaint = aim?.invalid ?? "the button could not be clicked";
      return { action, fate: "rejected", detail: this.complaint };
    }
    const { documents, traffic } = session;
    const contract = options.known?.contract;
    const acceptance = acceptanceOf(task, contract);
    const before = await beforePress(session, acceptance, written);
    const [state, from] = [stateOf(form), traffic.exchanges.length];
    const isForm = (exchange: Exchange): boolean => this.isSent(exchange);
    const sent = (): Exchange[] => traffic.exchanges.slice(from).filter(isForm);
    const isChanged = async (): Promise<boolean> =>
      session.hasMovedOn(documents) ||
      rescan(form).then(
        () => stateOf(form) !== state,
        () => true,
      );
    await press(session, {
      ...{ phase: "step", isForm, sent },
      click: () => clickAimed(session, form, button, aim, () => sent().length > 0),
      waits: [[session.stretched(STEP_MS), isChanged]],
    });
    await arrived(session);
    const posts = sent();
    const isNew = session.documents > documents;
    if (isNew) {
      form.controls.forEach(({ present }, i) => {
        if (present) form.left.set(i, values[i] as FieldValue);
      });
      await renew(session, form);
    } else await rescan(form);
    const { errors, notices } = await this.signs();
    const changed = isNew || stateOf(form) !== state;
    const ends = posts.length > 0 && !(changed && submitButton(form) !== undefined);
    const verdict = await follow(session, acceptance, { before, written, formOf: sent, once: !ends });
    traffic.disarm();
    const kept = posts.map((post) => keptRequest(post, contract));
    const end = kept.at(-1);
    const refused = kept.find(({ status }) => (status ?? 0) >= 400)?.status;
    const stays = posts.length === 0 && !changed ? (errors[0] ?? notices[0]) : undefined;
    const isAccepted = verdict?.accepted === true;
    const complaint = isAccepted ? undefined : refused == null ? stays : `refused with HTTP ${refused}`;
    this.verdict = verdict;
    if (end !== undefined && complaint === undefined)
      this.requests.push({ ...end, posted: posts.flatMap(({ posted }) => posted), of: [...this.here] });
    const why = complaint ?? verdict?.why;
    if (why !== undefined) {
      // the page's own error is more useful to the policy than a status code
      this.complaint = errors[0] ?? why;
      return { action, fate: "rejected", detail: this.complaint };
    }
    if (isNew) this.here.clear();
    this.noteControls();
    this.done = isAccepted || ends;
    if (this.done) return { action, fate: "done", submitted: true };
    return changed || posts.length > 0
      ? { action, fate: "done", neutral: true }
      : { action, fate: "rejected", detail: "nothing happened" };
  }

  /** Tells whether a request contains the form's values, or those of one page. */
  private isSent(exchange: Exchange): boolean {
    if (exchange.owner === "frame") return false;
    if (exchange.how === "navigation") return exchange.posted.length > 0;
    return exchange.method !== "GET" && carriedOf(this.form.controls, exchange.posted) > 0;
  }
}

const stateOf = (form: ReadForm): string =>
  `${form.controls.map(({ present }) => Number(present)).join("")} ${form.buttons.map(({ label }) => label).join("|")}`;
