import assert from "node:assert/strict";
import { test } from "node:test";
import type { Environment } from "../../../src/env/environment.js";
import { demonstrationsOf } from "../../../src/train/supervised/supervision.js";
import { echoEnvironment } from "../../support/echo.js";

test("without demonstrations the oracle plays: every turn of an episode that succeeds is an example, in the tasks' order", async () => {
  const environment = echoEnvironment();
  const tasks = environment.tasks.slice(0, 2);
  const done: number[] = [];
  const shown = await demonstrationsOf(environment, tasks, (n) => done.push(n));
  assert.deepEqual(
    shown.map(({ id, action }) => [id, action.text]),
    [
      ["echo/train/0", "fill Name | garden"],
      ["echo/train/0", "fill Name | library"],
      ["echo/train/0", "fill Name | museum"],
      ["echo/train/1", "fill Name | library"],
      ["echo/train/1", "fill Name | museum"],
      ["echo/train/1", "fill Name | bakery"],
    ],
  );
  assert.equal(shown[1]?.observation.text, "form: library\n Name | library\n\n");
  assert.deepEqual(done, [1, 2]);
});

test("an episode that the oracle loses, or that faults, is no example; none at all is an error, as is no oracle", async () => {
  const oracle = (wrong: string) => async () => async () => ({ text: wrong });
  const own = (fixedPolicies: Environment["fixedPolicies"]): Environment => ({ ...echoEnvironment(), fixedPolicies });
  const rejected = (environment: Environment, message: RegExp): Promise<void> =>
    assert.rejects(demonstrationsOf(environment, environment.tasks.slice(0, 2)), { name: "UserError", message });
  await rejected(own({ oracle: oracle("fill Name | nobody") }), /succeeded in none of 2/);
  await rejected(own({ oracle: oracle("break") }), /succeeded in none of 2/);
  await rejected(own({}), /no oracle/);
});
