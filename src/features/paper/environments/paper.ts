/**
 * The embedded site's forms on paper: the same tasks, prompts, plans and reward as `forms`, carried out on a model of
 * the page instead of in a browser. An episode takes a fraction of a millisecond, so that many runs can be compared;
 * the trained model is evaluated in the browser by `environment.kind=forms`.
 */

import { z } from "zod";
import { codeHash } from "../../../core/code-hash.js";
import { misuse } from "../../../core/errors.js";
import { sha256 } from "../../../core/files.js";
import type { Act } from "../../../core/interaction.js";
import { loadedModules } from "../../../core/own-module.js";
import type { Control } from "../../../env/browser/controls.js";
import { type ActionRecord, resolveAction } from "../../../env/browser/fill.js";
import type { PageOp } from "../../../env/browser/page/actions.js";
import type { EnvironmentKind, EnvironmentTask, EpisodeOutcome } from "../../../env/environment.js";
import { FormsEnvironment } from "../../../env/environments/forms.js";
import { type Episode, scored } from "../../../env/forms/episode.js";
import { parseNumber } from "../../../env/forms/normalize.js";
import { type RewardKind, rewardFor } from "../../../env/forms/own-reward.js";
import type { Plan } from "../../../env/forms/plan.js";
import { splitHash } from "../../../env/forms/split-hash.js";
import { viewDetail } from "../../../env/forms/view.js";
import { type FieldValue, type RunningSite, type Task, TIERS } from "../../../env/site.js";
import { config, sections } from "../../../env/site-environment.js";
import { PROMPT_STYLES } from "../../../text/prompt.js";
import { augmentedTask } from "../../embedded/augment.js";
import { fieldKinds, formOf } from "../../embedded/catalog.js";
import { type Field, kindOf } from "../../embedded/fields.js";
import { fieldsOf } from "../../embedded/form.js";
import { embeddedTasks, optionsOfTasks } from "../../embedded/tasks.js";

const schema = z.strictObject({
  tier: z.enum(TIERS).default("starter").describe("starter: 3-6 short fields a form; full: all fields"),
  ...optionsOfTasks,
  style: z.enum(PROMPT_STYLES).default("compact").describe("the prompt, as prompt.style of the kind forms"),
});
type PaperOptions = z.output<typeof schema>;
/** The options as a config gives them. */
type PaperGiven = z.input<typeof schema>;

export const environment: EnvironmentKind = {
  schema,
  sections: { reward: sections.reward },
  async open({ environment: section, reward: name = "default" }) {
    const { kind: _, ...options } = section as { kind: string } & PaperGiven;
    if (name === "verdict")
      misuse("On paper a form accepts whatever is valid: reward=verdict would learn to send anything.", {
        hint: "leave reward out, or name a module of yours",
      });
    return new PaperEnvironment(options, name as string, await rewardFor(name as string));
  },
  view: viewDetail,
  verdict: (detail) => (detail.accepted === true ? "accepted" : "not accepted"),
};

/** Returns the embedded site without a server. */
function paperSite({ tier, seed, sizes, generated, letters }: PaperOptions): RunningSite {
  const tasks = embeddedTasks(tier, seed, sizes, generated, letters);
  return {
    name: "embedded, on paper",
    baseUrl: "",
    tasks: () => tasks,
    splitHash: () => splitHash(tasks),
    fieldKinds: ({ form }) => fieldKinds(form, tier),
    augmentedTask: (rng) => augmentedTask(rng, tier, letters),
    stop: async () => undefined,
  };
}

export class PaperEnvironment extends FormsEnvironment {
  override readonly oneTurn = false;
  private readonly sheets = new Map<string, readonly Sheet[]>();
  private readonly tier: PaperOptions["tier"];

  constructor(given: PaperGiven, reward = "default", kind?: RewardKind) {
    const options = schema.parse(given);
    const browser = config.shape.browser.parse({});
    super(paperSite(options), { browser, prompt: { style: options.style }, reward }, kind);
    this.tier = options.tier;
  }

  override get started(): boolean {
    return true;
  }

  override async start(): Promise<void> {}

  /** Knows by itself what its forms accept. */
  override untrainable(): undefined {}

  override judge(): string {
    const { reward = "default" } = this.config;
    const code = codeHash(import.meta.url);
    return reward === "default" ? code : sha256(JSON.stringify([code, reward, loadedModules()[reward] ?? null]));
  }

  /** Plays every answer, even a repeated one: it costs almost nothing. */
  override play(task: EnvironmentTask, act: Act): Promise<EpisodeOutcome> {
    return super.play(task, act, new Map());
  }

  protected override async played(task: Task, plan: Plan): Promise<Episode> {
    const page = this.sheetsOf(task);
    const controls = page.map(({ control }) => control);
    const values = controls.map((control) => control.default);
    let accepted = false;
    const actions = plan.actions.map((action): ActionRecord => {
      if (accepted) return { action, fate: "after-submit" };
      const step = resolveAction(action, { controls, buttons: [] }, task.url);
      if (step.do === "nothing") {
        const { do: _, ...record } = step;
        return { action, ...record };
      }
      if (step.do === "submit") {
        accepted = page.every(({ field }, i) => isValid(field, values[i] as FieldValue));
        return accepted ? { action, fate: "done", submitted: true } : { action, fate: "rejected" };
      }
      const on = step.control === undefined ? {} : { control: step.control };
      if (step.do === "upload") values[step.control] = step.file;
      if (step.do !== "ops") return { action, fate: "done", ...on };
      const took = step.ops.map((op) => apply(op, controls, values)).every(Boolean);
      return { action, fate: took ? "done" : "rejected", ...on, ...(step.ops.length === 0 ? { neutral: true } : {}) };
    });
    const posted = accepted ? page.map(({ field }, i): [string, string] => [field.name, String(values[i])]) : [];
    // what was not sent has not been received
    const received = accepted ? values : controls.map((control) => control.default);
    const played = { controls, values: received, accepted, actions, posted };
    return { ...scored(task, played, plan.unresolved, true), taskId: task.id, attempts: 1, ms: 0 };
  }

  protected override async controls(task: Task): Promise<readonly Control[]> {
    return this.sheetsOf(task).map(({ control }) => control);
  }

  /** Returns the model of a form's page, which is made once. */
  private sheetsOf({ form }: Task): readonly Sheet[] {
    const known = this.sheets.get(form);
    if (known !== undefined) return known;
    const page = fieldsOf(formOf(form), this.tier).map((field, index) => ({
      field,
      control: controlOf(field, index),
    }));
    this.sheets.set(form, page);
    return page;
  }

  override async photograph(): Promise<undefined> {}
}

interface Sheet {
  readonly field: Field;
  readonly control: Control;
}

function controlOf(field: Field, index: number): Control {
  return {
    index,
    kind: field.kind,
    widget: "native",
    label: field.label,
    name: field.name,
    required: field.required,
    default: kindOf(field).default,
    // the first entry of a list without a preset is left out: it is no choice
    options: field.options ?? [],
    present: true,
  };
}

/** Applies a change as the page would: a control takes the values of its type. */
function apply(op: PageOp, controls: readonly Control[], values: FieldValue[]): boolean {
  if (op.op === "press") return true;
  const { kind, options } = controls[op.control] as Control;
  switch (op.op) {
    case "value":
      values[op.control] = holds(kind, op.value) ? op.value : "";
      return values[op.control] === op.value;
    case "check":
      values[op.control] = op.on;
      return true;
    case "toggle":
      values[op.control] = values[op.control] !== true;
      return true;
    case "option": {
      const text = options[op.option]?.text ?? "";
      if (kind !== "checkbox-group") values[op.control] = text;
      else {
        const chosen = new Set(values[op.control] as readonly string[]);
        if (op.on) chosen.add(text);
        else chosen.delete(text);
        values[op.control] = options.flatMap((option) => (chosen.has(option.text) ? [option.text] : []));
      }
      return true;
    }
  }
}

/** Tells whether an input of this type keeps a value. */
function holds(kind: Control["kind"], value: string): boolean {
  if (value === "") return true;
  if (kind === "date") return /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value));
  if (kind === "time") return /^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?$/.test(value);
  return kind !== "number" || /^-?\d*\.?\d+(?:e[-+]?\d+)?$/i.test(value);
}

/** Tells whether a value passes the validation of the browser and of the server. */
function isValid({ kind, required, min, max, step }: Field, value: FieldValue): boolean {
  const empty = value === "" || value === false || (Array.isArray(value) && value.length === 0);
  if (empty) return !required;
  if (required && String(value).trim() === "") return false;
  if (kind === "email") return /^[^\s@]+@[^\s@]+$/.test(String(value));
  if (kind === "url") return URL.canParse(String(value));
  if (kind !== "number") return true;
  const number = parseNumber(value) ?? Number.NaN;
  const steps = (number - (min ?? 0)) / (step ?? 1);
  return number >= (min ?? -Infinity) && number <= (max ?? Infinity) && Math.abs(steps - Math.round(steps)) < 1e-9;
}
