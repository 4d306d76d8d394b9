import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { FolderBlobs } from "../../src/cluster/blobs.js";
import { copyId, differences, jobKey, keyOfCopy, parseAnnouncement, parseBeat } from "../../src/cluster/protocol.js";
import { Stragglers } from "../../src/cluster/stragglers.js";
import { sha256 } from "../../src/core/files.js";

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

  it("are not announced by another version's words", () => {
    assert.equal(parseAnnouncement(JSON.stringify({ run: "x" })), undefined);
    assert.equal(parseBeat(JSON.stringify({ up: "long" })), undefined);
    assert.deepEqual(parseBeat(JSON.stringify({ jobs: ["episodes"], up: 2, busy: 1, done: 3 }))?.done, 3);
  });
});

describe("jobs that take long", () => {
  it("are those beyond so many medians, and five seconds, once three are known", () => {
    let now = 0;
    const stragglers = new Stragglers(4, () => now);
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
    assert.equal(new Stragglers(0).isSlow("a", "rollouts"), false);
  });
});

describe("blobs in a folder", () => {
  it("are found by their hash, and not where their bytes are others", async () => {
    const dir = mkdtempSync(join(tmpdir(), "blobs-"));
    try {
      const blobs = new FolderBlobs(join(dir, "new"));
      const address = await blobs.put(Buffer.from("some bytes"));
      assert.equal(address, sha256("some bytes"));
      assert.equal((await blobs.get(address))?.toString(), "some bytes");
      assert.equal(await blobs.has(address), true);
      writeFileSync(join(dir, "new", address), "others");
      assert.equal(await blobs.get(address), undefined);
      await blobs.put(Buffer.from("some bytes"));
      assert.equal((await blobs.get(address))?.toString(), "some bytes");
      await blobs.drop(address);
      assert.deepEqual([await blobs.has(address), await blobs.get(address)], [false, undefined]);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
