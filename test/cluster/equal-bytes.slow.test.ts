import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { type ClusterCase, ClusterFolder } from "../support/cluster-run.js";
import { noRedis, TestRedis } from "../support/redis.js";
import { differences } from "../support/run-files.js";

const missing = noRedis();

/** What is compared with the local run of the same settings. */
const CASES: Readonly<Record<string, ClusterCase>> = {
  "rollouts and gradients": {},
  "only episodes, one turn": { distributed: ["distributed.jobs=[episodes]"] },
  "only episodes, three turns": { settings: ["environment.turns=3"], distributed: ["distributed.jobs=[episodes]"] },
  "rollouts of three turns, blobs in a folder": {
    settings: ["environment.turns=3", "environment.contexts=3"],
    distributed: ["distributed.blobs=FOLDER"],
  },
  "recorded old values, noise of the gradient": {
    objective: "flow-grpo",
    settings: ["training.gradient_noise_every=2"],
  },
};

describe("runs on workers end in the bytes of the local run", { skip: missing ?? false }, () => {
  let redis: TestRedis;
  let folder: ClusterFolder;
  before(async () => {
    redis = await TestRedis.start();
    folder = new ClusterFolder();
  });
  after(async () => {
    await folder.remove();
    await redis.stop();
  });
  afterEach(() => folder.end());

  for (const [name, of] of Object.entries(CASES)) {
    it(name, async (t) => {
      const id = name.replace(/\W+/g, "-");
      await folder.done(folder.local(`${id}-local`, of));
      const reference = folder.files(`${id}-local`);
      for (const workers of name === "rollouts and gradients" ? [1, 2, 4] : [2]) {
        const crew = Array.from({ length: workers }, () => folder.worker(redis));
        const run = `${id}-${workers}`;
        const distributed = of.distributed?.map((text) => text.replace("FOLDER", folder.path("blobs")));
        await folder.done(folder.coordinator(redis, run, { ...of, ...(distributed && { distributed }) }));
        assert.deepEqual(differences(reference, folder.files(run)), []);
        assert.ok(reference.size > 10, "something was compared");
        for (const worker of crew) worker.signal("SIGTERM");
        for (const worker of crew) assert.equal((await worker.ended).code, 0, worker.err);
        t.diagnostic(`${workers} workers: ${reference.size} files equal`);
      }
      // nothing of the runs stays but what a queue writes once more as it is left: its description, and a mark that expires
      const left = redis
        .cli("--scan")
        .split("\n")
        .filter((key) => key !== "" && !/:(?:meta|stalled-check)$/.test(key));
      assert.deepEqual(left, []);
    });
  }
});
