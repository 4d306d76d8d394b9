import { type Played, playedBy } from "../forms/episode.js";
import type { JudgedForm, Submission } from "../forms/judge.js";
import { type Action, type Plan, textsOf } from "../forms/plan.js";
import type { FieldValue, Task } from "../site.js";
import { EnvironmentFault } from "./browser.js";
import { type Control, currentValues, findControl, type ReadForm, readForm, rescan } from "./controls.js";
import { type ActionRecord, applySteps, resolveAction, type Step } from "./fill.js";
import { attachFile, emptyFiles, framesDrawn } from "./page/actions.js";
import type { Session } from "./session.js";
import { submitForm } from "./submit.js";

export interface ExecuteOptions {
  readonly uploads: "dummy" | "none";
  /** The form, if it is known; else its page is read. */
  readonly known?: JudgedForm | undefined;
}

/** Time limit for a page's own first requests, in milliseconds; pages keep longer ones open on purpose. */
const LOOKUP_PATIENCE_MS = 1000;

/**
 * Opens a task's page and reads its form once the requests of the page's scripts are answered.
 * @throws EnvironmentFault if the site does not serve the page, fails its scripts, or shows another page.
 */
export async function openForm(
  session: Session,
  task: Pick<Task, "url" | "fields">,
  declared?: readonly Control[],
): Promise<ReadForm> {
  const { background, actionTimeoutMs } = session;
  const world = await session.goto(task.url);
  const form = await readForm(world, actionTimeoutMs, Object.keys(task.fields), { declared });
  if (await background.settle(session.stretched(LOOKUP_PATIENCE_MS))) {
    // an answer that has arrived is shown a little later
    await world.evaluate(framesDrawn);
    await rescan(form);
  }
  await checkBackground(session);
  background.touch();
  checkPage(session, form, task);
  return form;
}

/** @throws EnvironmentFault if this is not the task's page; the message says which page it is. */
function checkPage(session: Session, { controls, labels }: ReadForm, { url }: Pick<Task, "url">): void {
  const there = controls.filter(({ present }) => present);
  if (there.length > 0 && (labels.length === 0 || labels.some((label) => findControl(there, label) !== "none"))) return;
  const page = new URL(session.page.url());
  const what = page.pathname === new URL(url, page).pathname ? `on ${url}` : `GET ${url} leads to ${page.pathname}`;
  if (there.some(({ kind }) => kind === "password") && there.length <= 4)
    throw new EnvironmentFault(`${what}: a login, not the task's form (site.storage_state, site.login)`);
  if (there.length === 0) throw new EnvironmentFault(`no form${what.startsWith("GET") ? ":" : ""} ${what}`);
  throw new EnvironmentFault(`${what}: none of the task's labels is there`);
}

export async function checkBackground(session: Session): Promise<void> {
  const failure = await session.background.lastingFailure(session.stretched(LOOKUP_PATIENCE_MS));
  if (failure !== undefined) throw new EnvironmentFault(failure);
}

/**
 * Carries out a plan on the task's page, in order: everything up to a submit goes to the page in one message.
 * @throws EnvironmentFault and Playwright's errors if the environment fails; mistakes of the policy become fates.
 */
export async function executePlan(session: Session, task: Task, plan: Plan, options: ExecuteOptions): Promise<Played> {
  const form = await openForm(session, task, options.known?.controls);
  const filler = new Filler(form, task.url, options);
  const { documents } = session;
  const written = textsOf(plan.actions);
  let submission: Submission | undefined;
  for (const action of plan.actions) {
    if (submission !== undefined) {
      filler.records.push({ action, fate: "after-submit" });
      continue;
    }
    const step = filler.resolve(action);
    if (step.do !== "submit") {
      await filler.put(action, step);
      continue;
    }
    await filler.flush();
    await filler.attachRequired();
    const result = await submitForm(session, form, task, action, step.button, options.known?.contract, written);
    submission = result.submission;
    filler.records.push(result.record);
  }
  await filler.flush();
  await checkBackground(session);
  // a page that was left without a post holds no values any more
  const held = async (): Promise<FieldValue[]> => (session.documents > documents ? [] : currentValues(form));
  const values = filler.merits(submission?.values ?? (await held()));
  await form.handle.dispose();
  const { controls } = form;
  // the controls of a known form need not be recorded
  const read = options.known === undefined ? { controls } : {};
  return playedBy(submission, { controls, actions: filler.records, values }, { ...filler.unearnedFiles, ...read });
}

/** Puts values into a form's controls; consecutive ones go to the page in one message. */
export class Filler {
  readonly records: ActionRecord[] = [];
  private batch: { action: Action; step: Step }[] = [];
  /** Indices of controls that got a file which no plan asked for. */
  private readonly attached = new Set<number>();

  constructor(
    private readonly form: ReadForm,
    private readonly path: string,
    private readonly options: ExecuteOptions,
  ) {}

  /** Resolves an action on the current page: controls of earlier pages cannot be reached any more. */
  resolve(action: Action): Step {
    const { controls, buttons } = this.form;
    const there = controls.filter(({ present }) => present);
    return resolveAction(action, { controls: there.length < controls.length ? there : controls, buttons }, this.path);
  }

  async put(action: Action, step: Step): Promise<void> {
    if (step.do !== "upload") {
      this.batch.push({ action, step });
      return;
    }
    await this.flush();
    const on = { action, control: step.control };
    if (this.options.uploads === "none") {
      // file fields then count neither as planned nor as needed
      this.records.push({ ...on, fate: "rejected", detail: "uploads are off", neutral: true });
      return;
    }
    // the name of a real file holds no folder and no control characters
    const [file = ""] = step.file.split(/[\\/]/).slice(-1);
    const name = file.replace(/\p{Cc}+/gu, "_").slice(0, 100) || "file.txt";
    await this.form.handle.evaluate(attachFile, { control: step.control, name });
    this.records.push({ ...on, fate: "done" });
  }

  async flush(): Promise<void> {
    const { batch } = this;
    this.batch = [];
    this.records.push(...(await applySteps(this.form, batch)));
  }

  /**
   * Attaches a file to required file inputs without one: the form cannot be sent otherwise, even if a task's true value
   * is "None". Such a file earns no reward.
   */
  async attachRequired(): Promise<void> {
    const required = this.form.controls.filter(({ kind, required, present }) => kind === "file" && required && present);
    if (required.length === 0 || this.options.uploads === "none") return;
    const { handle } = this.form;
    const empty = await handle.evaluate(
      emptyFiles,
      required.map(({ index }) => index),
    );
    for (const control of empty) {
      await handle.evaluate(attachFile, { control, name: "file.txt" });
      this.attached.add(control);
    }
  }

  /** Returns the values without the files that no action of the plan attached: these earn nothing. */
  merits(values: readonly FieldValue[]): FieldValue[] {
    const { unearned } = this;
    return this.form.controls.map((control, i) => (unearned.includes(i) ? "" : (values[i] ?? control.default)));
  }

  /** Returns these files as evidence; empty if there are none. */
  get unearnedFiles(): { readonly unearned?: readonly number[] } {
    const { unearned } = this;
    return unearned.length === 0 ? {} : { unearned };
  }

  private get unearned(): number[] {
    return [...this.attached].filter((i) => !this.records.some((r) => r.control === i && r.fate === "done"));
  }
}
