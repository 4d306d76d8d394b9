import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import writeFileAtomic from "write-file-atomic";
import { UserError } from "../../core/errors.js";
import type { EpisodeRunner } from "../browser/episode.js";
import type { RunningSite, Task } from "../site.js";
import { type Contract, readContract, writeContract } from "./contract.js";
import { learnForm } from "./learn/learner.js";
import { waysOf } from "./operate.js";
import { controlsOf, type KnownForm } from "./play.js";

/** Time limit of one attempt while a form is learned, in milliseconds. */
const ATTEMPT_MS = 150_000;

/** The known forms of a site; each is learned once, before its first episode. */
export class Contracts {
  private readonly known = new Map<string, Promise<KnownForm>>();
  private readonly ready = new Map<string, KnownForm>();

  constructor(
    private readonly options: NonNullable<RunningSite["learn"]>,
    private readonly tasks: readonly Task[],
    private readonly tell: (text: string) => void,
  ) {}

  /** Returns the form of a task, and learns it first if it is not known. @throws UserError if that fails. */
  of(task: Task, runner: () => Promise<EpisodeRunner>): Promise<KnownForm> {
    const known = this.known.get(task.form) ?? this.load(task, runner);
    this.known.set(task.form, known);
    known.catch(() => this.known.delete(task.form));
    return known;
  }

  /** Returns the form of a task if `of` has loaded it before. */
  knownForm(task: Task): KnownForm | undefined {
    return this.ready.get(task.form);
  }

  /** Reads the contract of a task's form from its file; undefined if there is none. Nothing is learned. */
  kept({ form }: Pick<Task, "form">): Contract | undefined {
    const file = this.fileOf(form);
    return existsSync(file) ? readContract(readFileSync(file, "utf8"), file) : undefined;
  }

  /** Forgets a form whose page has changed: it is learned again. */
  forget({ form }: Task): void {
    this.known.delete(form);
    this.ready.delete(form);
    this.forgotten.add(form);
  }
  private readonly forgotten = new Set<string>();

  fileOf(form: string): string {
    return join(this.options.folder, `${form.replace(/[^\w.-]+/g, "_")}.yaml`);
  }

  private async load(task: Task, runner: () => Promise<EpisodeRunner>): Promise<KnownForm> {
    const file = this.fileOf(task.form);
    const tasks = this.tasks.filter(({ form }) => form === task.form);
    const kept = this.kept(task);
    let contract = kept;
    if (contract?.request === undefined || this.forgotten.has(task.form)) {
      this.tell(`Learning the form ${task.form} (${tasks.length} tasks)`);
      const limits = { formMs: this.options.minutes * 60_000, attemptMs: ATTEMPT_MS };
      const browser = await runner();
      await checkNoLogin(browser, task);
      contract = await learnForm(browser, tasks, limits, this.tell, kept?.fields);
      // the findings are kept even after a failure, so that the rest can be added by hand
      mkdirSync(this.options.folder, { recursive: true });
      await writeFileAtomic(file, writeContract(contract));
      if (contract.request === undefined)
        throw new UserError(`The form ${task.form} could not be learned: ${missing(contract)}.`, {
          hint: `Give the ways of these fields in ${file} (docs/contracts.md), or more time: site.learn.minutes.`,
        });
      if (Object.keys(contract.not_learned).length > 0) this.tell(`${task.form}: not learned: ${missing(contract)}`);
    }
    const ways = await waysOf(Object.values(contract.fields).map(({ way }) => way));
    const form = { contract, controls: controlsOf(contract, tasks), ways };
    this.ready.set(task.form, form);
    return form;
  }
}

/** @throws UserError if a task's page leads to a login. */
async function checkNoLogin(runner: EpisodeRunner, { url }: Task): Promise<void> {
  const led = await runner.converse(async (session) => {
    await session.goto(url);
    const { pathname } = new URL(session.page.url());
    const isLogin = await session.view.evaluate(() => document.querySelector("input[type=password]") !== null);
    return isLogin && pathname !== new URL(url, session.page.url()).pathname ? pathname : undefined;
  });
  if ("fault" in led || led.result === undefined) return;
  throw new UserError(`GET ${url} leads to ${led.result}: a login, not the task's form.`, {
    hint: "site.storage_state or site.login brings a session (docs/sites.md)",
  });
}

const missing = ({ not_learned: labels }: Contract): string =>
  Object.entries(labels)
    .map(([label, tried]) => `${label} (${tried})`)
    .join("; ") || "it sent nothing";
