import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import type { Environment, EpisodeOutcome, FixedPolicy, Split } from "../../../src/env/environment.js";
import { environment as control } from "../../../src/features/control/environments/control.js";
import { openSimulator } from "../../../src/features/control/simulator/simulator.js";
import { userError } from "../../support/user-error.js";

const environment = await control.open({ environment: { kind: "control", train_tasks: 8 } });
after(() => environment.close());
type Start = Environment["tasks"][number];

describe("the control environment", () => {
  const first = (split: Split, count: number): Environment["tasks"] =>
    environment.tasks.filter((task) => task.split === split).slice(0, count);
  const played = async (name: string, tasks: Environment["tasks"]): Promise<EpisodeOutcome[]> =>
    Promise.all(
      tasks.map(async (task) => {
        const policy = environment.fixedPolicies[name] as FixedPolicy;
        return environment.play(task, await policy(task, Rng.named(1, task.id)), new Map());
      }),
    );

  it("has start states of every split, of which no two are the same, and the same for every run", async () => {
    const counts = new Map<string, object[]>();
    for (const task of environment.tasks) counts.set(task.split, [...(counts.get(task.split) ?? []), task]);
    const sizes = Object.fromEntries([...counts].map(([split, tasks]) => [split, tasks.length]));
    assert.deepEqual(sizes, { train: 8, val: 64, test: 256, heldout: 256 });
    const starts = environment.tasks.map((task) => JSON.stringify((task as unknown as { start: object }).start));
    assert.equal(new Set(starts).size, starts.length);
    const again = await control.open({ environment: { kind: "control", train_tasks: 8 } });
    const other = await control.open({ environment: { kind: "control", train_tasks: 8, seed: 1 } });
    assert.equal(again.splitHash(), environment.splitHash());
    assert.notEqual(other.splitHash(), environment.splitHash());
    await Promise.all([again.close(), other.close()]);
    assert.ok(first("heldout", 256).every(({ form }) => form.startsWith("outside")));
    assert.ok(first("test", 256).every(({ form }) => !form.startsWith("outside")));
  });

  it("is solved by the expert, and not by chance", async () => {
    const tasks = [...first("test", 10), ...first("heldout", 4)];
    assert.ok((await played("oracle", tasks)).every(({ success, reward }) => success && reward === 1));
    assert.ok((await played("random", tasks)).every(({ success, reward }) => !success && reward === 0));
  });

  it("goes the same way twice, whatever is played beside it", async () => {
    const [task] = first("test", 1) as [Start];
    const [alone] = (await played("random", [task])) as [EpisodeOutcome];
    const [beside] = await played("random", [task, ...first("val", 3)]);
    assert.deepEqual(beside, alone);
    const path = alone.detail.path as unknown[];
    assert.ok(path.length > 2);
    assert.equal(control.view?.(alone.detail)[0]?.rows.length, path.length);
    const { svg = "" } = control.drawing?.(alone.detail) ?? {};
    assert.equal(svg.match(/<circle/g)?.length, 8, "a can a frame");
    assert.match(svg, /^<svg [^>]*>.*<\/svg>$/);
    assert.doesNotMatch(svg, /NaN|undefined/);
    assert.equal(control.drawing?.({ path: "<script>" }), undefined);
  });

  it("demonstrates a chunk from every control step", () => {
    const [task] = first("train", 1) as [Start];
    const shown = environment.demonstrations?.([task]) ?? [];
    assert.ok(shown.length > 20 && shown.length < 100);
    const vectors = shown.map(({ action }) => [...(action.vector ?? [])]);
    assert.ok(vectors.every((vector) => vector.length === 16 && vector.every((a) => Math.abs(a) <= 1)));
    assert.deepEqual(vectors[0]?.slice(4, 8), vectors[1]?.slice(0, 4));
    assert.ok(shown.every(({ observation }) => observation.vectors?.state?.length === 14));
  });

  it("shows a depth image where it is asked to, the same one every time, and plays no differently for it", async () => {
    const section = { kind: "control", train_tasks: 8, state: "proprioceptive", depth: 16 };
    const seeing = await control.open({ environment: section });
    after(() => seeing.close());
    assert.deepEqual(seeing.spaces, { observation: { state: [7], depth: [16, 16] }, action: [4, 4] });
    const [task, other] = first("test", 2) as [Start, Start];
    const watched = async (of: Start): Promise<{ images: Float32Array[]; detail: object }> => {
      const images: Float32Array[] = [];
      const act = await (seeing.fixedPolicies.oracle as FixedPolicy)(of, Rng.named(1, of.id));
      const watch: typeof act = async (observation) => {
        assert.equal(observation.vectors?.state?.length, 7);
        images.push(observation.vectors?.depth as Float32Array);
        return act(observation);
      };
      const { detail } = await seeing.play(of, watch, new Map());
      return { images, detail };
    };
    const [one, [again, beside]] = [await watched(task), await Promise.all([watched(task), watched(other)])];
    assert.deepEqual(one, again);
    assert.notDeepEqual(one.images[0], beside.images[0], "the can stands elsewhere");
    for (const image of one.images) {
      assert.equal(image.length, 256);
      assert.ok(image.every((x) => x > 0.2 && x <= 1 && Number.isInteger(1024 * x)));
    }
    const [blind] = await played("oracle", [task]);
    assert.deepEqual(one.detail, blind?.detail);
  });

  it("pays for stages and for speed where it is asked to, and success most", async () => {
    const [task] = first("test", 1) as [Start];
    const earned = async (section: object, policy: string): Promise<number> => {
      const other = await control.open({ environment: { kind: "control", train_tasks: 8, ...section } });
      const act = await (other.fixedPolicies[policy] as FixedPolicy)(task, Rng.named(1, task.id));
      const { reward, metrics } = await other.play(task, act, new Map());
      await other.close();
      assert.ok((metrics.control_steps as number) > 0);
      return reward as number;
    };
    const chance = await earned({ reward: "staged" }, "random");
    const cut = await earned({ reward: "staged", horizon: 30 }, "oracle");
    assert.ok(0 < chance && chance < 0.25 && 0.5 < cut && cut < 0.75, `${chance} ${cut}`);
    assert.equal(await earned({ reward: "staged" }, "oracle"), 1);
    const [outcome] = (await played("oracle", [task])) as [EpisodeOutcome];
    const steps = outcome.metrics.control_steps as number;
    assert.ok(Math.abs((await earned({ discount: 0.9 }, "oracle")) - 0.9 ** steps) < 1e-12);
  });

  it("says what to install where the simulator is not", async () => {
    const opened = openSimulator(0, () => Promise.reject(new Error("Cannot find package")));
    await assert.rejects(opened, userError(/not installed/, { hint: /npm install/ }));
  });

  it("says what it wants where it is answered by a text", async () => {
    const [task] = first("test", 1) as [Start];
    const attempt = environment.play(task, async () => ({ text: "left" }), new Map());
    await assert.rejects(attempt, /vectors of actions/);
  });
});
