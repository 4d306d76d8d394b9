import type { Page } from "playwright";
import { configOf, loadConfig, type RunConfig, resolvePath } from "../config/config.js";
import { loadRegistries } from "../config/registries.js";
import { misuse } from "../core/errors.js";
import { samplerFor } from "../engine/policy.js";
import { type Control, currentValues, findControl, type ReadForm, readForm } from "../env/browser/controls.js";
import { type ActionRecord, applySteps, type Fate, resolveAction, type Step } from "../env/browser/fill.js";
import { PageWorld } from "../env/browser/page/world.js";
import { controlsOnPage, formTemplate, planOf } from "../env/forms/blanks.js";
import { matchValue } from "../env/forms/normalize.js";
import type { Action } from "../env/forms/plan.js";
import type { ControlKind, FieldValue } from "../env/site.js";
import { loadModel } from "../nn/model.js";
import { readPeft } from "../nn/peft.js";
import type { Objective } from "../rl/objective.js";
import { RunDirectory } from "../runs/run-directory.js";
import { PROMPT_STYLES, type PromptStyle, type PromptValue, renderPrompt } from "../text/prompt.js";
import { openPolicy } from "./policy.js";

/** A field of the page after an agent has filled it in. */
export interface FilledField {
  /** As it was asked for, else as the page has it. */
  readonly label: string;
  /** Absent where the page has no such field. */
  readonly kind?: ControlKind;
  /** The value that the page holds now, read back from it; a password only where it was asked for. */
  readonly value?: FieldValue;
  /** Why it does not hold what was asked for; `differs`: the model wrote something else; `not-asked`: it wrote here too. */
  readonly fault?: Exclude<Fate, "done"> | "differs" | "not-asked";
}

/** An agent's actions on a page. */
export interface Filled {
  /** The plan that the model wrote, or the page's lines as it filled them in. */
  readonly plan: string;
  /** Result of each of its actions, in order; those that would send the form are left to you. */
  readonly actions: readonly Pick<ActionRecord, "action" | "fate">[];
  /** Lines of the plan that are no action. */
  readonly unresolved: readonly string[];
  /** The fields that were asked for, then the others that the page shows. */
  readonly fields: readonly FilledField[];
}

export interface Agent {
  /**
   * Fills the form that a Playwright page shows (Chromium) with values by label, or from a text: a record (`Label: value`
   * a line), or prose where the model was trained to read it. Nothing is sent: press the button yourself when you have
   * looked at it.
   * @throws UserError where the model reads values alone, and the text is no record.
   */
  fill(
    page: Page,
    what: Readonly<Record<string, PromptValue>> | string,
    options?: {
      readonly title?: string;
      readonly instruction?: string;
      readonly document?: string;
      readonly seed?: number;
    },
  ): Promise<Filled>;
  close(): Promise<void>;
}

/** Whose policy fills: a trained run's, or that of a model directory, with an adapter in PEFT's layout or without. */
export type AgentSource =
  | { readonly run: string; readonly checkpoint?: "best" | "last" | number }
  | {
      readonly model: string;
      readonly adapter?: string;
      /** `key=value`, over a config's defaults, as `sampler.prompt_length=256`. */
      readonly overrides?: readonly string[];
    };

/** Limit for reading a page, in milliseconds. */
const PATIENCE_MS = 5000;

/** The objective that samplers are chosen by, as `init` does; nothing is trained. */
const OBJECTIVE = "flow-grpo";

/** Opens an agent. @throws UserError where the run has no checkpoint that fits, or the adapter does not fit the model. */
export async function loadAgent(
  source: string | AgentSource,
  options: { readonly checkpoint?: "best" | "last" | number } = {},
): Promise<Agent> {
  const from = typeof source === "string" ? { run: source, ...options } : source;
  const config = "run" in from ? await loadConfig(RunDirectory.open(from.run).config) : await configOfModel(from);
  const style = styleOf(config);
  const policy = await openPolicy("run" in from ? from : { config: config as unknown as Record<string, unknown> });
  return {
    async fill(page, what, { title, instruction = "", document, seed } = {}) {
      const values = typeof what === "string" ? recordOf(what, style) : what;
      const text = document ?? (typeof what === "string" ? what : undefined);
      return withForm(page, Object.keys(values ?? {}), async (form) => {
        const controls = controlsOnPage(form.controls, []);
        const task = {
          formTitle: title ?? (await page.title()),
          instruction,
          fields: values ?? Object.fromEntries(controls.map(({ label }) => [label, ""])),
          choices: Object.fromEntries(controls.map(({ label, options = [] }) => [label, options])),
          ...(text === undefined ? {} : { document: text }),
        };
        const template = controls.length === 0 ? {} : { template: formTemplate(controls) };
        const shown = Object.fromEntries(controls.map(({ label, ...control }) => [label, control]));
        const prompt = renderPrompt(task, style, shown);
        const [answer = {}] = await policy.act([{ text: prompt, ...template }], seed);
        const { actions, unresolved } = planOf(answer, controls);
        const path = new URL(page.url()).pathname;
        const batch = actions
          .map((action) => ({ action, step: resolveAction(action, form, path) }))
          .filter(
            (one): one is { action: Action; step: Exclude<Step, { do: "submit" | "upload" }> } =>
              one.step.do !== "submit" && one.step.do !== "upload",
          );
        const records = await applySteps(form, batch);
        const fields = readBack(form.controls, await currentValues(form), records, values ?? {});
        return { plan: answer.text ?? "", actions: records, unresolved, fields };
      });
    },
    close: () => policy.close(),
  };
}

/** A config for a model without a run: defaults, the sampler that fits its graph, and the shape of the adapter. */
async function configOfModel(source: Exclude<AgentSource, { readonly run: string }>): Promise<RunConfig> {
  const { model, adapter, overrides = [] } = source;
  const { objectives } = await loadRegistries();
  const kind = await samplerFor(
    await loadModel(resolvePath(model, "model")),
    objectives.get(OBJECTIVE) as unknown as Objective,
  );
  const fresh = { model, sampler: { kind }, objective: { kind: OBJECTIVE } };
  if (adapter === undefined) return configOf(fresh, "agent", { overrides });
  const { rank, alpha, tensors, rows } = readPeft(resolvePath(adapter, "adapter"));
  const targets = [...tensors.keys()].flatMap((name) => /([^.]+)\.lora_A\.weight$/.exec(name)?.[1] ?? []);
  const lora = { rank, alpha, targets: [...new Set(targets)], train_mask: rows !== undefined };
  return configOf({ ...fresh, init_adapter: adapter, lora }, "agent", { overrides });
}

/** The values of a text: of a record, where the model reads values; undefined where the model reads the text itself. */
function recordOf(text: string, style: PromptStyle): Record<string, string> | undefined {
  if (style === "document" || style === "page") return undefined;
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const pairs = lines.map((line) => [line.slice(0, line.search(/[:|]/)), line.slice(line.search(/[:|]/) + 1)] as const);
  if (lines.length === 0 || lines.some((line) => line.search(/[:|]/) < 1))
    misuse(`This model reads values by label (prompt.style=${style}), and the text is no record.`, {
      hint: "give values, or a text with a line `Label: value` a field; a run with prompt.style=page reads prose",
    });
  return Object.fromEntries(pairs.map(([label, value]) => [label.trim(), value.trim()]));
}

/** Reads the page field by field, beside what was asked for. */
function readBack(
  controls: readonly Control[],
  now: readonly FieldValue[],
  records: readonly ActionRecord[],
  asked: Readonly<Record<string, PromptValue>>,
): FilledField[] {
  const named = new Set<Control>();
  const fields = Object.entries(asked).map(([label, wanted]): FilledField => {
    const target = findControl(controls, label);
    if (target === "none" || target === "ambiguous")
      return { label, fault: target === "none" ? "no-such-control" : target };
    const { control, option } = target;
    named.add(control);
    const held = now[control.index] ?? "";
    const value = option === undefined ? held : [held].flat().includes(control.options[option]?.text ?? "");
    const space = { kind: option === undefined ? control.kind : ("checkbox" as const), options: control.options };
    if (matchValue(space, wanted as FieldValue, value) === 1) return { label, kind: space.kind, value };
    const fate = records.findLast((record) => record.control === control.index)?.fate ?? "done";
    return { label, kind: space.kind, value, fault: fate === "done" ? "differs" : fate };
  });
  const others = controls.flatMap((control): FilledField[] => {
    const { label, kind, index, present } = control;
    if (!present || named.has(control)) return [];
    const fate = records.findLast((record) => record.control === index)?.fate;
    const value = kind === "password" ? {} : { value: now[index] ?? "" };
    if (fate === undefined || (fate === "done" && fields.length === 0)) return [{ label, kind, ...value }];
    return [{ label, kind, ...value, fault: fate === "done" ? "not-asked" : fate }];
  });
  return [...fields, ...others];
}

function styleOf(config: object): PromptStyle {
  const { prompt } = config as { readonly prompt?: { readonly style?: PromptStyle } };
  return prompt?.style ?? PROMPT_STYLES[0];
}

/** Reads the page's form, the one that has most of the labels, and leaves it when the work is done. */
export async function withForm<T>(
  page: Page,
  labels: readonly string[],
  work: (form: ReadForm) => Promise<T>,
): Promise<T> {
  const devtools = await page.context().newCDPSession(page);
  try {
    const { frameTree } = await devtools.send("Page.getFrameTree");
    const form = await readForm(await PageWorld.enter(devtools, frameTree.frame.id), PATIENCE_MS, labels);
    try {
      return await work(form);
    } finally {
      await form.handle.dispose();
    }
  } finally {
    await devtools.detach();
  }
}
