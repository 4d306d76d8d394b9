import { join } from "node:path";
import { z } from "zod";
import { messageOf, UserError } from "../../core/errors.js";
import { checkMayRun } from "../../core/registry.js";
import { type Control, findControl } from "../browser/controls.js";
import { EpisodeRunner } from "../browser/episode.js";
import { controlsOnPage } from "../forms/blanks.js";
import type { FieldKind, RunningSite, SiteKind, Task } from "../site.js";
import { cdnAssets } from "./formfactory/assets.js";
import { CATALOG, formId, HELDOUT_FORMS } from "./formfactory/catalog.js";
import { openCheckout } from "./formfactory/checkout.js";
import { cleanTasks, describeCleaning } from "./formfactory/clean.js";
import { serveFlask } from "./formfactory/flask-front.js";
import { goldTasks } from "./formfactory/gold.js";
import { serveCheckout } from "./formfactory/server.js";
import { splitHash } from "./parts/split-hash.js";

const FORM_IDS = CATALOG.map(formId);

const schema = z.strictObject({
  path: z
    .string()
    .min(1)
    .default("formfactory")
    .describe("a checkout of FormFactory (git clone https://github.com/formfactory-ai/formfactory)"),
  server: z
    .enum(["node", "flask"])
    .default("node")
    .describe("node: its pages, served by this program; flask: its own application (needs Python and Flask)"),
  clean: z
    .boolean()
    .default(true)
    .describe("leave out keys without a control and instances with values that no control can hold"),
  forms: z
    .array(z.enum(FORM_IDS))
    .min(1)
    .default([...FORM_IDS])
    .describe("forms that are used, as academic-research/job-application"),
  heldout: z
    .array(z.enum(FORM_IDS))
    .default([...HELDOUT_FORMS])
    .describe("forms that are never trained on"),
  port: z.int().min(0).max(65535).default(0).describe("0: any free port"),
  python: z.string().min(1).default("python3").describe("for server: flask"),
  workers: z.int().min(1).max(32).default(2).describe("for server: flask: processes"),
});

export type FormFactoryOptions = z.output<typeof schema>;

/** Limits while the pages are read once; a run has its own. */
const READ_TIMEOUT_MS = 60_000;

/** FormFactory (arXiv 2506.01520) from a checkout of the user's: nothing of it is shipped, and nothing in it changed. */
export const site: SiteKind<FormFactoryOptions> = {
  schema,
  async start(options) {
    const rows = CATALOG.filter((row) => options.forms.includes(formId(row)));
    const checkout = openCheckout(options.path, rows);
    const server =
      options.server === "node"
        ? await serveCheckout(checkout, options.port)
        : await checkMayRun(options.python).then(() => serveFlask({ ...options, app: join(checkout.dir, "app.py") }));
    const base = { name: "formfactory", baseUrl: server.baseUrl, assets: cdnAssets(), stop: server.stop };
    try {
      const gold = goldTasks(checkout, new Set(options.heldout));
      const controls = await readPages(base, gold);
      const cleaning = cleanTasks(gold, controls);
      const clean = new Set(cleaning.tasks.map((task) => task.id));
      const kept = options.clean ? cleaning.tasks : gold.map((task) => ({ ...task, clean: clean.has(task.id) }));
      const tasks = kept.map((task) => withChoices(task, controls));
      const hash = splitHash(tasks);
      const kinds = kindsOfForms(tasks, controls);
      return {
        ...base,
        tasks: () => tasks,
        splitHash: () => hash,
        notes: options.clean ? [describeCleaning(gold.length, cleaning)] : [],
        fieldKinds: ({ form }) => kinds.get(form) ?? {},
      };
    } catch (error) {
      await server.stop();
      throw error;
    }
  },
};

/** The controls of each form's page by its path, read by the same browser that fills them in. */
async function readPages(
  base: Pick<RunningSite, "name" | "baseUrl" | "assets" | "stop">,
  tasks: readonly Task[],
): Promise<ReadonlyMap<string, readonly Control[]>> {
  const firsts = [...new Map(tasks.map((task) => [task.url, task])).values()];
  const runner = await EpisodeRunner.open({
    site: { ...base, tasks: () => [], splitHash: () => "" },
    headless: true,
    contexts: 2,
    actionTimeoutMs: READ_TIMEOUT_MS,
    episodeTimeoutMs: READ_TIMEOUT_MS,
    uploads: "none",
  });
  try {
    return new Map(await Promise.all(firsts.map(async (task) => [task.url, await runner.snapshot(task)] as const)));
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`formfactory site: a form cannot be read: ${messageOf(error)}`, { cause: error });
  } finally {
    await runner.close();
  }
}

/** The controls of each form's page, called as its tasks call them. */
function kindsOfForms(
  tasks: readonly Task[],
  pages: ReadonlyMap<string, readonly Control[]>,
): ReadonlyMap<string, Readonly<Record<string, FieldKind>>> {
  const forms = [...new Map(tasks.map((task) => [task.form, task.url]))];
  return new Map(
    forms.map(([form, url]) => {
      const [own, controls] = [tasks.filter((task) => task.form === form), pages.get(url) ?? []];
      const labels = new Set(own.flatMap((task) => controlsOf(task, controls).map(([label]) => label)));
      const kinds = controlsOnPage(controls, own, [...labels]).map(({ label, ...kind }) => [label, kind] as const);
      return [form, Object.fromEntries(kinds)];
    }),
  );
}

/** The options of a task's choices, without the placeholders: a source text does not say how the form words them. */
function withChoices(task: Task, controls: ReadonlyMap<string, readonly Control[]>): Task {
  const choices = controlsOf(task, controls.get(task.url) ?? []).flatMap(([label, { options }]) => {
    const texts = options.flatMap(({ text, value }) => (value === "" ? [] : [text]));
    return texts.length === 0 ? [] : [[label, texts] as const];
  });
  return { ...task, choices: Object.fromEntries(choices) };
}

/** A task's labels that name a control, with their controls. */
function controlsOf(task: Task, controls: readonly Control[]): [string, Control][] {
  return Object.keys(task.fields).flatMap((label): [string, Control][] => {
    const target = findControl(controls, label);
    return typeof target === "string" || target.option !== undefined ? [] : [[label, target.control]];
  });
}
