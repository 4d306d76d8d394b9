import { accessSync, constants, existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { fail, messageOf, UserError } from "../../core/errors.js";
import { readSmall, writeAtomic } from "../../core/files.js";
import { listed } from "../../core/problems.js";
import type { EpisodeRunner } from "../../env/browser/episode.js";
import { acceptanceOf } from "../../env/forms/contract.js";
import type { KnownForm, KnownForms, OpenKnownForms } from "../../env/known-forms.js";
import type { RunningSite, Task } from "../../env/site.js";
import { type Contract, type ContractFile, openContract, refuseContract, writeContract } from "./contract.js";
import { misfitsOf } from "./fits.js";
import { learnForm, type Recording } from "./learn/learner.js";
import { waysOf } from "./operate.js";
import { registerField } from "./place.js";
import { controlsOf, playPlan } from "./play.js";
import { recordingOf } from "./record/recording.js";
import type { Run } from "./record/spec.js";

/** Time limit of one play while a form is learned, in milliseconds. */
const PLAY_MS = 150_000;

/** Largest contract in bytes. */
const MOST_BYTES = 1 << 20;

/** The known forms of a site; each is learned once, before its first episode. */
export class Contracts implements KnownForms {
  readonly prepare = registerField;
  readonly controlsOf = controlsOf;
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
  kept(task: Pick<Task, "form">): Contract | undefined {
    return this.read(task.form)?.contract;
  }

  private read(form: string): ContractFile | undefined {
    const file = this.fileOf(form);
    if (!existsSync(file)) return undefined;
    let text = "";
    try {
      text = readSmall(file, MOST_BYTES);
    } catch (error) {
      refuseContract(file, [messageOf(error)]);
    }
    return openContract(text, file);
  }

  fileOf(form: string): string {
    return join(this.options.folder, `${form.replace(/[^\w.-]+/g, "_")}.yaml`);
  }

  /** Set by `learn`: a contract that does not fit is set aside and learned again, not refused. */
  mends = false;

  /** Set by `learn`: it ends a search, and what was found is kept. */
  signal: AbortSignal | undefined;

  /** Checks the contracts of all forms, once: no episode is played while one of them does not fit. */
  private checkAll(runner: () => Promise<EpisodeRunner>): Promise<void> {
    this.checking ??= (async () => {
      for (const form of new Set(this.tasks.map((task) => task.form))) await this.fitting(form, runner);
    })();
    this.checking.catch(() => {
      this.checking = undefined;
    });
    return this.checking;
  }
  private checking: Promise<void> | undefined;

  /** Reads a form's contract, if there is one. @throws UserError with the line of everything that does not fit. */
  private async fitting(form: string, runner: () => Promise<EpisodeRunner>): Promise<Partial<Contract> | undefined> {
    const file = this.fileOf(form);
    try {
      const kept = this.read(form);
      if (kept === undefined) return undefined;
      const misfits = await misfitsOf(kept, this.tasksOf(form), this.options.modules, await runner());
      if (misfits.length === 0) return kept.contract;
      const problems = misfits.map(({ text }) => text);
      if (!this.mends) refuseContract(file, problems);
      // the fields that fit are kept
      const wrong = new Set(misfits.map(({ label }) => label));
      const fields = Object.entries(kept.contract.fields).filter(([label]) => !wrong.has(label));
      this.setAside(file, listed(problems));
      return { fields: Object.fromEntries(fields) };
    } catch (error) {
      if (!this.mends || !(error instanceof UserError)) throw error;
      this.setAside(file, ` ${error.message}`);
      return undefined;
    }
  }

  private setAside(file: string, why: string): void {
    renameSync(file, `${file}.broken`);
    this.tell(`${file} does not fit, is now ${file}.broken, and is learned again:${why}`);
  }

  /** Reports the gaps of a contract. A run continues with them, but its figures then cover less. */
  private warn(contract: Contract, tasks: readonly Task[]): void {
    const { form, success, not_proved } = contract;
    if (Object.keys(not_proved).length > 0)
      this.tell(`${form}: not proved, so that it scores nothing:${listed(missing(contract))}`);
    if (success === undefined && tasks.some((task) => task.success === undefined))
      this.tell(`warning: ${form}: no success is declared, so none is accepted (site.success, docs/sites.md)`);
  }

  private tasksOf(form: string): Task[] {
    return this.tasks.filter((task) => task.form === form);
  }

  /** Makes the contract of a form from what people did; what their steps leave open is entered plainly. */
  async record(task: Task, runner: EpisodeRunner, runs: readonly Run[]): Promise<Contract> {
    const tasks = this.tasksOf(task.form);
    await checkNoLogin(runner, task, this.options.minutes * 60_000);
    const recording = await recordingOf(runner, runs, tasks, this.tell);
    return this.learned(runner, tasks, undefined, recording);
  }

  /** Learns a form. @param known what is kept of an earlier contract. @throws UserError if its form was never sent. */
  private async learned(
    runner: EpisodeRunner,
    tasks: readonly Task[],
    known: Partial<Contract> = {},
    recording?: Recording,
  ): Promise<Contract> {
    const [task] = tasks as [Task];
    const file = this.fileOf(task.form);
    const { minutes, submissions, saves: declared } = this.options;
    const limits = { formMs: minutes * 60_000, playMs: PLAY_MS, submissions, signal: this.signal };
    await checkNoLogin(runner, task, limits.formMs);
    // a folder that cannot be written is found before the form is sent
    mkdirSync(dirname(file), { recursive: true });
    accessSync(dirname(file), constants.W_OK);
    const own = ownOf({ ...known, ...(recording?.success && { success: recording.success }) });
    const acceptance = acceptanceOf(task, own);
    const saves = [...new Set([...declared, ...(known.saves ?? [])])];
    const given = { ...(known.fields && { fields: known.fields }), saves, acceptance, recording };
    const { contract: found, words, picture } = await learnForm(runner, tasks, limits, this.tell, given);
    // a form whose learning was ended goes on with the fields that it has: without a request it is not complete
    const { request: _, ...begun } = found;
    const contract: Contract = { ...(this.signal?.aborted ? begun : found), ...own };
    await this.write(file, contract);
    if (contract.request === undefined && picture !== undefined) {
      const image = file.replace(/yaml$/, "jpg");
      await writeAtomic(image, picture);
      this.tell(`${image} shows the form as it was last filled in, with a frame around what could not be entered`);
    }
    if (contract.request !== undefined || this.signal?.aborted) return contract;
    throw new UserError(
      `The form ${task.form} could not be learned: ${words || "it sent nothing"}.${listed(missing(contract))}`,
      {
        hint: `Record it (refusion-train learn --from), or give these fields in ${file} (docs/contracts.md).`,
      },
    );
  }

  /** Writes a contract; beside the one that is there, where that proves fields that the new one does not. */
  private async write(file: string, contract: Contract): Promise<void> {
    const old = existsSync(file) ? this.read(contract.form)?.contract : undefined;
    const isProved = ({ fields, request }: Contract, label: string): boolean =>
      request !== undefined && fields[label]?.wire !== undefined;
    const lost = Object.keys(old?.fields ?? {}).filter(
      (label) => isProved(old as Contract, label) && !isProved(contract, label),
    );
    const target = lost.length > 0 ? `${file}.new` : file;
    await writeAtomic(target, writeContract(contract));
    if (lost.length > 0)
      fail(`${target} does not replace ${file}, which proves more: ${lost.join(", ")}.`, {
        hint: "Compare the two; move the new one over the old one if that is wrong.",
      });
  }

  private async load(task: Task, runner: () => Promise<EpisodeRunner>): Promise<KnownForm> {
    if (!this.mends) await this.checkAll(runner);
    const tasks = this.tasksOf(task.form);
    const kept = await this.fitting(task.form, runner);
    let contract = kept as Contract | undefined;
    if (contract?.request === undefined) {
      this.tell(`Learning the form ${task.form} (${tasks.length} tasks)`);
      contract = await this.learned(await runner(), tasks, kept);
    }
    this.warn(contract, tasks);
    const ways = await waysOf(Object.values(contract.fields).map(({ way }) => way));
    const learned = { contract, controls: controlsOf(contract, tasks), ways };
    const form: KnownForm = {
      ...learned,
      play: (session, task, plan, uploads) => playPlan(session, learned, task, plan, uploads),
    };
    this.ready.set(task.form, form);
    return form;
  }
}

export const openContracts: OpenKnownForms = (...given) => new Contracts(...given);

/** Returns what a contract declares by itself, beside its tasks and its site. */
const ownOf = ({ success, refusal }: Partial<Contract>): Partial<Contract> => ({
  ...(success && { success }),
  ...(refusal && { refusal }),
});

/** @param ms time limit in milliseconds. @throws UserError if a task's page leads to a login. */
async function checkNoLogin(runner: EpisodeRunner, { url }: Task, ms: number): Promise<void> {
  const led = await runner.converse(
    async (session) => {
      await session.goto(url);
      const { pathname } = new URL(session.page.url());
      const isLogin = await session.view.evaluate(() => document.querySelector("input[type=password]") !== null);
      return isLogin && pathname !== new URL(url, session.page.url()).pathname ? pathname : undefined;
    },
    undefined,
    performance.now() + ms / 4,
  );
  if ("fault" in led || led.result === undefined) return;
  throw new UserError(`GET ${url} leads to ${led.result}: a login, not the task's form.`, {
    hint: "site.storage_state or site.login brings a session (docs/sites.md)",
  });
}

const missing = ({ not_proved: labels }: Contract): string[] =>
  Object.entries(labels).map(([label, why]) => `${label}: ${why}`);
