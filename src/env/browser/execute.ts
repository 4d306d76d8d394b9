import { labelList } from "../forms/absent-label.js";
import { type Played, playedBy } from "../forms/episode.js";
import type { Plan } from "../forms/plan.js";
import type { Task } from "../site.js";
import { EnvironmentFault } from "./browser.js";
import { type Control, findControl, type ReadForm, readForm, rescan } from "./controls.js";
import type { ExecuteOptions } from "./filler.js";
import { framesDrawn } from "./page/actions.js";
import type { Session } from "./session.js";
import { FormFiller } from "./submit.js";

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
  const present = controls.filter(({ present }) => present);
  if (present.length > 0 && (labels.length === 0 || labels.some((label) => findControl(present, label) !== "none")))
    return;
  const page = new URL(session.page.url());
  const what = page.pathname === new URL(url, page).pathname ? `on ${url}` : `GET ${url} leads to ${page.pathname}`;
  if (present.some(({ kind }) => kind === "password") && present.length <= 4)
    throw new EnvironmentFault(`${what}: a login, not the task's form (site.storage_state, site.login)`);
  if (present.length === 0) throw new EnvironmentFault(`no form${what.startsWith("GET") ? ":" : ""} ${what}`);
  const has = labelList(present.map(({ label }) => label));
  throw new EnvironmentFault(`${what}: none of the task's labels is there; the page has: ${has}`);
}

export async function checkBackground(session: Session): Promise<void> {
  const failure = await session.background.lastingFailure(session.stretched(LOOKUP_PATIENCE_MS));
  if (failure !== undefined) throw new EnvironmentFault(failure);
}

/**
 * Carries out a plan on the task's page.
 * @throws EnvironmentFault and Playwright's errors if the environment fails; mistakes of the policy become fates.
 */
export async function executePlan(session: Session, task: Task, plan: Plan, options: ExecuteOptions): Promise<Played> {
  const form = await openForm(session, task, options.known?.controls);
  const filler = new FormFiller(session, task, form, options);
  await filler.carryOut(plan.actions);
  await checkBackground(session);
  const { controls } = form;
  const { known } = options;
  // the controls of a known form need not be recorded
  const evidence = { ...filler.sent, ...filler.unearnedFiles, ...(known === undefined ? { controls } : {}) };
  return playedBy({ controls, contract: known?.contract }, evidence, filler.records, task);
}
