import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { readMetrics } from "../../../src/runs/metrics.js";
import { noRedis, TestRedis } from "../../support/redis.js";
import { differences } from "../../support/run-files.js";
import { type ClusterCase, ClusterFolder } from "./cluster-run.js";

const missing = noRedis();

/** What is compared with the local run of the same settings, by how many workers. */
const CASES: readonly [name: string, of: ClusterCase, workers: number][] = [
  [
    "rollouts of three turns and gradients, blobs in a folder, four workers",
    {
      settings: ["training.steps=2", "environment.turns=3", "environment.contexts=3"],
      distributed: ["distributed.blobs=FOLDER"],
    },
    4,
  ],
  [
    "only episodes, three turns",
    { settings: ["training.steps=2", "environment.turns=3"], distributed: ["distributed.jobs=[episodes]"] },
    2,
  ],
  [
    "recorded old values, noise of the gradient",
    { objective: "flow-grpo", settings: ["training.steps=2", "training.gradient_noise_every=2"] },
    2,
  ],
];

describe("runs on workers end in the bytes of the local run", { skip: missing ?? false }, () => {
  let redis: TestRedis;
  const folder = new ClusterFolder();
  const locals = new Map<string, Promise<ReturnType<ClusterFolder["files"]>>>();
  before(async () => {
    redis = await TestRedis.start();
  });
  after(() => folder.remove());
  after(() => redis.stop());
  afterEach(() => folder.end());

  /** The local run of a case's settings, once. */
  const local = ({ objective, settings }: ClusterCase): Promise<ReturnType<ClusterFolder["files"]>> => {
    const key = JSON.stringify([objective, settings]);
    const name = `local-${locals.size}`;
    const run = async (): Promise<ReturnType<ClusterFolder["files"]>> => {
      await folder.done(folder.local(name, { ...(objective && { objective }), ...(settings && { settings }) }));
      return folder.files(name);
    };
    const known = locals.get(key) ?? run();
    locals.set(key, known);
    return known;
  };

  const keys = (): string[] => redis.cli("--scan").split("\n").filter(Boolean);

  for (const [name, of, workers] of CASES) {
    it(name, async () => {
      await folder.crew(redis, workers);
      const reference = await local(of);
      const run = name.replace(/\W+/g, "-");
      // a copy for a slow worker would leave a result that nobody asks for
      const given = ["distributed.slow=0", ...(of.distributed ?? [])];
      const distributed = given.map((text) => text.replace("FOLDER", folder.path("blobs")));
      await folder.done(folder.coordinator(redis, run, { ...of, distributed }));
      assert.deepEqual(differences(reference, folder.files(run)), []);
      assert.ok(reference.size > 10, "something was compared");
    });
  }

  it("rollouts of an older policy: the same run twice, once killed and resumed", async () => {
    assert.ok(!keys().some((key) => key.includes(":blob:")), "those of the runs before are gone");
    await folder.crew(redis, 2);
    const of: ClusterCase = {
      settings: ["training.steps=3", "objective.importance_cap=2", "evaluation.splits=[]", "evaluation.every=0"],
      distributed: ["distributed.staleness=2", "distributed.slow=0"],
    };
    await folder.done(folder.coordinator(redis, "stale", of));
    const rows = readMetrics(folder.path("stale/metrics.jsonl"));
    assert.equal(rows.map(({ extra }) => extra?.staleness).join(), "0,1,2");
    assert.equal(rows[0]?.extra?.importance_weight, null);
    const weights = rows.slice(1).map(({ extra }) => extra?.importance_weight as number);
    assert.ok(
      weights.every((weight) => weight > 0 && weight <= 2 && weight !== 1),
      `${weights}`,
    );
    const killed = folder.coordinator(redis, "stale-killed", of);
    while (!existsSync(folder.path(join("stale-killed", "checkpoints", "step-000001")))) {
      assert.ok(killed.running, killed.err);
      await sleep(20);
    }
    killed.killGroup();
    await killed.ended;
    await folder.done(folder.coordinator(redis, "stale-killed", of));
    assert.deepEqual(differences(folder.files("stale"), folder.files("stale-killed")), []);
  });

  it("whose workers end when they are told to", () => folder.dismiss());

  it("leave nothing in Redis", () => {
    // but what a queue writes once more as it is left: its description, and a mark that expires; and the blobs of the
    // coordinator that was killed, which expire
    const left = keys().filter((key) => !/:(?:meta|stalled-check)$|:blob:/.test(key));
    assert.deepEqual(left, []);
  });
});
