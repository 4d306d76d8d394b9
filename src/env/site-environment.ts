import { z } from "zod";
import { orClose } from "../core/closing.js";
import { codeHash } from "../core/code-hash.js";
import { UserError } from "../core/errors.js";
import { sha256 } from "../core/files.js";
import { isModulePath, loadedModules } from "../core/own-module.js";
import { PROMPT_STYLES } from "../text/prompt.js";
import { EpisodeRunner } from "./browser/episode.js";
import { injectedFaults } from "./browser/injected-faults.js";
import type { Session } from "./browser/session.js";
import type { EnvironmentTask, EpisodeOutcome, FixedPolicy, Unproven } from "./environment.js";
import { acceptanceOf } from "./forms/contract.js";
import type { Played } from "./forms/episode.js";
import { declaredControls } from "./forms/native.js";
import { REWARD_NAMES, REWARDS, type RewardKind } from "./forms/own-reward.js";
import type { Plan } from "./forms/plan.js";
import { rejudge } from "./forms/rejudge.js";
import { unprovenOf, verdictProof } from "./forms/shortfall.js";
import { isLabelled, randomValues } from "./forms/verdict.js";
import { type KnownForm, type KnownForms, openKnownForms } from "./known-forms.js";
import type { RunningSite, Task } from "./site.js";

/** A time in seconds, at most a day: timers overflow after 25 days and would fire at once. */
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
  har: z
    .boolean()
    .default(false)
    .describe("keep what each rollout's pages sent and were answered, as HAR files (docs/rollouts.md)"),
  inject_faults: injectedFaults.prefault({}).describe("faults on purpose (docs/browser.md)"),
});

const prompt = z.strictObject({
  style: z
    .enum(PROMPT_STYLES)
    .default("compact")
    .describe("one template for SFT, RL and evaluation; document, page, labels: the values have to be found in a text"),
});

const reward = z
  .union([
    z.enum(REWARD_NAMES),
    z.string().refine(isModulePath, "expected default, documents, verdict or the path of a module"),
  ])
  .default("default")
  .describe(
    "verdict = 1 if the site accepted, else .5 of the share of fields that it does not refuse by name (docs/your-own-site.md); documents = .4 accepted + .4 fields that the text of the plan names + .2 executed, for comparison; or a module of yours, ./my-reward.mjs",
  );

/** Sections of a run's config beside the site. */
export const sections = {
  prompt: { schema: prompt.prefault({}), description: "the prompt" },
  browser: { schema: browser.prefault({}), description: "the browser that acts on the forms" },
  reward: { schema: reward, description: "how an episode is scored" },
} as const;

export const config = z.looseObject({
  site: z.looseObject({ kind: z.string() }),
  browser,
  prompt,
  reward,
  plan: z.enum(["template", "free"]).optional(),
});
export type FormsConfig = z.output<typeof config>;

const modulesAt = (...names: string[]): string[] => names.map((name) => new URL(`./${name}.js`, import.meta.url).href);
/** The modules that decide whether a form was accepted, and which fields are right. */
const JUDGES = modulesAt("forms/judge", "forms/reward", "browser/follow");
/** The modules that judge by the site's verdict alone, with them. */
const VERDICT = modulesAt("forms/verdict", "forms/refused");

/** A running site whose forms are played in a browser, with its tasks, its contracts and the browser. */
export class SiteEnvironment {
  readonly name: string;
  readonly tasks: readonly Task[];
  readonly notes: readonly string[];
  readonly rewardRange?: readonly [number, number];
  /** Contracts of the site's forms, if they are learned. */
  readonly contracts?: KnownForms;
  private opened: Promise<EpisodeRunner> | undefined;
  private readonly byForm = new Map<string, readonly Task[]>();

  constructor(
    readonly site: RunningSite,
    protected readonly config: Pick<FormsConfig, "browser" | "prompt" | "plan"> & Partial<FormsConfig>,
    protected readonly reward: RewardKind = REWARDS.default,
  ) {
    this.name = site.name;
    this.tasks = site.tasks();
    this.notes = site.notes ?? [];
    if (Object.values<RewardKind>(REWARDS).includes(reward)) this.rewardRange = [0, 1];
    if (site.learn !== undefined)
      this.contracts = openKnownForms(
        site.learn,
        this.tasks.filter(isLabelled),
        (text) => void process.stderr.write(`${text}\n`),
      );
  }

  splitHash(): string {
    return this.site.splitHash();
  }

  /** Hashes the code that judges, the user's modules, and the contracts and declarations of the tasks' forms. */
  judge(given: readonly EnvironmentTask[]): string {
    const { reward = "default", site, browser } = this.config;
    const forms = new Map((given as readonly Task[]).map((task) => [task.form, task]));
    // other rewards read neither these modules nor the places of refused fields
    const isVerdict = this.reward === REWARDS.verdict;
    const contracts = [...forms].sort().map(([form, task]) => {
      const known = this.contracts?.kept(task) ?? this.site.declaredForm?.(task);
      const refused = isVerdict ? [acceptanceOf(task, known).refused] : [];
      return [form, known?.fields, known?.request, known?.success, known?.refusal, ...refused];
    });
    const modules = [reward, site?.kind ?? ""].map((name) => [name, loadedModules()[name] ?? null]);
    const code = codeHash(...JUDGES, ...(isVerdict ? VERDICT : []));
    return sha256(JSON.stringify([code, modules, browser.uploads, contracts]));
  }

  /**
   * Describes the plans that are tried before training: the oracle's and wrong ones, or, under `reward: verdict`, those
   * that the site has to refuse. Undefined where the site needs none.
   */
  protected proof(
    policies: Readonly<Record<string, FixedPolicy>>,
    controlsOf: Parameters<typeof randomValues>[0],
  ): Unproven | undefined {
    const { rehearse } = this.site;
    if (rehearse === undefined) return undefined;
    if (this.reward !== REWARDS.verdict) return unprovenOf(rehearse, policies);
    return verdictProof(rehearse, { ...policies, drawn: randomValues(controlsOf) });
  }

  /** Names the first task whose acceptance nobody declares. */
  untrainable(given: readonly EnvironmentTask[]): string | undefined {
    const isDeclared = (task: Task): boolean =>
      this.site.declaredForm !== undefined || acceptanceOf(task, this.contracts?.kept(task)).success !== undefined;
    const isVerdict = this.reward === REWARDS.verdict;
    const unlabelled = isVerdict ? undefined : (given as readonly Task[]).find((task) => !isLabelled(task));
    if (unlabelled !== undefined) return `${unlabelled.id} has no fields: only reward: verdict can learn from it`;
    const open = (given as readonly Task[]).find((task) => !isDeclared(task));
    return open && `${open.id}: no success is declared: nothing says whether its form was accepted (site.success)`;
  }

  async start(): Promise<void> {
    await this.runner();
  }

  get started(): boolean {
    return this.opened !== undefined;
  }

  /** Returns the browser; it starts at first use, since supervised training needs none. */
  runner(): Promise<EpisodeRunner> {
    this.opened ??= this.openRunner();
    return this.opened;
  }

  private async openRunner(): Promise<EpisodeRunner> {
    const { action_timeout_s, rollout_timeout_s, inject_faults: faults, ...rest } = this.config.browser;
    const { contracts, site } = this;
    await contracts?.prepare();
    const runner = await EpisodeRunner.open({
      ...rest,
      site,
      faults,
      actionTimeoutMs: action_timeout_s * 1000,
      episodeTimeoutMs: rollout_timeout_s * 1000,
      ...(contracts === undefined ? {} : { execute: (session, task, plan) => this.playKnown(session, task, plan) }),
    });
    return orClose(runner, () => checkSelectors(runner, site));
  }

  /** Returns the learned form of a task; learns it first if it is not known. */
  form(task: Task): Promise<KnownForm> | undefined {
    return this.contracts?.of(task, () => this.runner());
  }

  private playKnown(session: Session, task: Task, plan: Plan): Promise<Played> {
    const form = this.contracts?.knownForm(task);
    if (form === undefined) throw new Error(`${task.form} has not been learned`);
    return form.play(session, task, plan, this.config.browser.uploads);
  }

  /** Returns all tasks with the same form. */
  tasksOf({ form }: Task): readonly Task[] {
    const known = this.byForm.get(form) ?? this.tasks.filter((task) => task.form === form);
    this.byForm.set(form, known);
    return known;
  }

  /** Opens the first task's page as an episode does. @returns a report in words. @throws Error if it does not open. */
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
    const { fields } = contract ?? {};
    const controls = contract && this.contracts?.controlsOf(contract, this.tasksOf(task));
    const learned = contract && controls && { contract, controls, fields };
    const form = learned ?? (declared && { contract: declared, controls: declaredControls(declared) });
    const uploads = this.config.browser.uploads === "dummy";
    return rejudge(task, detail, form, { uploads, reward: this.reward });
  }

  async close(): Promise<void> {
    // a browser that did not open has already reported its error
    await (await this.opened?.catch(() => undefined))?.close();
    await this.site.stop();
  }
}

/** @throws UserError if the browser does not accept a success marker's selector: it would never match. */
async function checkSelectors(runner: EpisodeRunner, { source, ...site }: RunningSite): Promise<void> {
  const given = new Map(site.tasks().flatMap(({ id, success }) => (success?.selector ? [[success.selector, id]] : [])));
  if (given.size === 0) return;
  const checked = await runner.converse(({ page }) =>
    page.evaluate(
      // :not takes a list of selectors, and refuses it if one is invalid
      (selectors) => selectors.filter((selector) => !CSS.supports(`selector(:not(${selector}))`)),
      [...given.keys()],
    ),
  );
  const wrong = "fault" in checked ? [] : checked.result;
  if (wrong.length === 0) return;
  const named = wrong.slice(0, 8).map((selector) => `\n  ${given.get(selector)}: ${JSON.stringify(selector)}`);
  throw new UserError(
    `${source ?? site.name}: success.selector of ${wrong.length} tasks is no CSS selector:${named.join("")}`,
    {
      hint: "write it as document.querySelector takes it, as .thanks or #done (docs/sites.md)",
    },
  );
}
