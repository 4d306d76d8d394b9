import { isLogin } from "../forms/answer.js";
import { listItems, looseLabel, parseBoolean } from "../forms/normalize.js";
import type { Action, Plan } from "../forms/plan.js";
import type { PostedPair } from "../forms/posted.js";
import type { FieldValue, Task } from "../site.js";
import { EnvironmentFault } from "./browser.js";
import { applyCarefully } from "./careful.js";
import { type Control, currentValues, findControl, type ReadForm, readForm, rescan } from "./controls.js";
import { type ActionRecord, applySteps, resolveAction, type Step } from "./fill.js";
import { Hands } from "./hands.js";
import { attachFile, emptyFiles } from "./page/actions.js";
import { awaitChange } from "./page/hands.js";
import { awaitAnswers, type PageForm } from "./page/reader.js";
import { discovered, kindOfValue, openUp, reach, settleStep } from "./reach.js";
import type { Session } from "./session.js";
import type { Submission } from "./submission.js";
import { submitForm } from "./submit.js";

/** A plan that was carried out. */
export interface Execution {
  readonly form: ReadForm;
  readonly actions: readonly ActionRecord[];
  /** Final values, one a control: as posted, or from the page where nothing was posted. */
  readonly values: readonly FieldValue[];
  readonly submission: Submission | undefined;
  readonly posted: readonly PostedPair[];
  /** What was not plain about the submission. */
  readonly notes: readonly string[];
}

export interface ExecuteOptions {
  readonly uploads: "dummy" | "none";
}

/** How long an untouched page may wait for answers to its own requests; longer ones are kept open on purpose. */
const LOOKUP_PATIENCE_MS = 1000;
/** How long an answer may take from the server to the page's scripts. */
const ANSWER_PATIENCE_MS = 1000;
/** How long a page may take to draw the task's form, and how long it may stand still meanwhile. */
const DRAWN_MS = 5000;
const STILL_MS = 500;

/**
 * Opens a task's page and reads its form when what the page's scripts ask the site for has come.
 * @throws EnvironmentFault where the site does not serve the page, fails its scripts, or shows another page than the task's.
 */
export async function openForm(session: Session, task: Pick<Task, "url" | "fields">): Promise<ReadForm> {
  const { background, actionTimeoutMs: timeoutMs } = session;
  const labels = Object.keys(task.fields);
  const world = await session.goto(task.url);
  const form = await readForm(world, timeoutMs, labels);
  const urls = await background.settle(session.stretched(LOOKUP_PATIENCE_MS));
  if (urls.length > 0) {
    await world.evaluate(awaitAnswers, { urls, patienceMs: session.stretched(ANSWER_PATIENCE_MS) });
    await rescan(form);
  }
  await checkBackground(session);
  await awaitLabels(session, form);
  background.touch();
  await checkPage(session, form, task);
  return form;
}

const shows = (form: ReadForm): boolean => form.labels.some((label) => findControl(form.controls, label) !== "none");

/** A page that shows none of the labels may not be drawn yet: as long as it changes, or says that it loads. */
async function awaitLabels(session: Session, form: ReadForm): Promise<void> {
  if (form.labels.length === 0) return;
  for (const end = performance.now() + session.stretched(DRAWN_MS); !shows(form) && performance.now() < end; ) {
    const before = await form.handle.evaluate((page) => page.changes);
    await form.handle.evaluate(awaitChange, STILL_MS);
    const changed = (await form.handle.evaluate((page) => page.changes)) > before;
    const loading = await form.handle.evaluate(isLoading);
    // last: what was drawn while the page was asked is seen
    await rescan(form);
    if (!changed && !loading) return;
  }
}

/** Runs IN THE PAGE: whether it says that something is still to come. */
function isLoading(page: PageForm): boolean {
  const marks = page.kit.all(
    "[aria-busy=true],[role=progressbar],[class*=spinner i],[class*=skeleton i],[class*=loading i],[class*=loader i],[class*=placeholder-glow i]",
  );
  return (
    document.readyState !== "complete" ||
    marks.some(page.kit.shown) ||
    /(?:^|\n)\s*(?:loading|please wait)\b/i.test((document.body?.innerText ?? "").slice(0, 5000))
  );
}

/** @throws EnvironmentFault where this is not the page that the task is about, with what it is instead. */
async function checkPage(session: Session, form: ReadForm, task: Pick<Task, "url" | "fields">): Promise<void> {
  if (shows(form) || (form.labels.length === 0 && form.controls.length > 0)) return;
  const page = new URL(session.page.url());
  const led = page.pathname !== new URL(task.url, page).pathname;
  const password = form.controls.some((control) => control.kind === "password");
  const login = isLogin(page.pathname) || (password && form.controls.length <= 4);
  if (!login && (await openUp(session, form))) return;
  for (const label of login ? [] : form.labels)
    if (await discovered(form, label, kindOfValue(task.fields[label] ?? ""))) return;
  const what = led ? `GET ${task.url} leads to ${page.pathname}` : `on ${task.url}`;
  if (login) throw new EnvironmentFault(`${what}: a login, not the task's form (site.storage_state, site.login)`);
  if (form.controls.length === 0) throw new EnvironmentFault(`no form ${led ? `: ${what}` : what}`);
  throw new EnvironmentFault(`${what}: none of the task's labels is there`);
}

export async function checkBackground(session: Session): Promise<void> {
  const failure = await session.background.lastingFailure(session.stretched(ANSWER_PATIENCE_MS));
  if (failure !== undefined) throw new EnvironmentFault(failure);
}

/**
 * Carries a plan out on the task's page, in order: everything up to a submit goes to the page in one message.
 * @throws EnvironmentFault and Playwright's errors where the environment fails; whatever the policy does wrong is a fate.
 */
export async function executePlan(
  session: Session,
  task: Task,
  plan: Plan,
  options: ExecuteOptions,
): Promise<Execution> {
  const form = await openForm(session, task);
  const records: ActionRecord[] = [];
  let submission: Submission | undefined;
  const attached = new Set<number>();
  let batch: { action: Action; step: Step }[] = [];
  const flush = async (): Promise<void> => {
    records.push(...(await applySteps(form, batch)));
    batch = [];
  };
  for (const action of plan.actions) {
    if (submission !== undefined) {
      records.push({ action, fate: "after-submit" });
      continue;
    }
    let step = resolveAction(action, form, task.url);
    if (step.do === "nothing" && (await isWorthAnotherLook(session, form, task, action, step, flush)))
      step = resolveAction(action, form, task.url);
    if (step.do === "upload") {
      await flush();
      records.push(await upload(form, action, step, options));
    } else if (step.do === "submit") {
      await flush();
      for (const control of options.uploads === "dummy" ? await attachRequired(form) : []) attached.add(control);
      const result = await submitForm(session, form, task, action, step.button, () =>
        fillAgain(session, form, task, records),
      );
      submission = result.submission;
      records.push(result.record);
    } else if (form.scripted || step.do === "operate") {
      await flush();
      records.push(await applyWatched(session, form, action, step));
    } else {
      batch.push({ action, step });
    }
  }
  await flush();
  await checkBackground(session);
  const posted = submission?.posted ?? [];
  const held = submission === undefined ? await currentValues(form) : submission.values;
  // a file that no action of the plan attached is nobody's merit
  const values = form.controls.map((control, i) =>
    attached.has(i) && !records.some((r) => r.control === i && r.fate === "done") ? "" : (held[i] ?? control.default),
  );
  await form.handle.dispose();
  return { form, actions: records, values, submission, posted, notes: submission?.notes ?? [] };
}

/**
 * A page that came to life after it was filled in has drawn its form anew, and empty: a person sees that, and fills it in
 * again. What has been sent by then is not missing.
 */
async function fillAgain(
  session: Session,
  form: ReadForm,
  task: Pick<Task, "url">,
  records: readonly ActionRecord[],
): Promise<void> {
  const redrawn = await form.handle.evaluate((page) => {
    page.scan();
    return page.redrawn.splice(0);
  });
  if (redrawn.length === 0 || session.traffic.hasSent()) return;
  await rescan(form);
  const held = await currentValues(form);
  for (const { action, fate, control: index = -1 } of records) {
    const control = form.controls[index];
    if (fate !== "done" || control?.widget !== "native" || !control.present || !redrawn.includes(index)) continue;
    if (String(held[index]) === String(control.default))
      await applyWatched(session, form, action, resolveAction(action, form, task.url));
  }
}

/** What was put into a control stays known where the page takes the control away at once. */
async function applyNoted(session: Session, form: ReadForm, action: Action, step: Step): Promise<ActionRecord> {
  const record = await applyCarefully(session, form, action, step);
  const control = record.fate === "done" ? form.controls[record.control ?? -1] : undefined;
  if (control !== undefined) note(form, control, action);
  return record;
}

function note(form: ReadForm, control: Control, action: Action): void {
  const tick = action.kind === "check" || action.kind === "uncheck" ? action.kind === "check" : undefined;
  const text = "value" in action ? action.value : undefined;
  if (control.kind === "checkbox") {
    const on = tick ?? (text === undefined ? undefined : parseBoolean(text));
    if (on !== undefined) form.left.set(control.index, on);
  } else if (text !== undefined)
    form.left.set(control.index, control.kind === "checkbox-group" ? listItems(control.options, text) : text);
}

/**
 * One step on a page with scripts, which may send the form by itself when a control is set: a poll, a filter, a list whose
 * choice fetches the rest of the form. The page that comes then is the form's next one.
 */
async function applyWatched(session: Session, form: ReadForm, action: Action, step: Step): Promise<ActionRecord> {
  const control = "control" in step && step.control !== undefined ? form.controls[step.control] : undefined;
  const name = control?.name ?? "";
  if (control === undefined || name === "") return applyNoted(session, form, action, step);
  const { traffic, documents } = session;
  const held = await currentValues(form);
  traffic.expect(({ posted }) => posted.some(([key]) => key === name));
  try {
    const record = await applyNoted(session, form, action, step);
    const departs = await form.handle.evaluate((page) => page.departures > 0).catch(() => true);
    if (!departs) return record;
    for (let waited = 0; waited < 500 && !traffic.isForwarding() && !session.isLeaving(); waited += 50) {
      if (session.documents > documents || traffic.exchanges.some((e) => e.phase === "step")) break;
      await traffic.next(50);
    }
    if (!traffic.exchanges.some((e) => e.phase === "step")) return record;
    form.controls.forEach((c, i) => {
      if (c.present && held[i] !== undefined) form.left.set(i, held[i]);
    });
    note(form, control, action);
    await settleStep(session, form, documents);
    return { ...record, fate: "done" };
  } finally {
    if (traffic.phase === "open") traffic.disarm();
  }
}

/**
 * A field of the task that the page does not show yet, or an option that it does not offer yet: it may come with what was
 * filled in before. What is no field of the task costs no time.
 */
async function isWorthAnotherLook(
  session: Session,
  form: ReadForm,
  task: Task,
  action: Action,
  step: Extract<Step, { do: "nothing" }>,
  flush: () => Promise<void>,
): Promise<boolean> {
  if (!("label" in action)) return false;
  const label = form.labels.find((known) => looseLabel(known) === looseLabel(action.label));
  if (label === undefined) return false;
  if (step.fate === "no-such-option" && form.scripted) {
    await flush();
    await session.background.settle(session.stretched(LOOKUP_PATIENCE_MS));
    const few = (form.controls[step.control ?? -1]?.options.length ?? 0) <= 1;
    await new Hands(session, form.handle).calm(few ? 1500 : 200, few ? 600 : 75);
    await rescan(form);
    return true;
  }
  if (step.fate !== "no-such-control") return false;
  await flush();
  return reach(session, form, label, kindOfValue(task.fields[label] ?? ""));
}

export async function upload(
  form: ReadForm,
  action: Action,
  step: Extract<Step, { do: "upload" }>,
  options: ExecuteOptions,
): Promise<ActionRecord> {
  const on = { action, control: step.control };
  // file fields do not count then, on either side
  if (options.uploads === "none") return { ...on, fate: "rejected", detail: "uploads are off", neutral: true };
  // a path or control characters in a file's name would be an invention of the page's browser, not of the plan
  const name = step.file.replace(/[\p{Cc}/\\]+/gu, "_").slice(0, 100) || "file.txt";
  await form.handle.evaluate(attachFile, { control: step.control, name });
  return { ...on, fate: "done" };
}

/**
 * Required file inputs get a file that no plan asked for: a task whose true value is "None" names none, yet without one
 * the form cannot be sent. It earns nothing.
 * @returns the controls that got one.
 */
export async function attachRequired(form: ReadForm): Promise<number[]> {
  const required = form.controls
    .filter((control) => control.kind === "file" && control.required)
    .map((control) => control.index);
  if (required.length === 0) return [];
  const empty = await form.handle.evaluate(emptyFiles, required);
  for (const control of empty) await form.handle.evaluate(attachFile, { control, name: "file.txt" });
  return empty;
}
