import { z } from "zod";
import { serveApp } from "../../../core/serve.js";
import type { Split } from "../../../env/environment.js";
import { splitHash } from "../../../env/forms/split-hash.js";
import type { DeclaredForm, SiteKind, Task } from "../../../env/site.js";
import { fieldKinds } from "../../embedded/catalog.js";
import { declared } from "../../embedded/fields.js";
import { type FormRecord, recordsOf } from "../../embedded/records.js";
import { optionsOfRecords, splitsOf, taskOf } from "../../embedded/tasks.js";
import { createApp } from "../wizard-server.js";
import { isApplicable, knownPages, WIZARDS, type Wizard, wizardOf } from "../wizards.js";

const schema = z.strictObject({
  ...optionsOfRecords,
  port: z.int().min(0).max(65535).default(0).describe("0: any free port"),
});

/** Makes the tasks of a form of several pages, without values for fields that are not asked for. */
function tasksOf(wizard: Wizard, split: Split, count: number, seed: number): Task[] {
  const trim = (record: FormRecord): FormRecord =>
    Object.fromEntries(Object.entries(record).filter(([label]) => isApplicable(wizard, label, record)));
  return recordsOf(wizard, "wizard", split, count, seed, trim).map((fields, i) => ({
    ...taskOf(wizard, "wizard", split, i, fields),
    pages: wizard.pages.map((page) => page.map(({ label }) => label).filter((label) => label in fields)),
  }));
}

function declarationOf({ form, url }: Task): DeclaredForm {
  const fields = Object.fromEntries(wizardOf(form).fields.map((field) => [field.label, declared(field)]));
  const request = { method: "POST", path: url };
  return { url, fields, request, success: { status: 200, text: "Thank you" }, refusal: { status: 422 } };
}

/** The built-in server of 14 forms of 2 to 4 pages, with the fields of embedded forms (`environment.kind: pages`). */
export const site: SiteKind<z.output<typeof schema>> = {
  schema,
  async start({ seed, sizes, port }) {
    const tasks = WIZARDS.flatMap((wizard) =>
      splitsOf(wizard).flatMap((split) => tasksOf(wizard, split, sizes[split], seed)),
    );
    const hash = splitHash(tasks);
    const { baseUrl, stop } = await serveApp(createApp(), port, "wizard site");
    return {
      name: "wizard",
      baseUrl,
      stateless: true,
      tasks: () => tasks,
      splitHash: () => hash,
      fieldKinds: (task) => fieldKinds(task.form, "full"),
      declaredForm: declarationOf,
      knownPages: (task: Task) => knownPages(task.form, Object.keys(task.fields)),
      stop,
    };
  },
};
