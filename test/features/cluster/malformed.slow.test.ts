import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import { sha256 } from "../../../src/core/files.js";
import { encode } from "../../../src/features/cluster/queue/codec.js";
import { deciding } from "../../../src/features/cluster/work/options.js";
import { noRedis, TestRedis } from "../../support/redis.js";
import { differences } from "../../support/run-files.js";
import { ClusterFolder } from "./cluster-run.js";

const missing = noRedis();
const sha = "a".repeat(64);

describe("malformed messages in Redis", { skip: missing ?? false }, () => {
  let server: TestRedis;
  const folder = new ClusterFolder();
  let redis: Redis;
  before(async () => {
    server = await TestRedis.start();
    redis = new Redis(server.port, "127.0.0.1");
  });
  after(() => redis.disconnect());
  after(() => folder.remove());
  after(() => server.stop());
  beforeEach(() => redis.flushall());
  afterEach(() => folder.end());

  const valid = {
    ...{ run: "r", name: "r", versions: deciding(), hashes: {}, modules: {}, jobs: ["gradients"] },
    ...{ config: sha, blobs: null as string | null, lease: 5 },
  };
  async function announce(run: string, text: string | Buffer): Promise<void> {
    await redis.set(`refusion:run:${run}`, text);
    await redis.sadd("refusion:runs", run);
  }
  const blob = async (bytes: Buffer): Promise<string> => {
    await redis.set(`refusion:blob:${sha256(bytes)}`, bytes);
    return sha256(bytes);
  };

  it("announcements and configs end no worker, and are refused by name without a line of any file", async () => {
    const secret = folder.path("secret.txt");
    writeFileSync(secret, "the-secret-line: 1\nsecond-secret-line\n");
    const victim = folder.path("victim.txt");
    writeFileSync(victim, "here\n");
    mkdirSync(folder.path("blobs"));
    writeFileSync(folder.path("danger.mjs"), `import { writeFileSync } from "node:fs"; writeFileSync("ran", "");`);
    const worker = folder.worker(server);
    assert.ok(await worker.says(/waiting for runs/), worker.err);
    const malformed: Record<string, string> = {
      "not-json": "{",
      nothing: "null",
      number: "7",
      text: '"x"',
      list: "[]",
      empty: "{}",
      "other-run": JSON.stringify({ ...valid, run: "elsewhere" }),
      // protocol.test.ts has further ones
      "config-path": JSON.stringify({ ...valid, run: "config-path", config: "../victim.txt" }),
      "lease-huge": JSON.stringify({ ...valid, run: "lease-huge", lease: 1e308 }),
      "jobs-odd": JSON.stringify({ ...valid, run: "jobs-odd", jobs: ["sweep"] }),
      "jobs-text": JSON.stringify({ ...valid, run: "jobs-text", jobs: "gradients" }),
      "versions-odd": JSON.stringify({ ...valid, run: "versions-odd", versions: { a: {} } }),
      "name-steers": JSON.stringify({ ...valid, run: "name-steers", name: "\u001b[2J" }),
      long: "x".repeat(1 << 20),
      deep: "[".repeat(50_000),
      bytes: "\ufffd\u0000",
    };
    for (const [run, text] of Object.entries(malformed)) await announce(run, text);
    await announce("a b\u001b[2J", "{}");
    await redis.sadd("refusion:runs", "wrong-type");
    await redis.rpush("refusion:run:wrong-type", "x");
    for (const run of [...Object.keys(malformed), "wrong-type"])
      assert.ok(await worker.says(new RegExp(`refused: the announcement of ${run} is `)), `${run}: ${worker.err}`);
    // configs: well-formed announcements of blobs that are none
    const here = { seed: 1, objective: { kind: "espo" } };
    const configs: Record<string, Buffer> = {
      "c-not-json": Buffer.from("root:x:0:0"),
      "c-null": Buffer.from("null"),
      "c-empty": Buffer.from("{}"),
      "c-objective": Buffer.from(JSON.stringify({ ...here, model: "x", objective: "espo" })),
      "c-model": Buffer.from(JSON.stringify({ ...here, model: secret })),
      "c-unknown": Buffer.from(JSON.stringify({ ...here, model: "models/tiny-refusion", surprise: 1 })),
      "c-binary": Buffer.from([0xff, 0xfe, 0]),
    };
    for (const [run, bytes] of Object.entries(configs))
      await announce(run, JSON.stringify({ ...valid, run, name: run, config: await blob(bytes) }));
    const tasks = { ...here, model: "models/tiny-refusion", environment: { kind: "forms" }, site: { tasks: secret } };
    const bytes = Buffer.from(JSON.stringify(tasks));
    const blobs = folder.path("blobs");
    writeFileSync(join(blobs, `${sha256(bytes)}.blob`), bytes);
    for (const [run, folderOf] of Object.entries({ "c-tasks": blobs, "c-no-folder": "/proc/self/mem" })) {
      const own = { run, name: run, jobs: ["episodes"], blobs: folderOf, config: sha256(bytes) };
      await announce(run, JSON.stringify({ ...valid, ...own }));
    }
    for (const run of [...Object.keys(configs), "c-tasks"])
      assert.ok(await worker.says(new RegExp(`does not work for ${run}:`)), `${run}: ${worker.err}`);
    assert.doesNotMatch(worker.err + worker.out, /secret-line|root:x/);
    assert.ok(!worker.err.includes("\u001b"), "nothing steers the terminal");
    const keys = async (): Promise<string[]> => redis.keys("refusion:run:*:worker:*");
    while ((await keys()).length < Object.keys(configs).length) assert.ok(worker.running, worker.err);
    const beats = await Promise.all((await keys()).map((key) => redis.get(key)));
    assert.doesNotMatch(beats.join(""), /secret-line|root:x/);
    assert.equal(readFileSync(victim, "utf8"), "here\n");
    // a key of the list itself
    await redis.set("refusion:runs", "no list");
    assert.ok(await worker.says(/WRONGTYPE/), worker.err);
    await redis.del("refusion:runs");
    assert.ok(worker.running, worker.err);
    worker.signal("SIGTERM");
    assert.equal((await worker.ended).code, 0);
  });

  it("a worker loads no module that a run names, but with a flag and where it is the coordinator's", async () => {
    writeFileSync(folder.path("danger.mjs"), `import { writeFileSync } from "node:fs"; writeFileSync("ran", "");`);
    const config = Buffer.from(JSON.stringify({ model: "models/tiny-refusion", objective: { kind: "./danger.mjs" } }));
    const offered = { ...valid, run: "danger", name: "danger", config: await blob(config) };
    await announce("danger", JSON.stringify(offered));
    const start = (args: string[]) => folder.start(["worker", "--redis", server.url, "--name", "own", ...args]);
    const careful = start([]);
    const named = /names code of this machine \(\.\/danger\.mjs\): start .*--allow-modules/;
    assert.ok(await careful.says(named), careful.err);
    const allowed = start(["--allow-modules", "--jobs", "gradients"]);
    assert.ok(await allowed.says(/the module \.\/danger\.mjs here is not the coordinator's/), allowed.err);
    assert.equal(existsSync(folder.path("ran")), false);
    const hash = sha256(readFileSync(folder.path("danger.mjs")));
    await announce("danger", JSON.stringify({ ...offered, modules: { "./danger.mjs": hash } }));
    assert.ok(await allowed.says(/its config cannot be opened/), allowed.err);
    assert.equal(existsSync(folder.path("ran")), true);
    for (const child of [careful, allowed]) child.signal("SIGTERM");
    for (const child of [careful, allowed]) assert.equal((await child.ended).code, 0, child.err);
  });

  it("an objective of the user's that throws ends its job, is told, and leaves the worker", async () => {
    const espo = "./node_modules/refusion-train/dist/src/rl/objectives/espo.js";
    writeFileSync(
      folder.path("throws.mjs"),
      `import { objective as espo } from "${espo}";
      const loss = (...of) => { if (process.env.THROWS) throw new TypeError("the user's own mistake"); return espo.loss(...of); };
      export const objective = { ...espo, name: "throws", loss };`,
    );
    const run = folder.start([
      ...["train", "--config", "run.yaml", "--run-dir", "throws", "objective.kind=./throws.mjs"],
      ...[`distributed.redis=${server.url}`, "distributed.jobs=[gradients]"],
    ]);
    const worker = folder.worker(server, [], { THROWS: "1" });
    const { code, err } = await run.ended;
    assert.equal(code, 1, err);
    assert.match(err, /The workers failed at gradients .*the user's own mistake/);
    assert.match(worker.err, /gradients .* failed: .*the user's own mistake/);
    assert.ok(worker.running, worker.err);
  });

  it("Ctrl-C ends a coordinator that has no worker", async () => {
    const run = folder.coordinator(server, "alone");
    while ((await redis.scard("refusion:runs")) === 0) assert.ok(run.running, run.err);
    run.signal("SIGINT");
    const { code, err } = await run.ended;
    assert.equal(code, 130, err);
    assert.match(err, /no worker is there: --resume goes on/);
    assert.deepEqual(await redis.keys("*"), []);
  });

  it("jobs, results, events and signs of life end neither side, and the run's bytes are those of a local one", async () => {
    await folder.done(folder.local("local"));
    const run = folder.coordinator(server, "run", { distributed: ["distributed.jobs=[rollouts,gradients]"] });
    const connection = { host: "127.0.0.1", port: server.port };
    let id: string | undefined;
    while (id === undefined) {
      id = (await redis.smembers("refusion:runs"))[0];
      assert.ok(run.running, run.err);
      await sleep(100);
    }
    // signs of life
    const beats = ["{", "null", "[]", JSON.stringify({ jobs: ["x"], up: 1, busy: 0 }), '{"jobs":[],"up":-1}'];
    for (const [i, text] of beats.entries()) await redis.set(`refusion:run:${id}:worker:bad${i}`, text);
    await redis.sadd(`refusion:run:${id}:workers`, ...beats.map((_, i) => `bad${i}`), "../x", "a\u001b[2Jb");
    await redis.rpush(`refusion:run:${id}:worker:list`, "x");
    await redis.sadd(`refusion:run:${id}:workers`, "list");
    for (const i of beats.keys())
      assert.ok(await run.says(new RegExp(`sign of life of worker bad${i} is malformed`)), run.err);
    // results
    const junk = encode({ gradients: 3 });
    const victim = folder.path("victim.txt");
    writeFileSync(victim, "here\n");
    const good = { worker: "w" };
    // a job is given up after ten refusals: fewer for a kind of job than that
    const results: Readonly<Record<"rollouts" | "gradients", unknown[]>> = {
      rollouts: [
        null,
        "text",
        {},
        { ...good, blob: "../victim.txt" },
        { ...good, blob: `../../${victim}` },
        { ...good, blob: sha, worker: "\u001b[2J" },
        { ...good, blob: await blob(Buffer.from("no json")) },
        { ...good, blob: await blob(Buffer.from('{"generating":1,"rollouts":[]}')) },
        { ...good, blob: await blob(Buffer.from('{"generating":1,"rollouts":[{"record":{}},{},{},{}]}')) },
      ],
      gradients: [
        7,
        [],
        { ...good, blob: sha, worker: 7 },
        { ...good, blob: await blob(junk) },
        { ...good, blob: await blob(Buffer.alloc(3)) },
        { ...good, blob: await blob(Buffer.from([255, 255, 255, 255, 1])) },
      ],
    };
    const bad = (["rollouts", "gradients"] as const).map((kind) => {
      const take = async (): Promise<unknown> => {
        if (results[kind].length === 1) void one.pause(true);
        return results[kind].shift();
      };
      const one: Worker = new Worker(`${id}-${kind}`, take, { connection, prefix: "refusion" });
      return one;
    });
    assert.ok(await run.says(/refused: the result of rollouts .* is malformed.*it is done again/), run.err);
    const worker = folder.worker(server);
    while (results.rollouts.length + results.gradients.length > 0 && run.running) await sleep(100);
    for (const one of bad) await one.close();
    // jobs that nobody asked for
    const queue = new Queue(`${id}-gradients`, { connection, prefix: "refusion" });
    const adapter = await blob(junk);
    const jobs: unknown[] = [
      null,
      [],
      { payload: {} },
      { payload: {}, blobs: ["../../etc/passwd"] },
      { payload: {}, blobs: [] },
      { payload: { what: "score", adapter: "x", batches: "y" }, blobs: [] },
      { payload: { what: "score", adapter, batches: adapter }, blobs: [adapter] },
      { payload: { what: "gradient", adapter, batches: adapter }, blobs: [] },
    ];
    for (const [i, data] of jobs.entries()) await queue.add("gradients", data, { jobId: `forged${i}` });
    await queue.add("gradients", {}, { jobId: "torn" });
    await redis.hset(`refusion:${id}-gradients:torn`, "data", "{no json");
    // events
    for (const fields of [
      ["event", "completed", "jobId", "forged0", "returnvalue", "{no json"],
      ["event", "completed", "jobId", "forged0", "returnvalue", '{"blob":"../victim.txt"}'],
      ["event", "completed"],
      ["event", "failed", "jobId", "x"],
      ["nothing", "here"],
    ])
      await redis.xadd(`refusion:${id}-gradients:events`, "*", ...fields);
    await folder.done(run);
    await queue.close();
    assert.deepEqual(differences(folder.files("local"), folder.files("run")), []);
    assert.equal(readFileSync(victim, "utf8"), "here\n");
    assert.match(worker.err, /refused: the job gradients forged\d is malformed/);
    assert.ok(!(run.err + worker.err).includes("\u001b[2J"), "nothing steers the terminal");
    assert.ok(worker.running, worker.err);
  });
});
