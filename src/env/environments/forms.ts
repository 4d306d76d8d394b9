/**
 * The environment of web forms in a real browser: the policy reads a task and writes a plan, and is scored by the
 * values that the server received (docs/browser.md, src/env/forms/reward.ts).
 */
import { z } from "zod";
import { misuse } from "../../core/errors.js";
import type { Act, Action, Observation } from "../../core/interaction.js";
import { type MemberSchemas, method } from "../../core/own-module.js";
import { loadFolder } from "../../core/registry.js";
import type { Rng } from "../../core/rng.js";
import { reads, renderPrompt } from "../../text/prompt.js";
import { EnvironmentFault } from "../browser/browser.js";
import type { Control } from "../browser/controls.js";
import { findBrowser } from "../browser/find-browser.js";
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
import { checkedLabels } from "../forms/absent-label.js";
import {
  controlsOf,
  controlsOnPage,
  formTemplate,
  planOf,
  shownOf,
  type TemplateControl,
  trueValues,
} from "../forms/blanks.js";
import type { Episode } from "../forms/episode.js";
import { kindsOn, nullPolicies, oracleActions } from "../forms/oracle.js";
import { faulted, outcomeOf } from "../forms/outcome.js";
import { rewardFor } from "../forms/own-reward.js";
import { type Plan, renderPlan } from "../forms/plan.js";
import type { TurnAnswer } from "../forms/plan-parts.js";
import { recombined } from "../forms/recombine.js";
import { isLabelled, labelled } from "../forms/verdict.js";
import { viewDetail } from "../forms/view.js";
import { loadKnownForms } from "../known-forms.js";
import type { FieldKind, KnownTask, RunningSite, SiteKind, Task } from "../site.js";
import { config, type FormsConfig, SiteEnvironment, sections } from "../site-environment.js";

const MIB = 2 ** 20;
/** A headless shell with one context took 96 MB (PSS, Linux x64); this leaves room for a full Chromium and pages. */
const BROWSER = { program: 150 * MIB, context: 30 * MIB };

const sitesFolder = new URL("../sites/", import.meta.url);

export const environment: EnvironmentKind = {
  schema: z.strictObject({}),
  sections: {
    site: { folder: sitesFolder, exportName: "site", default: "embedded", description: "the forms" },
    ...sections,
  },
  async open(raw) {
    const options = config.parse(raw);
    return new FormsEnvironment(await openSite(options.site), options, await rewardFor(options.reward));
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

export async function openSite({ kind, ...options }: FormsConfig["site"]): Promise<RunningSite> {
  const sites = await loadFolder<SiteKind>(sitesFolder, "site", kind, MEMBERS);
  const entry = sites.get(kind);
  if (entry === undefined) misuse(`Unknown site ${kind}; known: ${[...sites.keys()].join(", ")}.`);
  const site = await entry.start(entry.schema.parse(options));
  try {
    site.tasks();
    if (site.learn !== undefined) await loadKnownForms();
    return site;
  } catch (error) {
    await site.stop();
    throw error;
  }
}

const fieldValue = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())], {
  error: "expected a text, a finite number, true or false, or an array of texts",
});

/** Schemas of the members of a user's site. */
const MEMBERS: MemberSchemas = {
  start: z.promise(
    z.looseObject({
      name: z.string(),
      baseUrl: z.url({ protocol: /^https?$/, error: "expected an address, as http://127.0.0.1:8080" }),
      tasks: method(
        z.array(
          z.looseObject({
            id: z.string(),
            form: z.string(),
            formTitle: z.string(),
            url: z.string(),
            instruction: z.string(),
            fields: z.record(z.string(), fieldValue).refine((fields) => Object.keys(fields).length > 0, "has no field"),
            split: z.enum(SPLITS),
          }),
        ),
      ),
      splitHash: method(z.string()),
      stop: method(),
    }),
  ),
};

/** The environment of a running site whose forms have one page. */
export class FormsEnvironment extends SiteEnvironment implements Environment {
  readonly oneTurn: boolean;
  readonly unproven: Unproven | undefined;
  private known: readonly KnownTask[] | undefined;
  private readonly pages = new Map<string, Promise<readonly Control[]>>();
  /** Pages that have been read, by address. */
  private readonly read = new Map<string, readonly Control[]>();
  /** Set if the site knows its fields' controls; else the oracle has to play, and the browser reads them. */
  readonly demonstrations?: (tasks: readonly EnvironmentTask[]) => Demonstration[];

  constructor(...given: ConstructorParameters<typeof SiteEnvironment>) {
    super(...given);
    const { fieldKinds } = this.site;
    // otherwise the page has to be read before its template is known
    this.oneTurn = fieldKinds !== undefined || this.config.plan === "free";
    this.unproven = this.proof(this.fixedPolicies, async (task) => {
      await this.controls(task);
      return this.blanksOf(task);
    });
    if (fieldKinds !== undefined)
      this.demonstrations = (tasks) =>
        (tasks as readonly Task[]).map((task) => this.demonstration(task, fieldKinds(task)));
  }

  protected async played(task: Task, plan: Plan): Promise<Episode> {
    await this.form(task);
    return (await this.runner()).run(task, plan);
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
    const page = kinds ?? (controls.length === 0 ? undefined : shownOf(controls));
    const text = renderPrompt(task, this.config.prompt.style, page);
    return this.config.plan === "free" || controls.length === 0 ? { text } : { text, template: formTemplate(controls) };
  }

  /** Returns the controls of the template of a task's form; none if its page has not been read. */
  private blanksOf(task: Task): TemplateControl[] {
    const kinds = this.site.fieldKinds?.(task);
    if (kinds !== undefined) return controlsOf(kinds);
    const read = this.read.get(task.url);
    return read === undefined ? [] : controlsOnPage(read, this.tasksOf(task));
  }

  /** Plays a task. The same plan is played only once, as the task starts from the same fresh page every time. */
  async play(given: EnvironmentTask, act: Act, together: PlayedTogether): Promise<EpisodeOutcome> {
    const task = given as Task;
    let answer: TurnAnswer;
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
    const outcome = this.played(task, plan).then((episode) => outcomeOf(task, episode, this.reward, [answer]));
    together.set(key, outcome);
    return outcome;
  }

  readonly fixedPolicies: Readonly<Record<string, FixedPolicy>> = {
    oracle: async (given) => async (observation) => {
      const task = labelled(given as Task);
      const text = renderPlan(oracleActions(task.fields, await this.controls(task)));
      return observation.template === undefined
        ? { text }
        : { text, values: trueValues(this.blanksOf(task), task.fields) };
    },
    ...nullPolicies((task) => this.controls(task)),
  };

  /** Returns the controls of a task's page, read once for each address. */
  protected async controls(task: Task): Promise<readonly Control[]> {
    const known = this.form(task);
    const untouched = async (): Promise<readonly Control[]> => {
      const runner = await this.runner();
      return runner.declared(task)?.controls ?? checkedLabels(await runner.snapshot(task), this.tasksOf(task));
    };
    const read = (): Promise<readonly Control[]> => known?.then(({ controls }) => controls) ?? untouched();
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

  /** Returns a demonstration on an invented form: the site's own, or recombined fields of the training tasks. */
  syntheticDemonstration(rng: Rng): Demonstration {
    const drawn = this.site.augmentedTask?.(rng) ?? recombined(this.knownTasks(), rng, reads(this.config.prompt.style));
    return this.demonstration(drawn.task, drawn.kinds);
  }

  /** Returns the training tasks whose controls are known from the site, or from their page. */
  private knownTasks(): readonly KnownTask[] {
    const { fieldKinds, name } = this.site;
    this.known ??= this.tasks.flatMap((task) => {
      if (task.split !== "train" || !isLabelled(task)) return [];
      const controls = this.read.get(task.url);
      if (fieldKinds !== undefined) return [{ task, kinds: fieldKinds(task) }];
      return controls === undefined ? [] : [{ task, kinds: kindsOn(controls, Object.keys(task.fields)) }];
    });
    if (this.known.length > 0) return this.known;
    misuse(`The site ${name} has no synthetic tasks.`, { hint: "Set objective.augment=0." });
  }

  private demonstration(given: Task, kinds: Readonly<Record<string, FieldKind>>): Demonstration {
    const task = labelled(given);
    const text = renderPlan(oracleActions(task.fields, kinds));
    const controls = controlsOf(kinds);
    const action = { text, values: trueValues(controls, task.fields) };
    return { id: task.id, observation: this.observation(task, kinds, controls), action };
  }

  async photograph(given: EnvironmentTask, [answer = {}]: readonly Action[]): Promise<Uint8Array | undefined> {
    const task = given as Task;
    if (answer.values !== undefined) await this.controls(task);
    return (await this.runner()).photograph(task, planOf(answer, this.blanksOf(task)));
  }
}
