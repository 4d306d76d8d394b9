import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { EnvironmentTask } from "../../../src/env/environment.js";
import { writeRollouts } from "../../../src/runs/rollout-record.js";
import { answeredBy } from "../../../src/train/supervised/answered.js";
import { fakeEnvironment, trainTask } from "../../support/fake-environment.js";
import { rolloutRecord } from "../../support/rollout-record.js";
import { temporaryFolder } from "../../support/temporary.js";

/** Records an answer of two lines, `Name | Ann` and `Seat | Aisle`, each with its score. */
const answer = (task_id: string, step: number, rollout: number, ...lines: (readonly [string, string, number])[]) => {
  const response = lines.map(([name, value]) => `${name} | ${value}\n`).join("");
  const parts = lines.map(([name, value, reward], i) => {
    const before = lines.slice(0, i).map(([n, v]) => `${n} | ${v}\n`);
    const start = `${before.join("")}${name} | `.length;
    return { name, start, end: start + value.length + 1, reward };
  });
  return rolloutRecord({ task_id, step, rollout, turns: [{ prompt: "p", response, parts }] });
};

async function recorded(...steps: ReturnType<typeof answer>[][]): Promise<string> {
  const run = temporaryFolder("answered");
  mkdirSync(join(run, "rollouts"));
  writeFileSync(join(run, "config.yaml"), "");
  for (const [i, records] of steps.entries())
    await writeRollouts(join(run, "rollouts", `step-00000${i + 1}.jsonl`), records);
  return run;
}

const tasks = ["a", "b", "c"].map(trainTask);
const labelled: EnvironmentTask & { readonly fields: object } = { ...trainTask("e"), fields: { Name: "Di" } };
const environment = fakeEnvironment([...tasks, { ...trainTask("d"), split: "val" }, labelled], () => assert.fail());

test("a task's values are those of an accepted answer, else any that was not refused; one with an unknown value is left out, one with its own keeps them", async () => {
  const run = await recorded(
    [
      answer("a", 1, 0, ["Name", "Ann", 1], ["Seat", "Aisle", 0]),
      answer("b", 1, 1, ["Name", "Bo", 1], ["Seat", "Aisle", 0]),
      answer("e", 1, 2, ["Name", "Dan", 1], ["Seat", "Aisle", 1]),
    ],
    [answer("a", 2, 0, ["Name", "Eve", 0], ["Seat", "Window", 1])],
    [
      { ...answer("c", 3, 0, ["Name", "Cy", 1], ["Seat", "Aisle", 1]), success: false },
      { ...answer("c", 3, 1, ["Name", "Cyd", 1], ["Seat", "Aisle", 1]), success: true },
    ],
  );
  const notes: string[] = [];
  const answered = answeredBy(run, environment, (text) => void notes.push(text));
  const seen = answered.environment.tasks as readonly (EnvironmentTask & { readonly fields?: object })[];
  const values = Object.fromEntries(seen.map(({ id, fields }) => [id, fields]));
  const [a, c] = [{ Name: "Ann", Seat: "Window" }, { Name: "Cyd", Seat: "Aisle" } as const];
  assert.deepEqual(values, { a, c, d: undefined, e: { Name: "Di" } });
  assert.equal(seen.length, 4);
  assert.match(notes.join(), /gave all values of 2 of 3 training tasks; not found: Seat of 1 /);
  assert.equal(answered.hash, answeredBy(run, environment, () => undefined).hash);
});

test("a run that gives no task all its values is refused, and one that no task needs", async () => {
  const run = await recorded([answer("b", 1, 0, ["Name", "Bo", 1], ["Seat", "Aisle", 0])]);
  const of = (given: typeof environment) => () => answeredBy(run, given, () => undefined);
  assert.throws(of(environment), /No rollout of .* had all fields/);
  assert.throws(of({ ...environment, tasks: [labelled] }), /Every training task has values of its own/);
});
