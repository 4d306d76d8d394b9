import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { advantagesOf, objective as traceRl } from "../../../src/features/objectives/objectives/trace-rl.js";
import { train } from "../../../src/library/programs.js";
import type { LayoutContext } from "../../../src/rl/objective.js";
import { readMetrics } from "../../../src/runs/metrics.js";
import { temporaryFolder } from "../../support/temporary.js";
import { objectiveOptions } from "../../support/typed.js";

describe("trace-rl", () => {
  const dir = temporaryFolder("trace-rl");

  it("GAE over rounds by hand: two tokens, then one, and padding", () => {
    const batch = { owner: [0, 0, 0, -1], step: [0, 0, 1, -1] };
    const values = Float32Array.of(0.5, 1, 3, 9);
    const credit = Float32Array.of(2, 2, 2, 0);
    const of = (gamma: number, lambda: number) => {
      const { advantage, returns } = advantagesOf(batch, values, credit, { gamma, lambda });
      return [...advantage, ...returns];
    };
    assert.deepEqual(of(1, 1), [1.5, 1, -1, 0].concat(2, 2, 2, 0));
    assert.deepEqual(of(0.5, 0.5), [-0.5 + 1.5 - 0.25, -1 + 1.5 - 0.25, -1, 0].concat(1, 1, 2, 0));
  });

  it("joined rounds have no recorded values, and other samplers' steps are no rounds", () => {
    const round = (position: number) => ({ positions: [position], tokens: [7], logProbs: [-1], eosAllowed: [true] });
    const seen: unknown[] = [];
    const stepTerms = (paths: readonly object[]) => {
      seen.push(...paths);
      return { owner: [0], step: [0], logProb: Float32Array.of(-1) };
    };
    const context = { stepTerms } as unknown as LayoutContext;
    const layout = (path: object, shrink: number) =>
      traceRl.layout([path], objectiveOptions(traceRl, { shrink }), context);
    const path = { rounds: [round(2), round(0), round(1)] };
    assert.notEqual(layout(path, 1).logProb, undefined);
    assert.equal(layout(path, 2).logProb, undefined);
    const positions = (seen[1] as typeof path).rounds.map((of) => of.positions);
    assert.deepEqual(positions, [[0, 2], [1]]);
    assert.throws(() => layout({ response: [1] }, 2), /objective.shrink joins rounds of unmasking/);
  });

  it("begins as without a value, then learns one that changes the advantages", async () => {
    const run = async (value: boolean) => {
      const runDir = join(dir, String(value));
      await train(
        {
          model: "models/tiny-refusion-template",
          runtime: { provider: "cpu", threads: 1 },
          plan: "template",
          environment: { kind: "paper" },
          sampler: { kind: "unmask", rounds: 2, prompt_length: 56, response_length: 96, temperature: 1.5 },
          objective: { kind: "trace-rl", value },
          training: { steps: 2, prompts_per_step: 3, group_size: 4, num_iterations: 2, grad_clip: 1e9 },
          evaluation: { splits: [] },
          checkpoint: { every: 0 },
          report: { rollouts: 0, screenshots: 0 },
        },
        { runDir },
      );
      const of = readMetrics(join(runDir, "metrics.jsonl"));
      const extra = (name: string) => of.map((line) => (line.extra?.[name] as number | undefined) ?? 0);
      const policy = of.map(({ loss }, t) => (loss as number) - (extra("value_loss")[t] as number));
      return { policy, error: extra("value_error"), square: extra("return_square") };
    };
    const [without, learned] = [await run(false), await run(true)];
    const near = (a: number | undefined, b: number | undefined) => Math.abs((a as number) - (b as number)) < 1e-5;
    // old values are those before the update in both of its iterations
    const shown = JSON.stringify({ learned, without });
    assert.ok(near(learned.error[0], learned.square[0]) && near(learned.policy[0], without.policy[0]), shown);
    assert.ok(!near(learned.error[1], learned.square[1]) && !near(learned.policy[1], without.policy[1]), shown);
  });
});
