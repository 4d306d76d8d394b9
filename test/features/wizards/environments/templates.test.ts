import assert from "node:assert/strict";
import { test } from "node:test";
import { closing } from "../../../../src/core/closing.js";
import type { Observation } from "../../../../src/core/interaction.js";
import type { EnvironmentTask } from "../../../../src/env/environment.js";
import { PagesEnvironment } from "../../../../src/features/wizards/environments/pages.js";
import { site as wizard } from "../../../../src/features/wizards/sites/wizard.js";
import { FORMS_OPTIONS } from "../../../env/page-site.js";

const asksFor = ({ template }: Observation, blank: string): boolean =>
  template?.parts.some((part) => typeof part !== "string" && part.name === blank) === true;

test("wizards: a template a turn, of the page that is there; one without fields asks whether to send it", async () => {
  const site = await wizard.start(wizard.schema.parse({ sizes: { train: 2, val: 0, test: 0, heldout: 0 } }));
  const turns = { kind: "pages", turns: 8, page_characters: 2000 };
  await using pages = closing(new PagesEnvironment(site, { ...FORMS_OPTIONS, environment: turns }));
  const shown = pages.demonstrations?.(pages.tasks) ?? [];
  const templates = (id: string): unknown[] =>
    shown.filter((turn) => turn.id === id).map(({ observation }) => observation.template);
  const byForm = new Map<string, unknown[]>();
  for (const { form, id } of pages.tasks) {
    assert.deepEqual(templates(id), byForm.get(form) ?? templates(id));
    byForm.set(form, templates(id));
  }
  const review = shown.find(({ observation }) => asksFor(observation, "submit"));
  assert.deepEqual(review?.action.values, { submit: "yes" });
  const task = pages.tasks.find(({ id }) => id === review?.id) as EnvironmentTask;
  // nothing right: the first page is shown again until there is nothing new to say
  const outcome = await pages.play(task, async () => ({ text: "", values: {} }));
  assert.ok(!outcome.success && (outcome.reward as number) < 0.5);
});
