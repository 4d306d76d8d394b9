import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import fc from "fast-check";
import { sha256 } from "../../../src/core/files.js";
import { folderBlobs } from "../../../src/features/cluster/queue/blobs.js";
import { decode, encode } from "../../../src/features/cluster/queue/codec.js";
import {
  announcementSchema,
  beatSchema,
  copyId,
  differences,
  jobKey,
  jobSchema,
  keyOfCopy,
  Malformed,
  received,
  receivedBytes,
  receivedText,
  resultSchema,
} from "../../../src/features/cluster/queue/protocol.js";
import { stragglersOf } from "../../../src/features/cluster/queue/stragglers.js";
import { WorkerMeter } from "../../../src/features/cluster/queue/workers.js";
import { temporaryFolder } from "../../support/temporary.js";

describe("jobs", () => {
  it("have one name for equal work, another for other work, and no colon", () => {
    const data = { payload: { tasks: ["a"], seed: 1 }, blobs: ["x"] };
    const key = jobKey("rollout/3/0/4", data);
    assert.equal(key, jobKey("rollout/3/0/4", structuredClone(data)));
    assert.match(key, /^rollout_3_0_4\.[0-9a-f]{12}$/);
    assert.notEqual(key, jobKey("rollout/3/0/4", { ...data, blobs: ["y"] }));
    assert.notEqual(key, jobKey("rollout/3/0/5", data));
    assert.equal(keyOfCopy(copyId(key, 12)), key);
  });

  it("say by name what a worker lacks", () => {
    assert.equal(differences("other versions", { a: "1", b: "2" }, { a: "1", b: "2", c: "3" }), undefined);
    assert.equal(
      differences("other versions", { a: "1", b: "2" }, { a: "0" }),
      "other versions: a 0 instead of 1, b none instead of 2",
    );
  });
});

describe("what is read from Redis", () => {
  const sha = "a".repeat(64);
  const announcement = {
    ...{ run: "run-1", name: "run", versions: { a: "1" }, hashes: {}, modules: {}, jobs: ["rollouts"] },
    ...{ config: sha, blobs: null, lease: 30 },
  };
  const beat = { jobs: ["episodes"], up: 2, busy: 1 };
  const result = { blob: sha, worker: "w.1" };
  const job = { payload: { a: 1 }, blobs: [sha] };
  const wellFormed = { announcement, beat, result, job };
  const schemas = { announcement: announcementSchema, beat: beatSchema, result: resultSchema, job: jobSchema };

  it("passes where it is well formed", () => {
    for (const what of Object.keys(schemas) as (keyof typeof schemas)[]) {
      const schema = schemas[what] as typeof announcementSchema;
      assert.deepEqual(receivedText(what, schema, JSON.stringify(wellFormed[what])), wellFormed[what]);
    }
  });

  it("is refused by name where it is malformed, and not quoted", () => {
    type What = keyof typeof schemas;
    /** Each of these values for one member of a well-formed one. */
    const changed = (what: What, key: string, ...values: unknown[]) =>
      values.map((value): [What, unknown] => [what, { ...wellFormed[what], [key]: value }]);
    for (const [what, value] of [
      ...[null, 7, "secret", [], {}].map((value): [What, unknown] => ["announcement", value]),
      ...changed("announcement", "config", "../victim.txt", "abc"),
      ...changed("announcement", "run", "../run", "a b", "", "x".repeat(300)),
      ...changed("announcement", "blobs", "relative", "../up", 3),
      ...changed("announcement", "lease", 0, -1, 1e308, "30"),
      ...changed("announcement", "jobs", ["sweep"]),
      ...changed("announcement", "versions", { a: {} }),
      ...[...changed("beat", "up", "long"), ...changed("beat", "busy", -1), ...changed("beat", "jobs", ["sweep"])],
      ["beat", null] as [What, unknown],
      ...changed("result", "blob", "../victim.txt", "", sha.toUpperCase(), `${sha}\n`, `${sha}/..`, null),
      ...changed("result", "worker", "", "a b", "../w", 5),
      ...changed("job", "blobs", ["../../etc/passwd"], "x", [3], Array(101).fill(sha)),
    ])
      assert.throws(
        () => received(what, schemas[what] as typeof announcementSchema, value),
        (error) =>
          error instanceof Malformed &&
          error.message.startsWith(`${what} is malformed:`) &&
          !/victim|secret|passwd|\n/.test(error.message),
        JSON.stringify([what, value]).slice(0, 200),
      );
    assert.throws(
      () => receivedText("beat", beatSchema, "root:x:0:0"),
      /^Malformed|Error: beat is malformed: it is no JSON$/,
    );
    assert.throws(
      () => receivedBytes("its config", Buffer.from("root:x:0:0"), (bytes) => JSON.parse(String(bytes)) as unknown),
      (error) => error instanceof Malformed && !error.message.includes("root"),
    );
  });
});

describe("jobs that take long", () => {
  it("are those beyond so many medians, and five seconds, once three are known", () => {
    let now = 0;
    const stragglers = stragglersOf(4, () => now);
    const take = (id: string, seconds: number): void => {
      stragglers.began(id);
      now += seconds;
      stragglers.ended(id, "rollouts");
    };
    take("a.n0", 2);
    take("b.n0", 10);
    stragglers.began("slow.n0");
    now += 1000;
    assert.equal(stragglers.isSlow("slow.n0", "rollouts"), false, "too little is known");
    take("c.n0", 2);
    assert.equal(stragglers.isSlow("slow.n0", "rollouts"), true);
    assert.equal(stragglers.isSlow("slow.n0", "gradients"), false, "of another kind");
    stragglers.began("next.n0");
    now += 7;
    assert.equal(stragglers.isSlow("next.n0", "rollouts"), false);
    now += 2;
    assert.equal(stragglers.isSlow("next.n0", "rollouts"), true, "more than 4 x 2 s");
    stragglers.forget("next");
    assert.equal(stragglers.isSlow("next.n0", "rollouts"), false);
    assert.equal(stragglersOf(0).isSlow("a", "rollouts"), false);
  });
});

describe("blobs in a folder", () => {
  const dir = temporaryFolder("blobs");
  it("are found by their hash, and not where their bytes are others", async () => {
    const blobs = folderBlobs(join(dir, "new"));
    const address = await blobs.put(Buffer.from("some bytes"));
    assert.equal(address, sha256("some bytes"));
    assert.equal((await blobs.get(address))?.toString(), "some bytes");
    assert.equal(await blobs.has(address), true);
    writeFileSync(join(dir, "new", `${address}.blob`), "others");
    assert.equal(await blobs.get(address), undefined);
    await blobs.put(Buffer.from("some bytes"));
    assert.equal((await blobs.get(address))?.toString(), "some bytes");
    await blobs.drop(address);
    assert.deepEqual([await blobs.has(address), await blobs.get(address)], [false, undefined]);
    // nothing but a hash names a file, and no file but a blob is touched
    writeFileSync(join(dir, "victim.txt"), "here");
    writeFileSync(join(dir, "new", address), "another's");
    for (const wrong of ["../victim.txt", "", ".", `${address}/../../victim.txt`, address.toUpperCase()])
      for (const of of ["get", "has", "drop"] as const) await assert.rejects(blobs[of](wrong), /no SHA-256/, wrong);
    await blobs.drop(address);
    assert.equal(readFileSync(join(dir, "victim.txt"), "utf8"), "here");
    assert.equal(readFileSync(join(dir, "new", address), "utf8"), "another's");
  });
});

const beat = (up: number, busy: number) => ({ jobs: [], up, busy });

describe("what workers did", () => {
  it("is told for the run so far, and since it was asked before", () => {
    const meter = new WorkerMeter();
    assert.deepEqual(meter.take(), { workers: 0, waiting: 0, idle: null });
    meter.look(new Map([["a", beat(10, 5)]]), 7);
    meter.look(
      new Map([
        ["a", beat(20, 15)],
        ["b", beat(10, 0)],
      ]),
      2,
    );
    assert.deepEqual(meter.take(), { workers: 2, waiting: 7, idle: 0.5 });
    meter.look(new Map([["a", beat(30, 25)]]), 1);
    assert.deepEqual(meter.take(), { workers: 1, waiting: 2, idle: 0 });
    assert.deepEqual(meter.sofar, { workers: 1, waiting: 1, idle: 1 - 25 / 40 });
    assert.equal(meter.take().idle, null, "nobody has told since");
  });

  it("goes on when a worker of the same name starts again", () => {
    const meter = new WorkerMeter();
    meter.look(new Map([["a", beat(10, 10)]]), 0);
    meter.look(new Map([["a", beat(4, 0)]]), 0);
    assert.equal(meter.sofar.idle, 1 - 10 / 14);
  });
});

describe("plain data as bytes", () => {
  it("comes back exactly, typed arrays and odd numbers too", () => {
    const value = {
      text: "é\u0000",
      list: [1, -0, Number.NaN, Number.POSITIVE_INFINITY, null, true],
      nested: { f32: Float32Array.of(1e-45, -0, Number.NaN), empty: new Float32Array(0) },
      i64: BigInt64Array.of(-(2n ** 63n), 5n),
      bytes: Uint8Array.of(1, 2, 3),
      bits: Uint16Array.of(0xffff),
    };
    assert.deepEqual(decode(encode(value)), value);
    // wherever the bytes lie
    const shifted = Buffer.concat([Buffer.from([9]), encode(value)]).subarray(1);
    assert.deepEqual(decode(shifted), value);
  });

  it("gives equal bytes for equal data", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.float32Array(), (json, array) => {
        const value = [json, array].map((x) => structuredClone(x));
        fc.pre(!JSON.stringify(json)?.includes('"$"') && !JSON.stringify(json)?.includes("__proto__"));
        assert.ok(encode([json, array]).equals(encode(value)));
        assert.deepEqual(decode(encode(value)), value);
      }),
      { seed: 1, numRuns: 50 },
    );
  });

  it("leaves out what is undefined, and refuses what is no data, by its place", () => {
    assert.deepEqual(decode(encode({ a: undefined, b: 1 })), { b: 1 });
    assert.throws(() => encode({ a: { b: () => 1 } }), /b: function/);
    assert.throws(() => encode([new Map()]), /0: object/);
    assert.throws(() => encode({ $: 1 }), /may not be called/);
  });

  it("does not read past the end of a message that was cut off", () => {
    const bytes = encode({ a: new Float32Array(100) });
    assert.throws(() => decode(bytes.subarray(0, bytes.length - 8)), /cut off/);
  });
});
