import assert from "node:assert/strict";
import { test } from "node:test";
import { closing } from "../../../src/core/closing.js";
import { fillTemplate, type Observation, type Template } from "../../../src/core/interaction.js";
import { Rng } from "../../../src/core/rng.js";
import type { Environment } from "../../../src/env/environment.js";
import { FormsEnvironment } from "../../../src/env/environments/forms.js";
import { NULL_PLANS } from "../../../src/env/forms/oracle.js";
import { renderPlan } from "../../../src/env/forms/plan.js";
import { TIERS } from "../../../src/env/site.js";
import { site as embedded } from "../../../src/features/embedded/sites/embedded.js";
import { PaperEnvironment } from "../../../src/features/paper/environments/paper.js";
import { FORMS_OPTIONS } from "../../env/page-site.js";

for (const tier of TIERS) {
  test(`${tier}: two tasks of a form have the same template, and its true values score 1`, async () => {
    const paper = new PaperEnvironment({ tier, seed: 3, sizes: { train: 3, val: 1, test: 1, heldout: 2 } });
    const templates = new Map<string, string>();
    for (const task of paper.tasks) {
      const { template } = paper.firstObservation(task);
      assert.ok(template !== undefined);
      const known = templates.get(task.form);
      if (known !== undefined) assert.equal(JSON.stringify(template), known);
      templates.set(task.form, JSON.stringify(template));
      const { values } = paper.demonstrations?.([task])[0]?.action ?? {};
      assert.ok(values !== undefined);
      const outcome = await paper.play(task, async () => ({ text: fillTemplate(template, values).text, values }));
      assert.deepEqual([task.id, outcome.reward, outcome.success, outcome.metrics.no_action], [task.id, 1, true, 0]);
      const blank = await paper.play(task, async () => ({ text: "", values: {} }));
      assert.ok((blank.reward as number) < 0.5);
    }
    const { observation, action } = paper.syntheticDemonstration(Rng.named(1, "s"));
    const expected = observation.template?.parts.flatMap((part) => (typeof part === "string" ? [] : [part.name]));
    assert.deepEqual(Object.keys(action.values ?? {}), expected);
  });
}

test("free plans say how many of their lines are no action", async () => {
  const paper = new PaperEnvironment({ tier: "starter", seed: 1, sizes: { train: 1, val: 0, test: 0, heldout: 0 } });
  const [task] = paper.tasks;
  assert.ok(task !== undefined);
  const { metrics } = await paper.play(task, async () => ({ text: "flil Name | Ann\nsubmit" }));
  assert.equal(metrics.no_action, 0.5);
});

const sizes = { train: 4, val: 2, test: 2, heldout: 4 };

for (const level of [1, 2, 3] as const) {
  test(`level ${level}: the oracle has 1.00; null policies and the first words of the letter next to nothing`, async () => {
    const paper = new PaperEnvironment({ tier: "starter", sizes, generated: 300, style: "page", letters: level });
    const means: Record<string, number> = {};
    for (const name of [...Object.keys(NULL_PLANS), "oracle"]) {
      let sum = 0;
      for (const task of paper.tasks) {
        const policy = await paper.fixedPolicies[name]?.(task, Rng.named(1, `${name}/${task.id}`));
        assert.ok(policy !== undefined);
        const { reward } = await paper.play(task, policy);
        if (name === "oracle") assert.equal(reward, 1, task.id);
        sum += reward ?? 0;
      }
      means[name] = sum / paper.tasks.length;
    }
    let copied = 0;
    for (const task of paper.tasks) {
      const first = (task.document ?? "").split(/\s+/).slice(1, 3).join(" ");
      const actions = Object.keys(task.fields).map((label) => ({ kind: "fill", label, value: first }) as const);
      const text = renderPlan([...actions, { kind: "submit" }]);
      copied += (await paper.play(task, async () => ({ text }))).reward ?? 0;
    }
    means.copied = copied / paper.tasks.length;
    for (const name of Object.keys(NULL_PLANS)) assert.ok((means[name] as number) <= 0.05, JSON.stringify(means));
    assert.ok(means.copied < 0.25, JSON.stringify(means));
  });
}

test("forms of our own: browser and paper offer the same templates, with letters and pages as prompts too", async () => {
  const sizes = { train: 2, val: 0, test: 0, heldout: 1 };
  const site = await embedded.start(embedded.schema.parse({ tier: "full", sizes, letters: 2 }));
  await using forms = closing(new FormsEnvironment(site, { ...FORMS_OPTIONS, prompt: { style: "page" } }));
  const paper = new PaperEnvironment({ tier: "full", sizes, style: "page", letters: 2 });
  const shown = (environment: Environment): (Observation | undefined)[] =>
    environment.tasks.map((task) => environment.firstObservation?.(task));
  assert.deepEqual(shown(forms), shown(paper));
  const byForm = new Map<string, Template>();
  for (const task of forms.tasks) {
    const { template } = forms.firstObservation(task);
    assert.deepEqual(template, byForm.get(task.form) ?? template);
    byForm.set(task.form, template as Template);
  }
  assert.deepEqual(forms.demonstrations?.(forms.tasks), paper.demonstrations?.(paper.tasks));
  const [task] = forms.tasks;
  const oracle = task && (await forms.fixedPolicies.oracle?.(task, Rng.named(1, task.id)));
  assert.ok(task !== undefined && oracle !== undefined);
  const outcome = await forms.play(task, oracle, new Map());
  assert.deepEqual([outcome.reward, outcome.success], [1, true], JSON.stringify(outcome.detail));
});
