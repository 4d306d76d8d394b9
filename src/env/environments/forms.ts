/**
 * Filling in web forms in a real browser: the policy reads a task, writes a plan, and is scored by what the server
 * received (docs/browser.md, src/env/forms/reward.ts).
 */
import { z } from "zod";
import { UserError } from "../../core/errors.js";
import type { Act } from "../../core/interaction.js";
import { isModulePath, loadFolder } from "../../core/registry.js";
import type { Rng } from "../../core/rng.js";
import { PROMPT_STYLES, renderPrompt } from "../../text/prompt.js";
import { EnvironmentFault } from "../browser/browser.js";
import type { Control } from "../browser/controls.js";
import { type Episode, EpisodeRunner } from "../browser/episode.js";
import { findBrowser } from "../browser/find-browser.js";
import { injectedFaults } from "../browser/injected-faults.js";
import type {
  Demonstration,
  Environment,
  EnvironmentKind,
  EnvironmentTask,
  EpisodeOutcome,
  FixedPolicy,
  PlayedTogether,
  Unproven,
} from "../environment.js";
import { kindsOn, NULL_POLICIES, nullPlan, oracleActions } from "../forms/oracle.js";
import { type RewardKind, rewardFor, scoreByDefault, scoreByDocuments } from "../forms/own-reward.js";
import { renderPlan } from "../forms/plan.js";
import { planParts } from "../forms/plan-parts.js";
import { type KnownTask, recombined } from "../forms/recombine.js";
import { shortfall } from "../forms/shortfall.js";
import { viewDetail } from "../forms/view.js";
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
    .describe("one template for SFT, RL and evaluation; document: the values have to be found in a text"),
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

export const config = z.looseObject({ site: z.looseObject({ kind: z.string() }), browser, prompt, reward });
type FormsConfig = z.output<typeof config>;

const MIB = 2 ** 20;
/** A headless shell with one context took 96 MB (PSS, Linux x64); the rest is room for a full Chromium and more pages. */
const BROWSER = { program: 150 * MIB, context: 30 * MIB };

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
  return entry.start(entry.schema.parse(options));
}

/** The environment of a running site. */
export class FormsEnvironment implements Environment {
  readonly name: string;
  readonly tasks: readonly Task[];
  readonly notes: readonly string[];
  readonly oneTurn = true;
  private opened: Promise<EpisodeRunner> | undefined;
  private known: readonly KnownTask[] | undefined;
  private readonly pages = new Map<string, Promise<readonly Control[]>>();
  /** Pages that have been read, by address. */
  private readonly read = new Map<string, readonly Control[]>();
  readonly unproven?: Unproven;
  readonly rewardRange?: readonly [number, number];
  /** Only where the site knows its fields' controls; elsewhere the oracle has to play, and the browser reads them. */
  readonly demonstrations?: (tasks: readonly EnvironmentTask[]) => Demonstration[];

  constructor(
    readonly site: RunningSite,
    private readonly config: Pick<FormsConfig, "browser" | "prompt">,
    private readonly scoreOf: RewardKind["score"] = scoreByDefault,
  ) {
    this.name = site.name;
    this.tasks = site.tasks();
    this.notes = site.notes ?? [];
    if (scoreOf === scoreByDefault || scoreOf === scoreByDocuments) this.rewardRange = [0, 1];
    const { fieldKinds, rehearse } = site;
    if (rehearse !== undefined)
      this.unproven = {
        tasks: rehearse,
        why: shortfall,
        hint: "docs/reward-stays-0.md says what each means; to train all the same: site.rehearse=0",
      };
    if (fieldKinds !== undefined)
      this.demonstrations = (tasks) =>
        (tasks as readonly Task[]).map((task) => this.demonstration(task, fieldKinds(task)));
  }

  splitHash(): string {
    return this.site.splitHash();
  }

  async start(): Promise<void> {
    await this.runner();
  }

  get started(): boolean {
    return this.opened !== undefined;
  }

  /** The browser; started at first use, since supervised training needs none. */
  runner(): Promise<EpisodeRunner> {
    const { headless, contexts, action_timeout_s, rollout_timeout_s, uploads, inject_faults } = this.config.browser;
    this.opened ??= EpisodeRunner.open({
      site: this.site,
      headless,
      contexts,
      actionTimeoutMs: action_timeout_s * 1000,
      episodeTimeoutMs: rollout_timeout_s * 1000,
      uploads,
      faults: inject_faults,
    });
    return this.opened;
  }

  firstObservation(task: EnvironmentTask): { text: string } {
    return { text: renderPrompt(task as Task, this.config.prompt.style) };
  }

  /** A task starts from the same fresh page every time, so that one plan needs playing once. */
  async play(given: EnvironmentTask, act: Act, together: PlayedTogether): Promise<EpisodeOutcome> {
    const task = given as Task;
    let plan: string;
    try {
      plan = (await act(this.firstObservation(task))).text ?? "";
    } catch (error) {
      if (!(error instanceof EnvironmentFault)) throw error;
      return faulted(task, error.message);
    }
    const key = JSON.stringify([task.id, plan]);
    const known = together.get(key);
    if (known !== undefined) return { ...(await known), reused: true };
    const outcome = this.runner()
      .then((runner) => runner.run(task, plan))
      .then((episode) => outcomeOf(task, episode, this.scoreOf, [plan]));
    together.set(key, outcome);
    return outcome;
  }

  readonly fixedPolicies: Readonly<Record<string, FixedPolicy>> = {
    oracle: async (task) => this.planner(task as Task, (controls) => oracleActions((task as Task).fields, controls)),
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
    const reading = this.pages.get(task.url) ?? this.runner().then((runner) => runner.snapshot(task));
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
      this.site.augmentedTask?.(rng) ?? recombined(this.knownTasks(), rng, this.config.prompt.style === "document");
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
    return { id: task.id, observation: this.firstObservation(task), action: { text } };
  }

  /** Opens the first task's page as an episode does. @returns what was found. @throws where it does not open. */
  async checkPage(): Promise<string> {
    const [task] = this.tasks;
    if (task === undefined) throw new UserError(`The site ${this.name} has no tasks.`);
    const began = performance.now();
    const controls = await (await this.runner()).snapshot(task);
    return `opened ${task.url}, ${controls.length} controls, ${Math.round(performance.now() - began)} ms`;
  }

  async photograph(task: EnvironmentTask, actions: readonly { text?: string }[]): Promise<Uint8Array | undefined> {
    return (await this.runner()).photograph(task as Task, actions[0]?.text ?? "");
  }

  async close(): Promise<void> {
    await (await this.opened)?.close();
    await this.site.stop();
  }
}

function faulted({ fields }: Task, fault: string): EpisodeOutcome {
  return { reward: null, fault, success: false, metrics: {}, detail: { truth: fields, posted: [], actions: [] } };
}

/** @param plans the policy's answers, one a turn. */
export function outcomeOf(
  task: Task,
  episode: Episode,
  scoreOf: RewardKind["score"],
  plans: readonly string[],
): EpisodeOutcome {
  const detail = {
    accepted: episode.accepted,
    truth: task.fields,
    posted: episode.posted.map(([name, value]): [string, string] => [name, value]),
    actions: [
      ...episode.actions.map(({ action, fate, detail }) => ({
        action: renderPlan([action], "compact"),
        fate,
        ...(detail === undefined ? {} : { detail }),
      })),
      ...episode.unresolved.map((line) => ({ action: line, fate: "not-an-action" })),
    ],
  };
  if (episode.fault !== undefined) return { ...faulted(task, episode.fault), detail };
  const right = Object.values(episode.perField).filter((score) => score === 1).length;
  return {
    reward: scoreOf(episode, task),
    success: episode.success,
    answerParts: planParts(plans, task.fields, episode.perField),
    metrics: {
      task_completion: episode.taskCompletion,
      field_accuracy: episode.fieldAccuracy,
      execution_completeness: episode.executionCompleteness,
    },
    counts: {
      accepted: Number(episode.accepted),
      pairs: Object.keys(task.fields).length,
      pairs_right: episode.accepted ? right : 0,
      perfect: Number(episode.success),
      ...(task.clean === undefined ? {} : { clean: Number(task.clean) }),
    },
    detail: { ...detail, received: episode.received, field_scores: episode.perField },
  };
}
