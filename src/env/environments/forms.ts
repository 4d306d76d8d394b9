/**
 * Filling in web forms in a real browser: the policy reads a task, writes a plan, and is scored by what the server
 * received (docs/browser.md, src/env/forms/reward.ts).
 */
import { z } from "zod";
import { codeHash } from "../../core/code-hash.js";
import { messageOf, UserError } from "../../core/errors.js";
import { sha256 } from "../../core/files.js";
import type { Act, Action, Observation } from "../../core/interaction.js";
import { problemsOf } from "../../core/problems.js";
import { isModulePath, loadedModules, loadFolder } from "../../core/registry.js";
import type { Rng } from "../../core/rng.js";
import { PROMPT_STYLES, renderPrompt } from "../../text/prompt.js";
import { EnvironmentFault } from "../browser/browser.js";
import type { Control } from "../browser/controls.js";
import { type Episode, EpisodeRunner } from "../browser/episode.js";
import type { Execution } from "../browser/execute.js";
import { findBrowser } from "../browser/find-browser.js";
import { injectedFaults } from "../browser/injected-faults.js";
import type { Session } from "../browser/session.js";
import {
  type Demonstration,
  type Environment,
  type EnvironmentKind,
  type EnvironmentTask,
  type EpisodeOutcome,
  type FixedPolicy,
  type PlayedTogether,
  SPLITS,
  type Unproven,
} from "../environment.js";
import { controlsOf, controlsOnPage, formTemplate, planOf, type TemplateControl, trueValues } from "../forms/blanks.js";
import { kindsOn, NULL_POLICIES, nullPlan, oracleActions } from "../forms/oracle.js";
import { faulted, outcomeOf } from "../forms/outcome.js";
import { type RewardKind, rewardFor, scoreByDefault, scoreByDocuments } from "../forms/own-reward.js";
import { type Plan, renderPlan } from "../forms/plan.js";
import type { Answer } from "../forms/plan-parts.js";
import { type KnownTask, recombined } from "../forms/recombine.js";
import { rejudge } from "../forms/rejudge.js";
import { refusalIn, shortfall, wrongPolicies } from "../forms/shortfall.js";
import { viewDetail } from "../forms/view.js";
import { Contracts } from "../pages/contracts.js";
import { declaredForm } from "../pages/native.js";
import { registerField } from "../pages/place.js";
import { isChanged, type KnownForm, controlsOf as learnedControls, playPlan } from "../pages/play.js";
import type { FieldKind, RunningSite, SiteKind, Task } from "../site.js";

/** A day at most: a timer overflows at 25 of them, and would then go off at once. */
const seconds = (): z.ZodNumber => z.number().positive().max(86_400);

const browser = z.strictObject({
  headless: z.boolean().default(true).describe("false shows the browser"),
  contexts: z.int().min(1).max(100_000).default(4).describe("episodes at once, one isolated context each"),
  action_timeout_s: seconds().default(5).describe("time limit of one action"),
  rollout_timeout_s: seconds().default(30).describe("time limit of one episode"),
  uploads: z
    .enum(["dummy", "none"])
    .default("dummy")
    .describe("what a file field gets: a small generated file, or nothing"),
  inject_faults: injectedFaults.prefault({}).describe("faults on purpose (docs/browser.md)"),
});

const prompt = z.strictObject({
  style: z
    .enum(PROMPT_STYLES)
    .default("compact")
    .describe("one template for SFT, RL and evaluation; document, page: the values have to be found in a text"),
});

const reward = z
  .union([
    z.enum(["default", "documents"]),
    z.string().refine(isModulePath, "expected default, documents or the path of a module"),
  ])
  .default("default")
  .describe(
    "documents = .4 accepted + .4 fields that the text of the plan names + .2 executed, for comparison; or a module of yours, ./my-reward.mjs",
  );

export const config = z.looseObject({
  site: z.looseObject({ kind: z.string() }),
  browser,
  prompt,
  reward,
  plan: z.enum(["template", "free"]).optional(),
});
type FormsConfig = z.output<typeof config>;

const MIB = 2 ** 20;
/** A headless shell with one context took 96 MB (PSS, Linux x64); the rest is room for a full Chromium and more pages. */
const BROWSER = { program: 150 * MIB, context: 30 * MIB };

/** The modules that tell accepted from refused, and what a form got right. */
const JUDGES = ["forms/judge", "forms/reward", "browser/marker", "browser/shown-again"].map(
  (name) => new URL(`../${name}.js`, import.meta.url).href,
);

const sitesFolder = new URL("../sites/", import.meta.url);

export const environment: EnvironmentKind = {
  schema: z.strictObject({}),
  sections: {
    site: { folder: sitesFolder, exportName: "site", default: "embedded", description: "the forms" },
    prompt: { schema: prompt.prefault({}), description: "the prompt" },
    browser: { schema: browser.prefault({}), description: "the browser that acts on the forms" },
    reward: { schema: reward, description: "how an episode is scored" },
  },
  async open(raw) {
    const options = config.parse(raw);
    const { kind, ...rest } = options.site;
    const site = await openSite(kind, rest);
    return new FormsEnvironment(site, options, await rewardFor(options.reward));
  },
  memory: (raw) => [{ name: "browser", bytes: BROWSER.program + config.parse(raw).browser.contexts * BROWSER.context }],
  async check(raw, opened) {
    const found = findBrowser({ headless: config.parse(raw).browser.headless });
    if (found === undefined) throw new Error("no Chromium found");
    const which = found.path === undefined ? found.source : `${found.path} (${found.source})`;
    return `${which}; ${await (opened as FormsEnvironment).checkPage()}`;
  },
  view: viewDetail,
  verdict: (detail) => (detail.accepted === true ? "accepted" : "not accepted"),
};

export async function openSite(kind: string, options: Readonly<Record<string, unknown>>): Promise<RunningSite> {
  const sites = await loadFolder<SiteKind>(sitesFolder, "site", kind);
  const entry = sites.get(kind);
  if (entry === undefined)
    throw new UserError(`Unknown site ${kind}; known: ${[...sites.keys()].join(", ")}.`, { exitCode: 2 });
  const site = await startOf(kind, entry, options);
  const problems = taskList.safeParse(site.tasks?.());
  if (problems.success) return site;
  await site.stop?.();
  throw new UserError(`The tasks of the site ${kind} are none:${problemsOf(problems.error)}`, {
    hint: "docs/sites.md says what a site of your own gives",
  });
}

/** Keys that a run reads of every task. */
const taskList = z.array(
  z.looseObject({
    id: z.string(),
    form: z.string(),
    formTitle: z.string(),
    url: z.string(),
    instruction: z.string(),
    fields: z.record(z.string(), z.unknown()),
    split: z.enum(SPLITS),
  }),
);

async function startOf(kind: string, entry: SiteKind, options: unknown): Promise<RunningSite> {
  const read = entry.schema.parse(options);
  try {
    return await entry.start(read);
  } catch (error) {
    if (error instanceof UserError || !isModulePath(kind)) throw error;
    throw new UserError(`The site ${kind} does not start: ${messageOf(error)}`, {
      hint: "docs/sites.md says what a site of your own gives",
      cause: error,
    });
  }
}

/** The environment of a running site. */
export class FormsEnvironment implements Environment {
  readonly name: string;
  readonly tasks: readonly Task[];
  readonly notes: readonly string[];
  readonly oneTurn: boolean;
  private opened: Promise<EpisodeRunner> | undefined;
  private known: readonly KnownTask[] | undefined;
  /** Contracts of the site's forms, where they are learned. */
  readonly contracts?: Contracts;
  private readonly byForm = new Map<string, readonly Task[]>();
  private readonly pages = new Map<string, Promise<readonly Control[]>>();
  /** Pages that have been read, by address. */
  private readonly read = new Map<string, readonly Control[]>();
  readonly unproven?: Unproven;
  readonly rewardRange?: readonly [number, number];
  /** Only where the site knows its fields' controls; elsewhere the oracle has to play, and the browser reads them. */
  readonly demonstrations?: (tasks: readonly EnvironmentTask[]) => Demonstration[];

  constructor(
    readonly site: RunningSite,
    private readonly config: Pick<FormsConfig, "browser" | "prompt" | "plan"> & Partial<FormsConfig>,
    private readonly scoreOf: RewardKind["score"] = scoreByDefault,
  ) {
    this.name = site.name;
    this.tasks = site.tasks();
    // elsewhere the page has to be read before its template is known
    this.oneTurn = site.fieldKinds !== undefined || config.plan === "free";
    this.notes = site.notes ?? [];
    if (scoreOf === scoreByDefault || scoreOf === scoreByDocuments) this.rewardRange = [0, 1];
    const { fieldKinds, rehearse, learn } = site;
    if (learn !== undefined)
      this.contracts = new Contracts(learn, this.tasks, (text) => void process.stderr.write(`${text}\n`));
    if (rehearse !== undefined)
      this.unproven = {
        tasks: rehearse,
        why: shortfall,
        wrong: wrongPolicies(this.fixedPolicies),
        refused: refusalIn,
        hint: 'docs/reward-stays-0.md says what each means. A form that was accepted and is shown again needs "success" in its tasks (docs/tasks.md). To train all the same: site.rehearse=0',
      };
    if (fieldKinds !== undefined)
      this.demonstrations = (tasks) =>
        (tasks as readonly Task[]).map((task) => this.demonstration(task, fieldKinds(task)));
  }

  splitHash(): string {
    return this.site.splitHash();
  }

  /** Of the code that judges, own modules, and the contracts and declarations of the tasks' forms. */
  judge(given: readonly EnvironmentTask[]): string {
    const { reward = "default", site, browser } = this.config;
    const forms = new Map((given as readonly Task[]).map((task) => [task.form, task]));
    const contracts = [...forms].sort().map(([form, task]) => {
      const known = this.contracts?.kept(task) ?? this.site.declaredForm?.(task);
      return [form, known?.fields, known?.request, known?.accepted];
    });
    const modules = [reward, site?.kind ?? ""].map((name) => [name, loadedModules()[name] ?? null]);
    return sha256(JSON.stringify([codeHash(...JUDGES), modules, browser.uploads, contracts]));
  }

  async start(): Promise<void> {
    await this.runner();
  }

  get started(): boolean {
    return this.opened !== undefined;
  }

  /** The browser; started at first use, since supervised training needs none. */
  runner(): Promise<EpisodeRunner> {
    const { contracts } = this;
    const { headless, contexts, action_timeout_s, rollout_timeout_s, uploads, inject_faults } = this.config.browser;
    this.opened ??= (contracts === undefined ? Promise.resolve() : registerField())
      .then(() =>
        EpisodeRunner.open({
          site: this.site,
          ...(contracts === undefined ? {} : { execute: (session, task, plan) => this.playKnown(session, task, plan) }),
          headless,
          contexts,
          actionTimeoutMs: action_timeout_s * 1000,
          episodeTimeoutMs: rollout_timeout_s * 1000,
          uploads,
          faults: inject_faults,
        }),
      )
      .then(async (runner) => {
        try {
          await checkSelectors(runner, this.site);
          return runner;
        } catch (error) {
          await runner.close();
          throw error;
        }
      });
    return this.opened;
  }

  /** A form as it was learned; it is learned where it is not. */
  form(task: Task): Promise<KnownForm> | undefined {
    return this.contracts?.of(task, () => this.runner());
  }

  private playKnown(session: Session, task: Task, plan: Plan): Promise<Execution> {
    const form = this.contracts?.knownForm(task);
    if (form === undefined) throw new Error(`${task.form} has not been learned`);
    return playPlan(session, form, task, plan, this.config.browser.uploads);
  }

  /** Plays a plan; a page that is another than the one that was learned is learned again, once. */
  private async played(task: Task, plan: Plan): Promise<Episode> {
    await this.form(task);
    const runner = await this.runner();
    const episode = await runner.run(task, plan);
    if (this.contracts === undefined || episode.fault === undefined || !isChanged(episode.fault)) return episode;
    this.contracts.forget(task);
    await this.form(task);
    return runner.run(task, plan);
  }

  firstObservation(given: EnvironmentTask): Observation {
    const task = given as Task;
    return this.observation(task, this.site.fieldKinds?.(task), this.blanksOf(task));
  }

  private observation(
    task: Task,
    kinds: Readonly<Record<string, FieldKind>> | undefined,
    controls: readonly TemplateControl[] = [],
  ): Observation {
    const text = renderPrompt(task, this.config.prompt.style, kinds);
    return this.config.plan === "free" || controls.length === 0 ? { text } : { text, template: formTemplate(controls) };
  }

  /** The controls that a template of the task's form has; none where its page has not been read. */
  private blanksOf(task: Task): TemplateControl[] {
    const kinds = this.site.fieldKinds?.(task);
    if (kinds !== undefined) return controlsOf(kinds);
    const read = this.read.get(task.url);
    return read === undefined ? [] : controlsOnPage(read, this.tasksOf(task));
  }

  /** All tasks of the form of a task. */
  tasksOf({ form }: Task): readonly Task[] {
    const known = this.byForm.get(form) ?? this.tasks.filter((task) => task.form === form);
    this.byForm.set(form, known);
    return known;
  }

  /** A task starts from the same fresh page every time, so that one plan needs playing once. */
  async play(given: EnvironmentTask, act: Act, together: PlayedTogether): Promise<EpisodeOutcome> {
    const task = given as Task;
    let answer: Answer;
    try {
      if (!this.oneTurn) await this.controls(task);
      answer = { ...(await act(this.firstObservation(task))), controls: this.blanksOf(task) };
    } catch (error) {
      if (!(error instanceof EnvironmentFault)) throw error;
      return faulted(task, error.message);
    }
    const key = JSON.stringify([task.id, answer.values ?? answer.text]);
    const known = together.get(key);
    if (known !== undefined) return { ...(await known), reused: true };
    const plan = planOf(answer, answer.controls);
    const outcome = this.played(task, plan).then((episode) => outcomeOf(task, episode, this.scoreOf, [answer]));
    together.set(key, outcome);
    return outcome;
  }

  readonly fixedPolicies: Readonly<Record<string, FixedPolicy>> = {
    oracle: async (given) => async (observation) => {
      const task = given as Task;
      const plan = this.planner(task, (controls) => oracleActions(task.fields, controls));
      const values = observation.template && trueValues(this.blanksOf(task), task.fields);
      return { ...(await plan(observation)), ...(values && { values }) };
    },
    ...Object.fromEntries(
      NULL_POLICIES.map((name): [string, FixedPolicy] => [
        name,
        async (task, rng) => this.planner(task as Task, (controls) => nullPlan(name, controls, rng)),
      ]),
    ),
  };

  private planner(task: Task, plan: (controls: readonly Control[]) => Parameters<typeof renderPlan>[0]): Act {
    return async () => ({ text: renderPlan(plan(await this.controls(task)), "compact") });
  }

  /** The controls of a task's page, read once an address. */
  private async controls(task: Task): Promise<readonly Control[]> {
    const known = this.form(task);
    const read = (): Promise<readonly Control[]> =>
      known?.then(({ controls }) => controls) ?? this.runner().then((runner) => runner.snapshot(task));
    const reading = this.pages.get(task.url) ?? read();
    this.pages.set(task.url, reading);
    try {
      const controls = await reading;
      this.read.set(task.url, controls);
      return controls;
    } catch (error) {
      if (this.pages.get(task.url) === reading) this.pages.delete(task.url);
      throw error;
    }
  }

  /** A form that does not exist: the site's own, or fields of the training tasks put together anew. */
  syntheticDemonstration(rng: Rng): Demonstration {
    const drawn =
      this.site.augmentedTask?.(rng) ??
      recombined(this.knownTasks(), rng, ["document", "page"].includes(this.config.prompt.style));
    return this.demonstration(drawn.task, drawn.kinds);
  }

  /** The training tasks whose controls are known: by the site, or by their page, which has been read. */
  private knownTasks(): readonly KnownTask[] {
    const { fieldKinds, name } = this.site;
    this.known ??= this.tasks.flatMap((task) => {
      if (task.split !== "train") return [];
      const controls = this.read.get(task.url);
      if (fieldKinds !== undefined) return [{ task, kinds: fieldKinds(task) }];
      return controls === undefined ? [] : [{ task, kinds: kindsOn(controls, Object.keys(task.fields)) }];
    });
    if (this.known.length > 0) return this.known;
    throw new UserError(`The site ${name} has no synthetic tasks.`, {
      hint: "Set objective.augment=0.",
      exitCode: 2,
    });
  }

  private demonstration(task: Task, kinds: Readonly<Record<string, FieldKind>>): Demonstration {
    const text = renderPlan(oracleActions(task.fields, kinds), "compact");
    const controls = controlsOf(kinds);
    const action = { text, values: trueValues(controls, task.fields) };
    return { id: task.id, observation: this.observation(task, kinds, controls), action };
  }

  /** Opens the first task's page as an episode does. @returns what was found. @throws where it does not open. */
  async checkPage(): Promise<string> {
    const [task] = this.tasks;
    if (task === undefined) throw new UserError(`The site ${this.name} has no tasks.`);
    const began = performance.now();
    const controls = await (await this.runner()).snapshot(task);
    return `opened ${task.url}, ${controls.length} controls, ${Math.round(performance.now() - began)} ms`;
  }

  rejudge(given: EnvironmentTask, detail: Readonly<Record<string, unknown>>): Promise<EpisodeOutcome | string> {
    const task = given as Task;
    const contract = this.contracts?.kept(task);
    const declared = this.site.declaredForm?.(task);
    const learned = contract && { contract, controls: learnedControls(contract, this.tasksOf(task)), learned: true };
    const form = learned ?? (declared && declaredForm(task.form, declared));
    const uploads = this.config.browser.uploads === "dummy";
    return rejudge(task, detail, form, { uploads, scoreOf: this.scoreOf });
  }

  async photograph(given: EnvironmentTask, [answer = {}]: readonly Action[]): Promise<Uint8Array | undefined> {
    const task = given as Task;
    if (answer.values !== undefined) await this.controls(task);
    return (await this.runner()).photograph(task, planOf(answer, this.blanksOf(task)));
  }

  async close(): Promise<void> {
    await (await this.opened)?.close();
    await this.site.stop();
  }
}

/** @throws UserError where a success marker's selector is none to this browser: it would never be found. */
async function checkSelectors(runner: EpisodeRunner, { source, ...site }: RunningSite): Promise<void> {
  const given = new Map(site.tasks().flatMap(({ id, success }) => (success?.selector ? [[success.selector, id]] : [])));
  if (given.size === 0) return;
  const checked = await runner.converse(({ page }) => page.evaluate(invalidSelectors, [...given.keys()]));
  const wrong = "fault" in checked ? [] : checked.result;
  if (wrong.length === 0) return;
  const named = wrong.slice(0, 8).map((selector) => `\n  ${given.get(selector)}: ${JSON.stringify(selector)}`);
  throw new UserError(
    `${source ?? site.name}: success.selector of ${wrong.length} tasks is no CSS selector:${named.join("")}`,
    {
      hint: "write it as document.querySelector takes it, as .thanks or #done (docs/tasks.md)",
    },
  );
}

/** Runs IN THE PAGE. */
function invalidSelectors(selectors: readonly string[]): string[] {
  const nowhere = document.createDocumentFragment();
  return selectors.filter((selector) => {
    try {
      nowhere.querySelector(selector);
      return false;
    } catch {
      return true;
    }
  });
}
