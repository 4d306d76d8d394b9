import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { Blank, Observation, Template } from "../../../src/core/interaction.js";
import { Rng } from "../../../src/core/rng.js";
import type { Environment, EnvironmentTask, EpisodeOutcome } from "../../../src/env/environment.js";
import { FormsEnvironment } from "../../../src/env/environments/forms.js";
import { FORMS_OPTIONS, servePages, taskFor } from "../page-site.js";

const FORM = `<h1>Visit</h1><form method="post"><label>Full name * <input name="name" required></label>
<label>Day <select name="day"><option value="">Choose</option><option>Monday</option><option>Friday</option></select></label>
<label>Trip <input type="checkbox" name="trip"></label>
<label>Ref <input name="ref"></label><button>Send</button></form>`;

const blanksOf = ({ template }: Observation): Blank[] =>
  (template as Template).parts.filter((part) => typeof part !== "string");
const namesOf = (observation: Observation): string[] => blanksOf(observation).map(({ name }) => name);

/** The first observation that a policy is shown, and what came of the answer to it. */
async function played(
  environment: Environment,
  task: EnvironmentTask,
  values?: Record<string, string>,
): Promise<{ seen: Observation; outcome: EpisodeOutcome }> {
  const seen: Observation[] = [];
  const oracle = await environment.fixedPolicies.oracle?.(task, Rng.named(1, task.id));
  const outcome = await environment.play(
    task,
    async (observation) => {
      seen.push(observation);
      return values === undefined ? ((await oracle?.(observation)) ?? {}) : { text: "", values };
    },
    new Map(),
  );
  return { seen: seen[0] as Observation, outcome };
}

describe("a site whose pages have to be read", async () => {
  const tasks = [
    { ...taskFor("/visit", { "Full name": "Ada", Day: "Friday", Trip: true }), id: "a" },
    { ...taskFor("/visit", { "full name": "Bo", Trip: false }), id: "b" },
  ];
  const site = await servePages({ "/visit": FORM });
  const environment = new FormsEnvironment({ ...site, tasks: () => tasks }, FORMS_OPTIONS);
  after(() => environment.close());

  it("has a template of the page alone: the same for tasks that ask for other fields, wins all of them", async () => {
    const shown = await Promise.all(tasks.map((task) => played(environment, task)));
    const [first, second] = shown.map(({ seen }) => seen.template);
    assert.deepEqual(first, second);
    const [{ seen }] = shown as [(typeof shown)[0], (typeof shown)[0]];
    // what no task names stands there too
    assert.deepEqual(namesOf(seen), ["Full name", "Day", "Trip", "Ref"]);
    assert.deepEqual(blanksOf(seen)[1]?.options, ["Monday", "Friday"]);
    for (const { outcome } of shown) {
      assert.deepEqual([outcome.reward, outcome.success], [1, true], JSON.stringify(outcome.detail));
      assert.equal(outcome.metrics.no_action, 0);
    }
    assert.ok(!environment.oneTurn);
  });

  it("scores a blank as its field, and plays the same values once", async () => {
    const [ada] = tasks as [(typeof tasks)[0]];
    const values = { "Full name": "Ada", Day: "Monday", Trip: "yes" };
    const together = new Map();
    const act = async () => ({ text: "ignored", values });
    const [one, two] = await Promise.all([environment.play(ada, act, together), environment.play(ada, act, together)]);
    assert.ok(two.reused && !one.reused);
    const actual = one.answerParts?.[0]?.map(({ name, reward }) => `${name} ${reward}`);
    assert.deepEqual(actual, ["Full name 1", "Day 0", "Trip 1"]);
    assert.ok((await environment.photograph(ada, [{ text: "ignored", values }])) !== undefined);
  });

  it("offers none with plan: free", async () => {
    const free = new FormsEnvironment({ ...site, tasks: () => tasks }, { ...FORMS_OPTIONS, plan: "free" });
    const { seen, outcome } = await played(free, tasks[0] as EnvironmentTask);
    await (await free.runner()).close();
    assert.deepEqual([Object.keys(seen), outcome.success, free.oneTurn], [["text"], true, true]);
  });
});
