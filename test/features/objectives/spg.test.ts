import assert from "node:assert/strict";
import { test } from "node:test";
import { objective as spg } from "../../../src/features/objectives/objectives/spg.js";
import { stepOf } from "../../support/objective-case.js";
import { cpuRuntime } from "../../support/temporary.js";
import { objectiveOptions } from "../../support/typed.js";

const runtime = await cpuRuntime();

test("omega is the share of the upper bound: none at 0, where beta changes nothing, and linear in between", async () => {
  const loss = async (omega: number, beta = 1.5): Promise<number> => {
    const parts = await stepOf(runtime, spg, objectiveOptions(spg, { omega, beta }));
    return parts.reduce((sum, { loss: [of = 0] = [] }) => sum + of, 0);
  };
  const [none, some, all] = [await loss(0), await loss(0.25), await loss(1)];
  assert.equal(await loss(0, 3), none);
  assert.notEqual(await loss(1, 3), all);
  assert.ok(Math.abs(some - (0.75 * none + 0.25 * all)) < 1e-5 && Math.abs(all - none) > 1e-2, `${[none, some, all]}`);
});
