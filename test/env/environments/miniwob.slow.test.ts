import assert from "node:assert/strict";
import { test } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import { environment, MiniWob } from "../../../src/env/environments/miniwob.js";
import { SOLVERS } from "../../../src/env/miniwob/oracle.js";

const path = process.env.MINIWOB_HTML;
const skip = path === undefined ? "set MINIWOB_HTML to the folder miniwob/html of the wheel miniwob==1.1.0" : false;

test("the oracle scores 1 on at least 25 task pages, and a seed is the same goal again", { skip }, async () => {
  const options = environment.schema.parse({
    path,
    tasks: Object.keys(SOLVERS),
    sizes: { train: 2, val: 0, test: 0, heldout: 0 },
  });
  const opened = await MiniWob.open(options as Parameters<typeof MiniWob.open>[0]);
  try {
    const perfect = new Map<string, boolean>();
    const goals = new Map<string, string>();
    for (const again of [false, true]) {
      await Promise.all(
        opened.tasks.map(async (task) => {
          const act = await opened.fixedPolicies[again ? "empty" : "oracle"]?.(task, Rng.named(1, task.id));
          let first = "";
          const { reward, fault } = await opened.play(task, async (observation) => {
            if (first === "") first = /\ngoal: (.*)/.exec(observation.text ?? "")?.[1] ?? "";
            return (act as NonNullable<typeof act>)(observation);
          });
          assert.equal(fault, undefined);
          if (again) {
            assert.equal(first, goals.get(task.id));
            assert.equal(reward, 0);
          } else {
            goals.set(task.id, first);
            perfect.set(task.form, (perfect.get(task.form) ?? true) && reward === 1);
          }
        }),
      );
    }
    const solved = [...perfect].filter(([, all]) => all).map(([form]) => form);
    assert.ok(solved.length >= 25, `${solved.length}: ${solved.join(", ")}`);
  } finally {
    await opened.close();
  }
});
