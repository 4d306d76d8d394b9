import { setTimeout as sleep } from "node:timers/promises";
import { errors } from "playwright";
import type { Action, Plan } from "../forms/plan.js";
import { type PostedPair, postedValues } from "../forms/posted.js";
import type { FieldValue, Task } from "../site.js";
import { EnvironmentFault } from "./browser.js";
import { currentValues, type ReadForm, readForm } from "./controls.js";
import { type ActionRecord, applySteps, resolveAction, type Step } from "./fill.js";
import { aimAt, attachFile, emptyFiles, passTime, placeOf } from "./page-actions.js";
import { awaitAnswers } from "./page-reader.js";
import type { Session } from "./session.js";
import type { Submission } from "./submission.js";

/** A plan that was carried out. */
export interface Execution {
  readonly form: ReadForm;
  readonly actions: readonly ActionRecord[];
  /** Final values, one a control: as posted, or from the page where nothing was posted. */
  readonly values: readonly FieldValue[];
  readonly submission: Submission | undefined;
  readonly posted: readonly PostedPair[];
}

export interface ExecuteOptions {
  readonly uploads: "dummy" | "none";
}

/** When to look whether a click has arrived at all. */
const FIRST_LOOK_MS = 200;
/** How long a script may think between a click and its fetch, by its own clock. */
const SCRIPT_PATIENCE_MS = 3000;
/** How long an untouched page may wait for answers to its own requests; longer ones are kept open on purpose. */
const LOOKUP_PATIENCE_MS = 1000;
/** How long an answer may take from the server to the page's scripts. */
const ANSWER_PATIENCE_MS = 1000;

/**
 * Opens a page and reads its form when what the page's scripts ask the site for has come.
 * @throws EnvironmentFault where the site does not serve the page, or fails its scripts.
 */
export async function openForm(session: Session, path: string): Promise<ReadForm> {
  const { background, actionTimeoutMs: timeoutMs } = session;
  const world = await session.goto(path);
  let form = await readForm(world, timeoutMs);
  const urls = await background.settle(session.stretched(LOOKUP_PATIENCE_MS));
  if (urls.length > 0) {
    await world.evaluate(awaitAnswers, { urls, patienceMs: session.stretched(ANSWER_PATIENCE_MS) });
    await form.handle.dispose();
    form = await readForm(world, timeoutMs);
  }
  await checkBackground(session);
  background.touch();
  return form;
}

async function checkBackground(session: Session): Promise<void> {
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
  const form = await openForm(session, task.url);
  if (form.controls.length === 0) throw new EnvironmentFault(`no form on ${task.url}`);
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
    const step = resolveAction(action, form, task.url);
    if (step.do === "upload") {
      await flush();
      records.push(await upload(form, action, step, options));
    } else if (step.do === "submit") {
      await flush();
      const result = await submit(session, form, action, step.button, options);
      submission = result.submission;
      for (const control of result.attached) attached.add(control);
      records.push(result.record);
    } else {
      batch.push({ action, step });
    }
  }
  await flush();
  await checkBackground(session);
  const posted = submission?.posted ?? [];
  const held = submission === undefined ? await currentValues(form) : postedValues(form.controls, posted);
  // a file that no action of the plan attached is nobody's merit
  const values = held.map((value, control) =>
    attached.has(control) && !records.some((r) => r.control === control && r.fate === "done") ? "" : value,
  );
  await form.handle.dispose();
  return { form, actions: records, values, submission, posted };
}

async function upload(
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

/** Clicks the submit button with the mouse and catches what is posted. */
async function submit(
  session: Session,
  form: ReadForm,
  action: Action,
  button: number | undefined,
  options: ExecuteOptions,
): Promise<Submitted> {
  if (button === undefined)
    return { record: { action, fate: "no-such-control", detail: "no submit button" }, attached: [] };
  const attached = options.uploads === "dummy" ? await attachRequired(form) : [];
  const aim = await form.handle.evaluate(aimAt, button);
  const caught = session.catchSubmission(aim.form);
  const timer = new AbortController();
  const after = (ms: number): Promise<undefined> =>
    sleep(ms, undefined, { signal: timer.signal }).catch(() => undefined);
  try {
    if (aim.point !== undefined) await session.page.mouse.click(aim.point.x, aim.point.y);
    let submission =
      aim.invalid === undefined ? await Promise.race([caught.submission, after(FIRST_LOOK_MS)]) : undefined;
    if (submission === undefined && !session.isPosting() && !(await form.handle.evaluate((page) => page.clicked))) {
      // the page was not painted yet and dropped the click, or something covers the button: Playwright waits for it
      const place = await form.handle.evaluate(placeOf, button);
      if (place === 0) throw new EnvironmentFault("the submit button is gone");
      const there = session.page.locator(`xpath=(//*)[${place}]`);
      await there.click({ timeout: session.actionTimeoutMs, noWaitAfter: true });
    }
    if (submission === undefined && aim.invalid === undefined) {
      const thought = form.handle.evaluate(passTime, Math.min(SCRIPT_PATIENCE_MS, session.actionTimeoutMs));
      const waited = Promise.race([thought, after(2 * session.actionTimeoutMs)]);
      const nothing = waited.then(
        () => undefined,
        () => undefined,
      );
      submission = await Promise.race([caught.submission, nothing]);
    }
    if (submission === undefined && aim.invalid === undefined)
      submission = await afterLookups(session, caught.submission, session.actionTimeoutMs);
    if (submission === undefined) {
      // a submit event that no script stopped is a navigation; everything else is a refusal, or a script of its own
      const sent = session.isPosting() || (await form.handle.evaluate((page) => page.submits > page.prevented));
      if (sent) submission = await Promise.race([caught.submission, after(2 * session.actionTimeoutMs)]);
      if (sent && submission === undefined) throw new EnvironmentFault("no answer to the form post");
    }
    if (submission === undefined)
      return { record: { action, fate: "rejected", detail: aim.invalid ?? "the page posted nothing" }, attached };
    const refused = submission.accepted ? {} : { detail: `refused with HTTP ${submission.status}` };
    return { record: { action, fate: "done", submitted: true, ...refused }, submission, attached };
  } catch (error) {
    if (error instanceof errors.TimeoutError)
      return { record: { action, fate: "timeout", detail: "the submit button could not be clicked" }, attached };
    throw error;
  } finally {
    timer.abort();
    caught.cancel();
  }
}

/** A script that asks the site something before it posts gets the time for the answer. @throws EnvironmentFault without one. */
async function afterLookups(
  session: Session,
  submission: Promise<Submission>,
  patienceMs: number,
): Promise<Submission | undefined> {
  const { background } = session;
  while (!session.isPosting()) {
    const lookup = background.unanswered();
    if (lookup === undefined) return undefined;
    if (lookup.ageMs > patienceMs) throw new EnvironmentFault(`no answer to ${lookup.name}`);
    await background.settle(Math.min(patienceMs - lookup.ageMs + 1, FIRST_LOOK_MS));
    const caught = await Promise.race([submission, sleep(FIRST_LOOK_MS, undefined)]);
    if (caught !== undefined) return caught;
  }
  return undefined;
}

interface Submitted {
  readonly record: ActionRecord;
  readonly submission?: Submission;
  /** File controls that got a file no plan asked for. */
  readonly attached: readonly number[];
}

/**
 * Required file inputs get a file that no plan asked for: a task whose true value is "None" names none, yet without one
 * the form cannot be sent. It earns nothing.
 * @returns the controls that got one.
 */
async function attachRequired(form: ReadForm): Promise<number[]> {
  const required = form.controls
    .filter((control) => control.kind === "file" && control.required)
    .map((control) => control.index);
  if (required.length === 0) return [];
  const empty = await form.handle.evaluate(emptyFiles, required);
  for (const control of empty) await form.handle.evaluate(attachFile, { control, name: "file.txt" });
  return empty;
}
