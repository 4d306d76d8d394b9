import { z } from "zod";
import type { Rng } from "../../../core/rng.js";
import { splitHash } from "../../../env/forms/split-hash.js";
import { type DeclaredForm, type SiteKind, type Task, TIERS } from "../../../env/site.js";
import { augmentedTask } from "../augment.js";
import { FORMS, fieldKinds, formOf } from "../catalog.js";
import { declared } from "../fields.js";
import { fieldsOf } from "../form.js";
import { generatedForms } from "../generate.js";
import { serveForms } from "../server.js";
import { embeddedTasks, optionsOfTasks } from "../tasks.js";

const schema = z.strictObject({
  tier: z.enum(TIERS).default("starter").describe("starter: 3-6 short fields a form; full: all fields"),
  ...optionsOfTasks,
  port: z.int().min(0).max(65535).default(0).describe("0: any free port"),
});

export type EmbeddedOptions = z.output<typeof schema>;

/** Declares a form's page and the server's answers. */
export function declarationOf({ form, tier, url }: Task): DeclaredForm {
  const fields = Object.fromEntries(fieldsOf(formOf(form), tier).map((field) => [field.label, declared(field)]));
  return { url, fields, request: { method: "POST", path: url }, success: { status: 200 }, refusal: { status: 400 } };
}

/** The built-in server of 25 forms in 8 domains (`src/features/embedded/`), with seeded records. */
export const site: SiteKind<EmbeddedOptions> = {
  schema,
  async start(options) {
    const { tier, letters } = options;
    const tasks = embeddedTasks(tier, options.seed, options.sizes, options.generated, letters);
    const hash = splitHash(tasks);
    const made = generatedForms(options.seed, options.generated);
    const { baseUrl, stop } = await serveForms([...FORMS, ...made], options.port);
    return {
      name: "embedded",
      baseUrl,
      stateless: true,
      tasks: () => tasks,
      splitHash: () => hash,
      fieldKinds: (task) => fieldKinds(task.form, task.tier),
      declaredForm: declarationOf,
      augmentedTask: (rng: Rng) => augmentedTask(rng, tier, letters),
      stop,
    };
  },
};
