import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { CliProcess } from "../../support/cli-process.js";
import { noRedis, TestRedis } from "../../support/redis.js";
import { differences } from "../../support/run-files.js";
import { ClusterFolder } from "./cluster-run.js";

const missing = noRedis();
/** Long enough that a step can be met in its middle. */
const SETTINGS = ["environment.least_ms=100", "environment.most_ms=600"];

describe("what is lost is made up for, in the same bytes", { skip: missing ?? false }, () => {
  let redis: TestRedis;
  const folder = new ClusterFolder();
  let reference: ReturnType<ClusterFolder["files"]>;
  before(async () => {
    redis = await TestRedis.start();
    // one that nothing befalls, in every case
    await folder.crew(redis, 1);
    await folder.done(folder.local("local", { settings: SETTINGS }));
    reference = folder.files("local");
  });
  after(() => folder.remove());
  after(() => redis.stop());
  afterEach(() => folder.end());

  const start = (name: string): CliProcess => folder.coordinator(redis, name, { settings: SETTINGS });
  const same = (name: string): void => assert.deepEqual(differences(reference, folder.files(name)), []);
  /** Until a step is in the run's metrics. */
  const step = async (name: string, wanted: number, run: CliProcess): Promise<void> => {
    const path = folder.path(join(name, "metrics.jsonl"));
    while (!(existsSync(path) && readFileSync(path, "utf8").split("\n").length > wanted)) {
      assert.ok(run.running, run.err);
      await sleep(50);
    }
  };

  /** Disturbs a run after each of so many steps; it has to end as if nothing had been. @param says what it prints of it. */
  const survives = async (name: string, steps: number, disturb: () => unknown, says = /^/): Promise<void> => {
    const run = start(name);
    for (let wanted = 1; wanted <= steps; wanted++) {
      await step(name, wanted, run);
      await disturb();
    }
    await folder.done(run);
    same(name);
    assert.match(run.err, says);
  };

  it("a worker that is killed in each step", async () => {
    let doomed = folder.worker(redis);
    await survives("worker", 2, async () => {
      assert.ok(await doomed.says(/works for/), doomed.err);
      await sleep(300);
      doomed.killGroup();
      doomed = folder.worker(redis);
    });
  });

  it("a coordinator that is killed, and resumed", async () => {
    const run = start("coordinator");
    await step("coordinator", 1, run);
    await sleep(300);
    run.killGroup();
    await run.ended;
    await folder.done(start("coordinator"));
    same("coordinator");
  });

  it("Redis that is killed and comes back with its file", async () => {
    const restart = async (): Promise<void> => {
      await redis.down("SIGKILL");
      await sleep(3000);
      await redis.up();
    };
    await survives("redis", 1, restart, /is back/);
  });

  it("Redis that forgets everything", () => survives("forgets", 1, () => redis.cli("flushall")));

  it("blobs", () =>
    survives("blobs", 2, () => {
      for (const key of redis.cli("--scan", "--pattern", "refusion:blob:*").split("\n")) {
        // one half is gone, the other is damaged
        if (key !== "") redis.cli(...(Number.parseInt(key.slice(-1), 16) % 2 ? ["del", key] : ["set", key, "x"]));
      }
    }));

  it("the link, for seconds", async () => {
    folder.worker(redis);
    await survives("link", 2, () => {
      redis.cli("client", "kill", "type", "normal");
      redis.cli("client", "pause", "2500");
    });
  });

  it("a worker that stands still: its job goes to another", async () => {
    const still = folder.worker(redis);
    await survives("still", 1, async () => {
      assert.ok(await still.says(/works for/), still.err);
      still.signal("SIGSTOP");
    });
  });
});
