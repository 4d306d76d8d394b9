import { refusalOf, shownRefusal } from "../forms/answer.js";
import type { Action, Plan } from "../forms/plan.js";
import type { PostedPair } from "../forms/posted.js";
import { carriedOf, type HeldValues, receivedValues } from "../forms/received.js";
import { type SeenPage, seenPage } from "../forms/seen-page.js";
import type { FieldValue, Task } from "../site.js";
import { submitButton } from "./buttons.js";
import { applyCarefully } from "./careful.js";
import type { Control, ReadForm } from "./controls.js";
import { currentValues, rescan } from "./controls.js";
import { attachRequired, checkBackground, type ExecuteOptions, openForm, upload } from "./execute.js";
import { type ActionRecord, applySteps, resolveAction, type Step } from "./fill.js";
import { Hands } from "./hands.js";
import { showsMarker } from "./marker.js";
import { checkAnswered, type Exchange } from "./network/exchange.js";
import { aimAt, passTime } from "./page/actions.js";
import { type PageSigns, readSigns } from "./page/signs.js";
import { stepBy } from "./reach.js";
import type { Session } from "./session.js";

/** Steps without a submit button or without effect, after which nothing more is to be expected of the page. */
const SETTLE_MS = 200;
/** How long a page's own clock may run until it shows that a form was accepted. */
const MARKER = { patienceMs: 3000, everyMs: 100 };
const NO_MARKER = "the success marker did not appear";

/** What a form of several pages came to. */
export interface Walked {
  readonly controls: readonly Control[];
  /** One a control: as the server received it, or as a page held it that was never posted. */
  readonly values: readonly FieldValue[];
  readonly actions: readonly ActionRecord[];
  /** The server took the last page, and there is nothing more to fill in or to confirm. */
  readonly accepted: boolean;
  readonly refusal?: string;
  readonly posted: readonly PostedPair[];
  readonly status?: number;
}

/** A form that is filled in turn by turn: each turn carries a plan out up to the first button that leads on. */
export class Walk {
  /** It was accepted: there is no further turn. */
  done = false;
  private readonly records: ActionRecord[] = [];
  private readonly posted: PostedPair[] = [];
  private readonly received = new Map<number, FieldValue>();
  /** Controls that the document which is open has shown. */
  private readonly here = new Set<number>();
  private readonly attached = new Set<number>();
  private complaint: string | undefined;
  private status: number | undefined;

  private constructor(
    private readonly session: Session,
    private readonly task: Task,
    private readonly form: ReadForm,
    private readonly options: ExecuteOptions,
  ) {
    this.noteControls();
  }

  /** @throws EnvironmentFault where the task's page is not there. */
  static async open(session: Session, task: Task, options: ExecuteOptions): Promise<Walk> {
    return new Walk(session, task, await openForm(session, task), options);
  }

  /** What the page shows now. */
  async see(): Promise<SeenPage> {
    const { form } = this;
    const [signs, values] = await Promise.all([this.signs(), currentValues(form)]);
    return seenPage(signs, form, values, this.complaint);
  }

  /** Carries out one turn's plan. */
  async act(plan: Plan): Promise<void> {
    const { form, session, task } = this;
    let batch: { action: Action; step: Step }[] = [];
    const flush = async (): Promise<void> => {
      this.records.push(...(await applySteps(form, batch)));
      batch = [];
    };
    let pressed = false;
    this.complaint = undefined;
    for (const action of plan.actions) {
      if (pressed) {
        this.records.push({ action, fate: "after-submit" });
        continue;
      }
      let step = this.resolve(action);
      if (step.do === "nothing" && step.fate === "no-such-control" && form.scripted && this.isWanted(action)) {
        // it may come with what was filled in before
        await flush();
        await this.settle();
        step = this.resolve(action);
      }
      const button = pressOf(step);
      if (button !== undefined || step.do === "submit") {
        await flush();
        const record = await this.press(action, button);
        this.records.push(record);
        pressed = record.fate === "done";
      } else if (step.do === "upload") {
        await flush();
        this.records.push(await upload(form, action, step, this.options));
      } else if (form.scripted || step.do === "operate") {
        await flush();
        this.records.push(await applyCarefully(session, form, action, step));
      } else {
        batch.push({ action, step });
      }
    }
    await flush();
    if (!pressed && form.scripted) await this.settle();
    this.noteControls();
    await checkBackground(session);
    if (!this.done && plan.actions.length === 0) this.complaint ??= `nothing was done on ${task.url}`;
  }

  /** What it came to; the page is left. */
  async end(): Promise<Walked> {
    const { form } = this;
    const held = await currentValues(form);
    await form.handle.dispose();
    const values = form.controls.map((control, i) =>
      this.attached.has(i) && !this.records.some((record) => record.control === i && record.fate === "done")
        ? ""
        : (this.received.get(i) ?? held[i] ?? control.default),
    );
    return {
      controls: form.controls,
      values,
      actions: this.records,
      accepted: this.done,
      ...(this.complaint === undefined ? {} : { refusal: this.complaint }),
      ...(this.status === undefined ? {} : { status: this.status }),
      posted: this.posted,
    };
  }

  /** What an action means on the page that is there now: what earlier pages had cannot be reached any more. */
  private resolve(action: Action): Step {
    const { form, task } = this;
    const now = { controls: form.controls.filter((control) => control.present), buttons: form.buttons };
    return resolveAction(action, now, task.url);
  }

  private isWanted(action: Action): boolean {
    return "label" in action && Object.hasOwn(this.task.fields, action.label);
  }

  private async settle(): Promise<void> {
    await this.session.background.settle(this.session.stretched(1000));
    await new Hands(this.session, this.form.handle).calm(SETTLE_MS, 50);
    await rescan(this.form);
    this.noteControls();
  }

  private noteControls(): void {
    for (const control of this.form.controls) if (control.present) this.here.add(control.index);
  }

  private signs(): Promise<PageSigns> {
    return this.form.handle.evaluate(readSigns, undefined);
  }

  /** Presses a button and finds out what the server received, what it says, and whether there is more. */
  private async press(action: Action, button: number | undefined): Promise<ActionRecord> {
    const { form, session, task } = this;
    if (button === undefined) return { action, fate: "no-such-control", detail: "no submit button" };
    if (this.options.uploads === "dummy") for (const control of await attachRequired(form)) this.attached.add(control);
    this.noteControls();
    const [before, values, aim] = await Promise.all([
      this.signs(),
      currentValues(form),
      form.handle.evaluate(aimAt, button),
    ]);
    if (aim.invalid !== undefined) {
      this.complaint = aim.invalid;
      return { action, fate: "rejected", detail: aim.invalid };
    }
    const held: HeldValues = { values, typed: form.typed, mirrors: form.mirrors };
    const { documents } = session;
    const [state, from] = [stateOf(form), session.traffic.exchanges.length];
    await stepBy(session, form, button);
    const posts = await this.answered(from, held);
    const after = await this.signs();
    const changed = session.documents > documents || stateOf(form) !== state;
    const names = form.controls.filter(({ present, elsewhere }) => present && !elsewhere);
    const ends = posts.length > 0 && !(changed && submitButton(form) !== undefined);
    const marked = posts.length > 0 && (await this.isMarked(posts, ends, session.documents > documents));
    const heard =
      posts.map(({ answer, posted }) => (answer === undefined ? undefined : refusalOf(answer, posted))).find(Boolean) ??
      shownRefusal(after, before, {
        names: posts.length === 0 ? [] : names.map(({ name, label }) => name || label),
        values: values.filter((value) => typeof value === "string"),
        address: posts.at(-1)?.url ?? "",
      });
    // where a task says what an accepted form shows, nothing else does
    const missing = ends && task.success !== undefined ? NO_MARKER : undefined;
    const complaint = marked ? undefined : (heard ?? missing);
    this.status = posts.at(-1)?.answer?.status ?? this.status;
    const posted = posts.flatMap((exchange) => [...exchange.posted, ...exchange.inPath]);
    if (complaint !== undefined) {
      if (complaint === NO_MARKER) this.take(posted, held);
      // what the page itself says is of more use to whoever reads it than a status
      this.complaint = after.errors[0] ?? complaint;
      return { action, fate: "rejected", detail: this.complaint };
    }
    if (posts.length > 0) this.take(posted, held);
    if (session.documents > documents) this.here.clear();
    this.noteControls();
    this.done = marked || ends;
    if (this.done) return { action, fate: "done", submitted: true };
    return changed || posts.length > 0
      ? { action, fate: "done", neutral: true }
      : { action, fate: "rejected", detail: "nothing happened" };
  }

  /** Notes what the server got. */
  private take(posted: readonly PostedPair[], held: HeldValues): void {
    const { form, task } = this;
    this.posted.push(...posted);
    receivedValues(form.controls, posted, held, task.keys).values.forEach((value, i) => {
      if (this.here.has(i)) this.received.set(i, value);
    });
  }

  /**
   * Whether what the task calls its success is shown.
   * @param ends it has to come now: it is waited for.
   * @param arrived the answer is a page of its own.
   */
  private async isMarked(posts: readonly Exchange[], ends: boolean, arrived: boolean): Promise<boolean> {
    const { form, session, task } = this;
    if (task.success === undefined) return false;
    const answers = posts.flatMap(({ answer }) => answer ?? []);
    for (let waited = 0; ; waited += MARKER.everyMs) {
      const shown = await showsMarker(form, task.success, {
        statuses: [arrived ? session.status : undefined, ...answers.map(({ status }) => status)],
        addresses: [session.page.url(), ...answers.map(({ url }) => url)],
        texts: answers.map(({ text }) => text),
      });
      if (shown || !ends || waited >= MARKER.patienceMs) return shown;
      await form.handle.evaluate(passTime, MARKER.everyMs);
    }
  }

  /**
   * The requests that carried what was filled in, with their answers.
   * @throws EnvironmentFault where one of them failed, or got none.
   */
  private async answered(from: number, held: HeldValues): Promise<Exchange[]> {
    const { form, session } = this;
    const posts = session.traffic.exchanges
      .slice(from)
      .filter(
        (exchange) =>
          (exchange.how === "navigation" && exchange.posted.length > 0) ||
          (exchange.method !== "GET" && carriedOf(form.controls, exchange.posted, held).carried > 0),
      );
    const end = performance.now() + session.actionTimeoutMs;
    const waits = (exchange: Exchange): boolean =>
      exchange.answer === undefined && exchange.how !== "beacon" && exchange.how !== "socket";
    while (posts.some(waits) && performance.now() < end) await session.traffic.next(100);
    for (const post of posts) {
      if (waits(post))
        checkAnswered({
          ...post,
          answer: { status: Number.NaN, contentType: "", text: "", url: post.url, failure: "timed out" },
        });
      checkAnswered(post);
    }
    return posts;
  }
}

/** The button that a step presses, whether it sends something or leads on. */
function pressOf(step: Step): number | undefined {
  if (step.do === "submit") return step.button;
  const [op] = step.do === "ops" ? step.ops : [];
  return op?.op === "press" ? op.button : undefined;
}

const stateOf = (form: ReadForm): string =>
  `${form.controls.map(({ present }) => Number(present)).join("")} ${form.buttons.map(({ label }) => label).join("|")}`;
