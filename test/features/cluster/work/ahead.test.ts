import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AheadGroups } from "../../../../src/features/cluster/work/ahead.js";
import { f32 } from "../../../../src/onnx/tensors.js";
import type { Tensor } from "../../../../src/onnx/types.js";
import type { Collect } from "../../../../src/train/rollouts/collect.js";
import type { PlayedSource, StepGroups } from "../../../../src/train/rollouts/step-groups.js";
import { only } from "../../../support/typed.js";

type Parameters = ReadonlyMap<string, Tensor>;

const policyAfter = (steps: number): Parameters => new Map([["w", f32([1], Float32Array.of(steps))]]);
const stepsOf = (parameters: Parameters | undefined): number | undefined => parameters?.get("w")?.data[0] as number;

/** A run whose policy after n steps is n, and what was asked of its workers. */
function run(lag: number, steps: number, from?: { step: number; groups: Record<string, Map<string, Tensor>> }) {
  const sampled: [step: number, policy: number | undefined][] = [];
  const pinned = new Set<number>();
  const policies = new Map<unknown, number | undefined>();
  let policy = from?.step ?? 0;
  const played = {
    drawn: 10 * policy,
    async collect(step: number, collect: Collect) {
      sampled.push([step, policies.get(collect)]);
      played.drawn += 10;
      return only<StepGroups>({ groups: [], generating: step });
    },
  };
  const pin = async (parameters: Parameters) => {
    const version = stepsOf(parameters) as number;
    const collect: Collect = async () => assert.fail("the source collects");
    policies.set(collect, version);
    pinned.add(version);
    return { collect, release: async () => void pinned.delete(version) };
  };
  const now = async () => policyAfter(policy);
  const source = new AheadGroups(lag, steps, played as unknown as PlayedSource, pin, now, from);
  return {
    source,
    sampled,
    pinned,
    /** Trains steps; what each learned from. */
    async train(through: number) {
      const told: [step: number, of: number, lag: number | undefined, older: number | undefined, drawn: number][] = [];
      while (policy < through) {
        const { generating, sampled: by } = await source.collect(policy + 1);
        told.push([policy + 1, generating, by?.lag, stepsOf(by?.parameters), source.drawn]);
        policy++;
      }
      return told;
    },
  };
}

describe("rollouts that are sampled ahead", () => {
  it("are of the policy of k steps ago, whatever the time; the cursor is that of the step that is trained", async () => {
    const { source, train, sampled, pinned } = run(2, 6);
    assert.deepEqual(await train(6), [
      [1, 1, 0, undefined, 10],
      [2, 2, 1, 0, 20],
      [3, 3, 2, 0, 30],
      [4, 4, 2, 1, 40],
      [5, 5, 2, 2, 50],
      [6, 6, 2, 3, 60],
    ]);
    const expected = [0, 0, 0, 1, 2, 3].map((of, i) => [i + 1, of]);
    assert.deepEqual(sampled, expected, "and no step after the last");
    assert.deepEqual([...pinned], [4, 5]);
    assert.equal(source.drawn, 60);
  });

  it("waits for the policy that is to sample: never further ahead than k", async () => {
    const { source, sampled } = run(1, 9);
    await source.collect(1);
    await new Promise(setImmediate);
    assert.deepEqual(sampled, [
      [1, 0],
      [2, 0],
    ]);
  });

  it("goes on from a checkpoint with the policies that it keeps, as if nothing had been", async () => {
    const whole = run(2, 8);
    await whole.train(4);
    const kept = whole.source.kept(4);
    assert.deepEqual(Object.keys(kept).sort(), ["older-1", "older-2"]);
    const rest = await whole.train(8);
    const resumed = run(2, 8, { step: 4, groups: kept });
    assert.deepEqual(await resumed.train(8), rest);
    assert.deepEqual(resumed.sampled, whole.sampled.slice(4));
    // one that keeps none has the present policy to begin with
    const actual = (await run(2, 8, { step: 4, groups: {} }).train(6)).map(([, , lag]) => lag);
    assert.deepEqual(actual, [0, 1]);
  });

  it("reports a failure at the step that needs it", async () => {
    const { source } = run(1, 3);
    const failing = source as unknown as { played: { collect(step: number): Promise<unknown> } };
    const { played } = failing;
    const collect = played.collect.bind(played);
    played.collect = async (step, ...rest) =>
      step === 2 ? Promise.reject(new Error("no worker")) : collect(step, ...rest);
    await source.collect(1);
    await assert.rejects(source.collect(2), /no worker/);
  });
});
