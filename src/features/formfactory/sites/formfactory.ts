import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { z } from "zod";
import { closing } from "../../../core/closing.js";
import { fail, messageOf, UserError } from "../../../core/errors.js";
import { optional } from "../../../core/optional.js";
import { type Control, controlNamed } from "../../../env/browser/controls.js";
import { EpisodeRunner } from "../../../env/browser/episode.js";
import { controlsOnPage } from "../../../env/forms/blanks.js";
import { unfillable } from "../../../env/forms/normalize.js";
import { splitHash } from "../../../env/forms/split-hash.js";
import type { Asset, FieldKind, RunningSite, SiteKind, Task } from "../../../env/site.js";
import { CATALOG, formId, HELDOUT_FORMS } from "../catalog.js";
import { openCheckout } from "../checkout.js";
import { goldTasks } from "../gold.js";
import { serveCheckout } from "../server.js";

const FORM_IDS = CATALOG.map(formId);

const schema = z.strictObject({
  path: z
    .string()
    .min(1)
    .default("formfactory")
    .describe("a checkout of FormFactory (git clone https://github.com/formfactory-ai/formfactory)"),
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
});

export type FormFactoryOptions = z.output<typeof schema>;

/** Time limit while the pages are read, in milliseconds. */
const READ_TIMEOUT_MS = 60_000;

/** FormFactory (arXiv 2506.01520) from the user's checkout: none of it is shipped with this program, or changed. */
export const site: SiteKind<FormFactoryOptions> = {
  schema,
  async start(options) {
    const rows = CATALOG.filter((row) => options.forms.includes(formId(row)));
    const checkout = openCheckout(options.path, rows);
    const assets = await cdnAssets();
    const server = await serveCheckout(checkout, options.port);
    const base = { name: "formfactory", baseUrl: server.baseUrl, assets, stop: server.stop };
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

/** Reads the controls of each form's page, by path, with the browser that fills them in. */
async function readPages(
  base: Pick<RunningSite, "name" | "baseUrl" | "assets" | "stop">,
  tasks: readonly Task[],
): Promise<ReadonlyMap<string, readonly Control[]>> {
  const firsts = [...new Map(tasks.map((task) => [task.url, task])).values()];
  await using runner = closing(
    await EpisodeRunner.open({
      site: { ...base, tasks: () => [], splitHash: () => "" },
      headless: true,
      contexts: 2,
      actionTimeoutMs: READ_TIMEOUT_MS,
      episodeTimeoutMs: READ_TIMEOUT_MS,
      uploads: "none",
    }),
  );
  try {
    return new Map(await Promise.all(firsts.map(async (task) => [task.url, await runner.snapshot(task)] as const)));
  } catch (error) {
    if (error instanceof UserError) throw error;
    fail(`formfactory site: a form cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Lists the kinds of the controls on each form's page, by the labels of its tasks. A box that no gold row names is a
 * consent that the gold file leaves out ("I agree to the terms ... *"): it is required, so that nothing teaches to
 * leave it.
 */
function kindsOfForms(
  tasks: readonly Task[],
  pages: ReadonlyMap<string, readonly Control[]>,
): ReadonlyMap<string, Readonly<Record<string, FieldKind>>> {
  const forms = [...new Map(tasks.map((task) => [task.form, task.url]))];
  return new Map(
    forms.map(([form, url]) => {
      const [own, controls] = [tasks.filter((task) => task.form === form), pages.get(url) ?? []];
      const labels = new Set(own.flatMap((task) => controlsOf(task, controls).map(([label]) => label)));
      const kinds = controlsOnPage(controls, own, [...labels]).map(({ label, ...kind }) => {
        const isConsent = kind.kind === "checkbox" && !labels.has(label);
        return [label, isConsent ? { ...kind, required: true } : kind] as const;
      });
      return [form, Object.fromEntries(kinds)];
    }),
  );
}

/** Adds the options of a task's choices, without placeholders: source texts use other words than the form. */
function withChoices(task: Task, controls: ReadonlyMap<string, readonly Control[]>): Task {
  const choices = controlsOf(task, controls.get(task.url) ?? []).flatMap(([label, { options }]) => {
    const texts = options.flatMap(({ text, value }) => (value === "" ? [] : [text]));
    return texts.length === 0 ? [] : [[label, texts] as const];
  });
  return { ...task, choices: Object.fromEntries(choices) };
}

/** Finds the controls of a task's labels; labels without a control are left out. */
function controlsOf(task: Task, controls: readonly Control[]): [string, Control][] {
  return Object.keys(task.fields).flatMap((label): [string, Control][] => {
    const control = controlNamed(controls, label);
    return control === undefined ? [] : [[label, control]];
  });
}

const require = createRequire(import.meta.url);
const SCRIPT = "text/javascript; charset=utf-8";

/**
 * Reads the scripts of FormFactory's script-built form from optional npm packages instead of the CDNs that the page
 * names. Style sheets and scripts of the other pages do not affect their forms, and stay blocked.
 * @param resolve finds a package's file. @throws UserError where a package is not installed.
 */
export async function cdnAssets(
  resolve: (path: string) => string = require.resolve,
): Promise<ReadonlyMap<string, Asset>> {
  const file = async (name: string, path: string, contentType = SCRIPT): Promise<Asset> => ({
    contentType,
    body: await optional("FormFactory's pages need", name, async () => readFile(resolve(`${name}/dist/${path}`))),
  });
  return new Map([
    ["https://cdnjs.cloudflare.com/ajax/libs/cleave.js/1.6.0/cleave.min.js", await file("cleave.js", "cleave.min.js")],
    ["https://cdn.jsdelivr.net/npm/flatpickr", await file("flatpickr", "flatpickr.min.js")],
    [
      "https://cdn.jsdelivr.net/npm/flatpickr/dist/flatpickr.min.css",
      await file("flatpickr", "flatpickr.min.css", "text/css; charset=utf-8"),
    ],
  ]);
}

/** Errors of a form's gold file that no agent can correct. */
interface Flaws {
  /** Keys without a control on the page. */
  readonly phantoms: Set<string>;
  /** Number of instances with a value that its control cannot hold; their reasons by label. */
  dropped: number;
  readonly reasons: Map<string, number>;
}

/** Remaining tasks, without phantom keys, and the errors of each form. */
interface Cleaning {
  readonly tasks: readonly Task[];
  readonly flaws: ReadonlyMap<string, Flaws>;
}

/** Removes the keys without a control, and the instances with a value that the page cannot hold. */
function cleanTasks(tasks: readonly Task[], controls: ReadonlyMap<string, readonly Control[]>): Cleaning {
  const flaws = new Map<string, Flaws>(
    tasks.map(({ form }) => [form, { phantoms: new Set(), dropped: 0, reasons: new Map() }]),
  );
  const kept = tasks.flatMap((task): Task[] => {
    const known = new Map(controlsOf(task, controls.get(task.url) ?? []));
    const own = flaws.get(task.form) as Flaws;
    for (const label of Object.keys(task.fields)) if (!known.has(label)) own.phantoms.add(label);
    const fields = Object.entries(task.fields).filter(([label]) => known.has(label));
    const reasons = fields.flatMap(([label, truth]) => {
      const why = unfillable(known.get(label) as Control, truth);
      return why === undefined ? [] : [`${label}: ${why}`];
    });
    if (reasons.length === 0) return [{ ...task, fields: Object.fromEntries(fields), clean: true }];
    own.dropped++;
    for (const reason of reasons) own.reasons.set(reason, (own.reasons.get(reason) ?? 0) + 1);
    return [];
  });
  return { tasks: kept, flaws };
}

/** Describes a cleaning: numbers, places and reasons. */
function describeCleaning(all: number, { tasks, flaws }: Cleaning): string {
  const phantoms = [...flaws].flatMap(([form, { phantoms: labels }]) =>
    labels.size === 0 ? [] : [`  ${form}: no control is called ${[...labels].join(", ")}`],
  );
  const dropped = [...flaws].flatMap(([form, { dropped: count, reasons }]) => {
    const whys = [...reasons].map(([why, n]) => `${why}${n > 1 ? ` x${n}` : ""}`);
    return count === 0 ? [] : [`  ${form}: ${count} ${count === 1 ? "instance" : "instances"} (${whys.join("; ")})`];
  });
  if (phantoms.length + dropped.length === 0) return `FormFactory: ${all} instances, nothing to clean.`;
  const head = `FormFactory: ${tasks.length} of ${all} instances kept (site.clean=false keeps all); dropped:`;
  return [head, ...phantoms, ...dropped].join("\n");
}
