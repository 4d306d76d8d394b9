/**
 * Forms of several pages in a real browser: after each page the policy sees the new state and writes the next plan. A
 * whole wizard is one episode (docs/environments.md).
 */
import { z } from "zod";
import type { Act, Action, Observation } from "../../../core/interaction.js";
import { EnvironmentFault } from "../../../env/browser/browser.js";
import { type RecordedAnswer, recordedAnswer } from "../../../env/browser/recorded-answers.js";
import type { Session } from "../../../env/browser/session.js";
import type {
  Demonstration,
  Environment,
  EnvironmentKind,
  EnvironmentTask,
  EpisodeOutcome,
  FixedPolicy,
  Unproven,
} from "../../../env/environment.js";
import { environment as forms, openSite } from "../../../env/environments/forms.js";
import { controlsOnPage, formTemplate, planOf, type TemplateControl, trueValues } from "../../../env/forms/blanks.js";
import { type Episode, type Played, scored } from "../../../env/forms/episode.js";
import type { JudgedForm } from "../../../env/forms/judge.js";
import { looseLabel } from "../../../env/forms/normalize.js";
import { nullPolicies, oracleActions } from "../../../env/forms/oracle.js";
import { faulted, outcomeOf } from "../../../env/forms/outcome.js";
import { type RewardKind, rewardFor } from "../../../env/forms/own-reward.js";
import { renderPlan } from "../../../env/forms/plan.js";
import type { TurnAnswer } from "../../../env/forms/plan-parts.js";
import type { RunningSite, Task } from "../../../env/site.js";
import { config as formsConfig, SiteEnvironment } from "../../../env/site-environment.js";
import { type PagePrompt, renderPage } from "../page-prompt.js";
import { knownPage, type SeenPage } from "../seen-page.js";
import { Walk } from "../walk.js";

const schema = z.strictObject({
  turns: z.int().min(1).max(50).default(8).describe("turns of one episode at most"),
  page_characters: z
    .int()
    .min(100)
    .max(100_000)
    .default(2000)
    .describe(
      "characters of a prompt that describe the page; what is cut is said in the prompt (docs/environments.md)",
    ),
});

const config = formsConfig.extend({ environment: schema.extend({ kind: z.string() }) });
type PagesConfig = z.output<typeof config>;

export const environment: EnvironmentKind = {
  ...forms,
  schema,
  async open(raw) {
    const options = config.parse(raw);
    return new PagesEnvironment(await openSite(options.site), options, await rewardFor(options.reward));
  },
};

/** A played episode with its pages. */
interface Seen {
  readonly walked: Played;
  /** Labels of each turn's controls, normalised by `looseLabel`. */
  readonly shown: readonly (readonly string[])[];
  readonly unresolved: readonly string[];
  readonly cuts: readonly string[];
  readonly answers: readonly TurnAnswer[];
}

/** The environment of a running site whose forms may have several pages. */
export class PagesEnvironment extends SiteEnvironment implements Environment {
  readonly capacity: number;
  readonly unproven: Unproven | undefined;
  /** Present only if the site knows its pages; otherwise the oracle has to play. */
  readonly demonstrations?: (tasks: readonly EnvironmentTask[]) => Demonstration[];
  /** The pages of observations, for policies without a model. */
  private readonly pages = new WeakMap<Observation, SeenPage>();

  constructor(
    site: RunningSite,
    protected override readonly config: Pick<PagesConfig, "browser" | "prompt" | "environment" | "plan"> &
      Partial<PagesConfig>,
    reward?: RewardKind,
  ) {
    super(site, config, reward);
    const { knownPages } = site;
    this.unproven = this.proof(this.fixedPolicies, async (task, observation) => {
      const page = this.pages.get(observation);
      return page === undefined ? [] : this.blanksOf(page, task);
    });
    // an episode keeps its browser context between turns
    this.capacity = site.reset === undefined ? config.browser.contexts : 1;
    if (knownPages === undefined) return;
    this.demonstrations = (tasks) =>
      (tasks as readonly Task[]).flatMap((task) =>
        knownPages(task).map((known) => {
          const page = knownPage(task.formTitle, known);
          const observation = this.observation(page, this.prompt(page, task), task);
          return { id: task.id, observation, action: this.rightAnswer(page, task) };
        }),
      );
  }

  private prompt(page: SeenPage, task: Task): PagePrompt {
    return renderPage(page, task, this.config.prompt.style, this.config.environment.page_characters);
  }

  private observation(page: SeenPage, { text }: PagePrompt, task: Task): Observation {
    return this.config.plan === "free" ? { text } : { text, template: formTemplate(this.blanksOf(page, task)) };
  }

  /** Lists the controls of a page, and those of its form that may appear with them. */
  private blanksOf({ controls }: SeenPage, task: Task): TemplateControl[] {
    const tasks = this.tasksOf(task);
    const present = new Set(controls.map(({ label }) => looseLabel(label)));
    const isThere = (label: string): boolean => present.has(looseLabel(label));
    const labels = tasks.flatMap(
      ({ pages, fields }) => pages?.filter((page) => page.some(isThere)).flat() ?? Object.keys(fields).filter(isThere),
    );
    const held = controls.map(({ value, ...control }) => ({ ...control, default: value }));
    return controlsOnPage(held, tasks, [...new Set(labels)]);
  }

  private rightAnswer(page: SeenPage, task: Task): Action {
    const text = renderPlan(oraclePlan(task, page));
    return this.config.plan === "free"
      ? { text }
      : { text, values: trueValues(this.blanksOf(page, task), task.fields) };
  }

  async play(given: EnvironmentTask, act: Act): Promise<EpisodeOutcome> {
    const task = given as Task;
    const runner = await this.runner();
    const recorded: RecordedAnswer[] = [];
    try {
      const ended = await runner.converse((session, idle) =>
        this.playOnce(session, task, runner.declared(task), (observation, turn) =>
          idle.during(recordedAnswer(recorded, turn, observation, act)),
        ),
      );
      if ("fault" in ended) return faulted(task, ended.fault);
      const { result, ...ran } = ended;
      return await this.outcome(task, result, ran);
    } catch (error) {
      // the policy's own environment may fail: this is a fault like any other
      if (!(error instanceof EnvironmentFault)) throw error;
      return faulted(task, error.message);
    }
  }

  private async playOnce(
    session: Session,
    task: Task,
    known: JudgedForm | undefined,
    ask: (observation: Observation, turn: number) => Promise<Action>,
  ): Promise<Seen> {
    const { turns } = this.config.environment;
    const uploads = this.config.browser.uploads;
    const walk = await Walk.open(session, task, { uploads, known });
    const shown: string[][] = [];
    const unresolved: string[] = [];
    const cuts: string[] = [];
    const answers: TurnAnswer[] = [];
    let last: string | undefined;
    for (let turn = 0; turn < turns && !walk.done; turn++) {
      const page = await walk.see();
      const prompt = this.prompt(page, task);
      // a turn without any change, even of a message, is the last one
      if (prompt.text === last) break;
      last = prompt.text;
      cuts.push(...prompt.cuts.map((cut) => `turn ${turn + 1}: ${cut}`));
      const observation = this.observation(page, prompt, task);
      this.pages.set(observation, page);
      shown.push(page.controls.map(({ label }) => looseLabel(label)));
      const answer = { ...(await ask(observation, turn)), controls: this.blanksOf(page, task) };
      answers.push(answer);
      const plan = planOf(answer, answer.controls);
      unresolved.push(...plan.unresolved);
      await walk.act(plan);
      // an empty plan ends the episode
      if (plan.actions.length === 0) break;
    }
    const walked = await walk.end();
    return { walked, shown, unresolved, cuts, answers };
  }

  /**
   * Photographs the page as filled in by the last answer. Earlier answers are played again, and send their requests; of
   * the last one, actions that may send something are left out.
   */
  async photograph(task: EnvironmentTask, actions: readonly Action[]): Promise<Uint8Array | undefined> {
    const { uploads } = this.config.browser;
    const runner = await this.runner();
    const ended = await runner.converse(async (session) => {
      const walk = await Walk.open(session, task as Task, { uploads, known: runner.declared(task as Task) });
      for (const [i, answer] of actions.entries()) {
        const controls = answer.values === undefined ? [] : this.blanksOf(await walk.see(), task as Task);
        const plan = planOf(answer, controls);
        const fills = plan.actions.filter(({ kind }) => kind !== "submit" && kind !== "click" && kind !== "goto");
        await walk.act(i + 1 < actions.length ? plan : { ...plan, actions: fills });
      }
      const image = await session.photograph();
      await walk.end();
      return image;
    });
    return "fault" in ended ? undefined : ended.result;
  }

  private async outcome(
    task: Task,
    { walked, shown, unresolved, cuts, answers }: Seen,
    ran: Pick<Episode, "attempts" | "ms" | "har">,
  ): Promise<EpisodeOutcome> {
    const judged = scored(task, walked, unresolved, this.config.browser.uploads === "dummy");
    const episode: Episode = { ...judged, ...ran, taskId: task.id };
    const outcome = await outcomeOf(task, episode, this.reward, answers);
    const mean = (labels: readonly string[]): number | undefined =>
      labels.length === 0
        ? undefined
        : labels.reduce((sum, label) => sum + (episode.perField[label] ?? 0), 0) / labels.length;
    const wanted = Object.keys(task.fields);
    return {
      ...outcome,
      // without fields of the task, a page's reward is the form's acceptance
      turnRewards: shown.map(
        (labels) => mean(wanted.filter((label) => labels.includes(looseLabel(label)))) ?? Number(episode.accepted),
      ),
      metrics: {
        ...outcome.metrics,
        turns: shown.length,
        ...Object.fromEntries(
          (task.pages ?? []).flatMap((labels, i) => {
            const value = mean(labels);
            return value === undefined ? [] : [[`page_${i + 1}_accuracy`, value]];
          }),
        ),
      },
      detail: { ...outcome.detail, ...(cuts.length === 0 ? {} : { cuts }) },
      summary: `${shown.length} turns`,
    };
  }

  readonly fixedPolicies: Readonly<Record<string, FixedPolicy>> = {
    oracle: async (task) => async (observation) => {
      const page = this.pages.get(observation);
      return page === undefined ? { text: "" } : this.rightAnswer(page, task as Task);
    },
    ...nullPolicies(async (_, observation) => this.pages.get(observation)?.controls),
  };
}

/** Makes the right plan for a page: its fields, and those that appear with them. */
function oraclePlan(task: Task, { controls }: SeenPage): Parameters<typeof renderPlan>[0] {
  const shown = new Set(controls.map(({ label }) => looseLabel(label)));
  const isThere = (label: string): boolean => shown.has(looseLabel(label));
  const page = task.pages?.find((page) => page.some(isThere)) ?? [];
  const fields = Object.entries(task.fields).filter(([label]) => isThere(label) || page.includes(label));
  return oracleActions(Object.fromEntries(fields), controls);
}
