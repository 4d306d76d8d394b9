import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { Hono } from "hono";
import { closing } from "../../../../src/core/closing.js";
import type { Action, Observation } from "../../../../src/core/interaction.js";
import { Rng } from "../../../../src/core/rng.js";
import { serveApp } from "../../../../src/core/serve.js";
import { EnvironmentFault } from "../../../../src/env/browser/browser.js";
import { drawFault, injectedFaults } from "../../../../src/env/browser/injected-faults.js";
import type { EnvironmentTask, EpisodeOutcome } from "../../../../src/env/environment.js";
import { NULL_PLANS } from "../../../../src/env/forms/oracle.js";
import { REWARDS } from "../../../../src/env/forms/own-reward.js";
import type { Task } from "../../../../src/env/site.js";
import { PagesEnvironment } from "../../../../src/features/wizards/environments/pages.js";
import { site as wizard } from "../../../../src/features/wizards/sites/wizard.js";
import { createApp } from "../../../../src/features/wizards/wizard-server.js";
import { WIZARDS } from "../../../../src/features/wizards/wizards.js";
import { rehearse } from "../../../../src/train/rehearsal.js";
import { judgedAgain } from "../../../env/judged-again.js";
import { FORMS_OPTIONS, servePages, taskFor } from "../../../env/page-site.js";

const TURNS = { kind: "pages", turns: 8, page_characters: 2000 };
/**
 * An environment that is closed with its test, and how many posts its server has received.
 * @param failing every so many of them are answered with 500.
 */
async function open(t: TestContext, failing = Infinity): Promise<{ environment: PagesEnvironment; posts(): number }> {
  const options = { sizes: { train: 1, val: 0, test: 0, heldout: 1 } };
  const site = await wizard.start(wizard.schema.parse(options));
  const [app, inner] = [new Hono(), createApp()];
  let posts = 0;
  app.all("*", ({ req, json }) =>
    req.method === "POST" && ++posts % failing === 0 ? json({ error: "Injected fault" }, 500) : inner.fetch(req.raw),
  );
  const { baseUrl, stop } = await serveApp(app, 0, "test");
  const environment = new PagesEnvironment({ ...site, baseUrl }, { ...FORMS_OPTIONS, environment: TURNS });
  t.after(async () => {
    await environment.close();
    await stop();
  });
  return { environment, posts: () => posts };
}

const cardOf = ({ tasks }: PagesEnvironment): Task => tasks.find(({ form }) => form === "library/card-request") as Task;

async function playWith(
  environment: PagesEnvironment,
  policy: string,
  task: Task,
  onTurn: (observation: Observation, action: Action) => void = () => undefined,
): Promise<EpisodeOutcome> {
  const act = await environment.fixedPolicies[policy]?.(task, Rng.named(1, `${policy}/${task.id}`));
  assert.ok(act !== undefined);
  const outcome = await environment.play(task, async (observation) => {
    const action = await act(observation);
    onTurn(observation, action);
    return action;
  });
  return judgedAgain(environment, task, outcome);
}

test("wizards: the oracle scores exactly 1 on every form, a turn a page; null policies at most .05 on average", async (t) => {
  const { environment } = await open(t);
  assert.ok(new Set(environment.tasks.map(({ form }) => form)).size === WIZARDS.length && WIZARDS.length >= 10);
  const shown = environment.demonstrations?.(environment.tasks) ?? [];
  await Promise.all(
    environment.tasks.map(async (task) => {
      const turns: unknown[] = [];
      const onTurn = (observation: Observation, action: Action) => turns.push({ id: task.id, observation, action });
      const outcome = await playWith(environment, "oracle", task, onTurn);
      const { reward, success, fault, turnRewards, metrics, detail } = outcome;
      // what is written down for supervised training is what a browser shows
      assert.deepEqual(
        turns,
        shown.filter(({ id }) => id === task.id),
        task.id,
      );
      assert.deepEqual([task.id, reward, success, fault], [task.id, 1, true, undefined], JSON.stringify(detail));
      assert.ok(turnRewards?.every((value) => value === 1));
      const wizard = WIZARDS.find(({ id }) => id === task.form);
      assert.equal(metrics.turns, (wizard?.pages.length ?? 0) + Number(wizard?.review));
      assert.equal(metrics.page_2_accuracy, 1);
    }),
  );
  const some = WIZARDS.flatMap(({ id }, i) => environment.tasks.find(({ form }) => i % 2 < 1 && form === id) ?? []);
  for (const policy of Object.keys(NULL_PLANS)) {
    const outcomes = await Promise.all(some.map((task) => playWith(environment, policy, task)));
    const rewards = outcomes.map(({ reward }) => reward ?? Number.NaN);
    const mean = rewards.reduce((sum, value) => sum + value, 0) / rewards.length;
    assert.ok(mean <= 0.05, `${policy} scores ${mean.toFixed(3)} on average`);
  }
});

describe("an episode of several turns", () => {
  const answers = (plans: readonly string[], seen: string[] = []) => {
    let turn = 0;
    return async ({ text = "" }: { text?: string }) => {
      seen.push(text);
      return { text: plans[turn++] ?? "" };
    };
  };

  test("shows what is there now, and what the server or the page complained about: it can be corrected", async (t) => {
    const { environment } = await open(t);
    const server = cardOf(environment);
    const [first, last] = [server.fields["First Name"], server.fields["Last Name"]];
    const seen: string[] = [];
    const plans = [`fill First Name | ${first}\nsubmit`, `fill Last Name | ${last}\nsubmit`];
    const outcome = await environment.play(server, answers(plans, seen));
    assert.match(seen[0] ?? "", /^page: Library Card, Step 1 of 3\n First Name\n Last Name\nform: Library Card\n/);
    assert.match(seen[1] ?? "", /^page: Library Card, Step 1 of 3\n! Required: Last Name\n/);
    assert.ok(seen[1]?.includes(` First Name = ${first}\n`));
    assert.match(
      seen[2] ?? "",
      /^page: Library Card, Step 2 of 3\n Card Type: Adult; Child; Student; Senior = Adult\n/,
    );
    assert.equal(seen.length, 3);
    assert.deepEqual(outcome.turnRewards?.slice(0, 2), [1, 1]);
    assert.deepEqual([outcome.metrics.page_1_accuracy, outcome.metrics.page_3_accuracy], [1, 0]);
    assert.deepEqual([outcome.success, outcome.detail.accepted], [false, false]);

    const client = environment.tasks.find(({ form }) => form === "kitchen/table-booking") as Task;
    const steps: string[] = [];
    await environment.play(client, answers(["submit", "fill Town | Rome"], steps));
    assert.match(steps[1] ?? "", /^page: Table Booking, Step 1 of 2\n! Required: Guest Name, Phone Number\n/);
    // a turn that changes nothing is the last one
    assert.equal(steps.length, 2);
  });

  test("has a picture of the page that the last answer filled in", async (t) => {
    const { posts, environment } = await open(t);
    const task = cardOf(environment);
    const [first, last] = [task.fields["First Name"], task.fields["Last Name"]];
    const names = `fill First Name | ${first}\nfill Last Name | ${last}\nsubmit`;
    const turns = [{ text: names }, { text: "select Card Type | Child\nsubmit" }];
    const pictures = await Promise.all([1, 2].map((n) => environment.photograph(task, turns.slice(0, n))));
    assert.ok(pictures.every((image) => image !== undefined && image[0] === 0xff && image[1] === 0xd8));
    assert.notDeepEqual(pictures[0], pictures[1]);
    // only what leads to the second page was sent
    assert.equal(posts(), 1);
  });

  test("a success marker says alone whether the form was accepted", async (t) => {
    const { posts, environment } = await open(t);
    const task = cardOf(environment);
    const played = (success: Task["success"]): Promise<EpisodeOutcome> =>
      playWith(environment, "oracle", { ...task, success } as Task);
    const [right, wrong] = [await played({ text: "Thank you" }), await played({ text: "Your number is" })];
    assert.deepEqual([right.reward, right.detail.accepted], [1, true]);
    assert.equal(wrong.detail.accepted, false);
    // all fields were right, and none is worth what an accepted form is
    assert.deepEqual([wrong.metrics.field_accuracy, wrong.metrics.task_completion], [1, 0]);
    assert.ok(posts() >= 6);
  });

  /** Plays a task by the oracle. @returns the outcome, and how often the policy was asked. */
  const counted = async (environment: PagesEnvironment, task: Task): Promise<[EpisodeOutcome, number]> => {
    const oracle = await environment.fixedPolicies.oracle?.(task, Rng.named(1, "oracle"));
    let asked = 0;
    const outcome = await environment.play(task, async (observation) => {
      asked++;
      return (oracle as NonNullable<typeof oracle>)(observation);
    });
    return [outcome, asked];
  };

  test("a fault is tried again with the answers that were given: the policy is not asked anew; a lasting one leaves the episode out", async (t) => {
    const { posts, environment } = await open(t, 3);
    // its three posts: the third of the first attempt fails, as every third does
    const [outcome, asked] = await counted(environment, cardOf(environment));
    assert.equal(posts(), 9);
    assert.deepEqual([outcome.reward, outcome.metrics, outcome.success, asked], [null, {}, false, 3]);
    assert.match(outcome.fault ?? "", /HTTP 500 for POST \/wizard\/library\/card-request/);
    const second = await open(t, 4);
    const task = cardOf(second.environment);
    await playWith(second.environment, "oracle", task);
    // the fourth post is the first of this episode
    const [again, askedAgain] = await counted(second.environment, task);
    assert.deepEqual([again.reward, askedAgain, second.posts()], [1, 3, 7]);
  });

  test("a policy's own failure is thrown, and one of its environment is a fault", async (t) => {
    const { environment } = await open(t);
    const [task] = environment.tasks as [Task];
    const attempt = environment.play(task, () => Promise.reject(new Error("a bug")));
    await assert.rejects(attempt, /a bug/);
    const away = await environment.play(task, () => Promise.reject(new EnvironmentFault("no model")));
    assert.deepEqual([away.reward, away.fault], [null, "no model"]);
  });
});

const asksFor = ({ template }: Observation, blank: string): boolean =>
  template?.parts.some((part) => typeof part !== "string" && part.name === blank) === true;

test("wizards: a template a turn, of the page that is there; one without fields asks whether to send it", async () => {
  const site = await wizard.start(wizard.schema.parse({ sizes: { train: 2, val: 0, test: 0, heldout: 0 } }));
  await using pages = closing(new PagesEnvironment(site, { ...FORMS_OPTIONS, environment: TURNS }));
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

const FORM = `<form method=post action=/send><label>Name <input name=n></label><label>Day <select name=d>
<option value="">choose<option>Monday<option>Friday</select></label><button>Send</button></form>`;

/** Rehearses a form of pages that learns from its site's verdict alone. @returns the notes and the error. */
async function proved(accepts: (body: string) => boolean): Promise<string> {
  const site = await servePages({ "/form": FORM }, ({ method, body }, response) => {
    if (method !== "POST") return false;
    response.writeHead(200, { "content-type": "text/html" }).end(accepts(body) ? "<p>Booked</p>" : `<p>No</p>${FORM}`);
    return true;
  });
  const task: Task = { ...taskFor("/form", { Name: "Ann" }), fields: {}, success: { text: "Booked" } };
  const environment = { ...TURNS, turns: 3 };
  const options = { ...FORMS_OPTIONS, plan: "template" as const, prompt: { style: "page" as const }, environment };
  const rehearsed = { ...site, tasks: () => [task], rehearse: 1 };
  await using pages = closing(new PagesEnvironment(rehearsed, options, REWARDS.verdict));
  const notes: string[] = [];
  const failed = await rehearse(pages, [task], (text) => void notes.push(text)).catch((error: Error) => error);
  return [...notes, (failed as Error | undefined)?.message ?? "fine"].join("\n");
}

test("pages whose verdict alone is learned from are sent empty and with random values, and have to refuse them", async () => {
  assert.match(await proved(() => true), /form accepts empty in 1 .*\n.*form accepts random values in 1 of 1/);
  assert.match(await proved((body) => body === "n=Ann&d=Friday"), /sent random values: 0 of 1 accepted.*\nfine$/);
});

async function playAll(faults: object): Promise<EpisodeOutcome[]> {
  const site = await wizard.start(wizard.schema.parse({ sizes: { train: 1, val: 0, test: 0, heldout: 0 } }));
  const browser = { ...FORMS_OPTIONS.browser, contexts: 2, inject_faults: injectedFaults.parse(faults) };
  await using pages = closing(new PagesEnvironment(site, { ...FORMS_OPTIONS, browser, environment: TURNS }));
  return await Promise.all(
    pages.tasks.slice(0, 4).map(async (task) => {
      const act = await pages.fixedPolicies.oracle?.(task, Rng.named(1, task.id));
      return pages.play(task, act as NonNullable<typeof act>);
    }),
  );
}

test("an answer that is late costs nothing; a fault that passes is played over with the same answers", async () => {
  for (const { reward } of await playAll({ rate: 1, kinds: ["delay"] })) assert.equal(reward, 1);
  // seed 3: of the first four episodes some meet a fault in their first attempt, none in all three
  const first = [0, 1, 2, 3].filter((i) => drawFault(injectedFaults.parse(MIXED), i, 0) !== undefined);
  assert.ok(first.length > 0);
  for (const { reward, fault } of await playAll(MIXED)) assert.deepEqual([reward, fault], [1, undefined]);
});

const MIXED = { rate: 0.5, kinds: ["kill", "drop"], seed: 3 };
