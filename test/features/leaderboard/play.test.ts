import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Leaderboard } from "../../../src/features/leaderboard/plan.js";
import { playLeaderboard, type Results } from "../../../src/features/leaderboard/play.js";
import { tablesOf } from "../../../src/features/leaderboard/table.js";
import { stopAfter } from "../../support/stop-after.js";
import { temporaryFolder } from "../../support/temporary.js";

const board: Leaderboard = {
  name: "small",
  seeds: [0],
  tuning: { seeds: [100], learning_rates: [0.01], widen: 0, split: "val" },
  splits: ["test"],
  kl_rollouts: 8,
  families: {
    refusion: {
      config: {
        model: "models/tiny-refusion",
        runtime: { provider: "cpu", threads: 1 },
        environment: { kind: "paper" },
        plan: "free",
        sampler: { kind: "unmask", rounds: 1, prompt_length: 56, response_length: 56 },
        training: { steps: 2, prompts_per_step: 2, group_size: 4, rollout_batch: 8 },
        evaluation: { episodes: 8 },
        checkpoint: { every: 1 },
        report: { rollouts: 0, screenshots: 0 },
        tracking: { tensorboard: false },
      },
      objectives: { "flow-grpo": { objective: { kl_coeff: 0 } } },
    },
  },
};

describe("a leaderboard", () => {
  const out = temporaryFolder("leaderboard");
  const said: string[] = [];
  const play = (changes: object = {}, of = board): Promise<Results> => {
    said.length = 0;
    const signal = new AbortController().signal;
    return playLeaderboard(of, { out, signal, say: (text) => void said.push(text), readOnly: false, ...changes });
  };

  it("interrupted, keeps what is finished; run again, goes on; run once more, repeats nothing", async () => {
    // the start, then the tuning run's first step
    const cut = await play({ signal: stopAfter(3) });
    assert.equal(cut.runs[0]?.result, undefined);
    assert.ok(existsSync(join(out, "refusion", "start.json")));
    assert.deepEqual([...cut.rates], []);

    const whole = await play();
    assert.ok(!said.some((text) => text.startsWith("refusion: the policy")));
    assert.equal(said.filter((text) => text.includes("(resumed)")).length, 1);
    assert.deepEqual([...whole.rates], [["refusion/flow-grpo", 0.01]]);
    const [tuned, reported] = whole.runs.map(({ result }) => result);
    assert.equal(tuned?.cpu_s, null);
    assert.ok((reported?.cpu_s as number) > 0 && (reported?.kl as number) > 0);
    assert.deepEqual([reported?.rollouts, reported?.updates], [16, 2]);
    const [table] = tablesOf(board, whole);
    assert.deepEqual(table?.missing, []);
    assert.equal(table?.rows[0]?.splits.test?.reward.mean, reported?.evaluations[0]?.reward.mean);

    assert.deepEqual(await play(), whole);
    assert.deepEqual(said, []);
    assert.deepEqual(await play({ readOnly: true }), whole);
  });

  it("refuses runs that another config made", async () => {
    const { refusion } = board.families;
    const other = { refusion: { ...refusion, config: { ...refusion?.config, evaluation: { episodes: 9 } } } };
    await assert.rejects(() => play({}, { ...board, families: other } as Leaderboard), /made by another config/);
  });
});
