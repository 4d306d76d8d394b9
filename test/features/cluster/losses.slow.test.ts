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
  after(async () => {
    await folder.remove();
    await redis.stop();
  });
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

  it("a worker that is killed in each step", async () => {
    const run = start("worker");
    let doomed = folder.worker(redis);
    for (const wanted of [1, 2]) {
      assert.ok(await doomed.says(/works for/), doomed.err);
      await step("worker", wanted, run);
      await sleep(300);
      doomed.killGroup();
      doomed = folder.worker(redis);
    }
    await folder.done(run);
    same("worker");
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
    const run = start("redis");
    await step("redis", 1, run);
    await redis.down("SIGKILL");
    await sleep(3000);
    await redis.up();
    await folder.done(run);
    same("redis");
    assert.match(run.err, /is back/);
  });

  it("Redis that forgets everything", async () => {
    const run = start("forgets");
    await step("forgets", 1, run);
    redis.cli("flushall");
    await folder.done(run);
    same("forgets");
  });

  it("blobs", async () => {
    const run = start("blobs");
    for (const wanted of [1, 2]) {
      await step("blobs", wanted, run);
      for (const key of redis.cli("--scan", "--pattern", "refusion:blob:*").split("\n")) {
        // one half is gone, the other is damaged
        if (key !== "") redis.cli(...(Number.parseInt(key.slice(-1), 16) % 2 ? ["del", key] : ["set", key, "x"]));
      }
    }
    await folder.done(run);
    same("blobs");
  });

  it("the link, for seconds", async () => {
    folder.worker(redis);
    const run = start("link");
    for (const wanted of [1, 2]) {
      await step("link", wanted, run);
      redis.cli("client", "kill", "type", "normal");
      redis.cli("client", "pause", "2500");
    }
    await folder.done(run);
    same("link");
  });

  it("a worker that stands still: its job goes to another", async () => {
    const still = folder.worker(redis);
    const run = start("still");
    assert.ok(await still.says(/works for/), still.err);
    await step("still", 1, run);
    still.signal("SIGSTOP");
    await folder.done(run);
    same("still");
  });
});
