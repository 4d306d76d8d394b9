import type { Page } from "playwright";
import { loadConfig } from "../config/config.js";
import { type ReadForm, readForm } from "../env/browser/controls.js";
import { type ActionRecord, applySteps, resolveAction, type Step } from "../env/browser/fill.js";
import { PageWorld } from "../env/browser/page/world.js";
import { controlsOnPage, formTemplate, planOf } from "../env/forms/blanks.js";
import type { Action } from "../env/forms/plan.js";
import { RunDirectory } from "../runs/run-directory.js";
import { PROMPT_STYLES, type PromptStyle, type PromptValue, renderPrompt } from "../text/prompt.js";
import { openPolicy } from "./policy.js";

/** An agent's actions on a page. */
export interface Filled {
  /** The plan that the model wrote, or the page's lines as it filled them in. */
  readonly plan: string;
  /** Result of each of its actions, in order; those that would send the form are left to you. */
  readonly actions: readonly Pick<ActionRecord, "action" | "fate">[];
  /** Lines of the plan that are no action. */
  readonly unresolved: readonly string[];
}

export interface Agent {
  /**
   * Fills the form that a Playwright page shows (Chromium) with values by label. Nothing is sent: press the button
   * yourself when you have looked at it.
   */
  fill(
    page: Page,
    values: Readonly<Record<string, PromptValue>>,
    options?: {
      readonly title?: string;
      readonly instruction?: string;
      readonly document?: string;
      readonly seed?: number;
    },
  ): Promise<Filled>;
  close(): Promise<void>;
}

/** Limit for reading a page, in milliseconds. */
const PATIENCE_MS = 5000;

/** An agent with the adapter that a run trained. @throws UserError where the run has no checkpoint that fits. */
export async function loadAgent(
  run: string,
  options: { readonly checkpoint?: "best" | "last" | number } = {},
): Promise<Agent> {
  const config: object = await loadConfig(RunDirectory.open(run).config);
  const style = styleOf(config);
  const policy = await openPolicy({ run, ...options });
  return {
    async fill(page, values, { title, instruction = "", document, seed } = {}) {
      const task = {
        formTitle: title ?? (await page.title()),
        instruction,
        fields: values,
        ...(document === undefined ? {} : { document }),
      };
      const text = renderPrompt(task, style);
      return withForm(page, Object.keys(values), async (form) => {
        const controls = controlsOnPage(form.controls, []);
        const template = controls.length === 0 ? {} : { template: formTemplate(controls) };
        const [answer = {}] = await policy.act([{ text, ...template }], seed);
        const { actions, unresolved } = planOf(answer, controls);
        const path = new URL(page.url()).pathname;
        const batch = actions
          .map((action) => ({ action, step: resolveAction(action, form, path) }))
          .filter(
            (one): one is { action: Action; step: Exclude<Step, { do: "submit" | "upload" }> } =>
              one.step.do !== "submit" && one.step.do !== "upload",
          );
        return { plan: answer.text ?? "", actions: await applySteps(form, batch), unresolved };
      });
    },
    close: () => policy.close(),
  };
}

function styleOf(config: object): PromptStyle {
  const { prompt } = config as { readonly prompt?: { readonly style?: PromptStyle } };
  return prompt?.style ?? PROMPT_STYLES[0];
}

/** Reads the page's form, the one that has most of the labels, and leaves it when the work is done. */
async function withForm<T>(page: Page, labels: readonly string[], work: (form: ReadForm) => Promise<T>): Promise<T> {
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
