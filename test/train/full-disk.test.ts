import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { packageRoot, writeAtomic } from "../../src/core/files.js";
import { type Checkpoint, readCheckpoint, writeCheckpoint } from "../../src/runs/checkpoint.js";
import { temporaryFolder } from "../support/temporary.js";
import { userError } from "../support/user-error.js";

const MIB = 2 ** 20;

function checkpoint(step: number, bytes: number): Checkpoint {
  const data = new Float32Array(bytes / 4).fill(step);
  const optimizer = new Map([["m/x", { dtype: "float32", shape: [data.length], data } as const]]);
  return { step, adapter: null, weights: null, groups: {}, optimizer, state: { step } };
}

describe("a disk that fills up", () => {
  const root = temporaryFolder("full-disk");

  it("loses no earlier checkpoint where a file may grow no further, and says what to do", async () => {
    const dir = join(root, "limited");
    const module = pathToFileURL(join(packageRoot(), "dist", "src", "runs", "checkpoint.js")).href;
    // a limit of 1 or 2 MiB (shells count in 512 or 1024 bytes): the first checkpoint fits, the second does not
    const script = `
      import { writeCheckpoint } from ${JSON.stringify(module)};
      const checkpoint = (step, n) => ({ step, adapter: null, weights: null, state: { step },
        optimizer: new Map([["m/x", { dtype: "float32", shape: [n], data: new Float32Array(n).fill(step) }]]) });
      await writeCheckpoint(process.argv[1] + "/step-000001", checkpoint(1, 1000));
      try {
        await writeCheckpoint(process.argv[1] + "/step-000002", checkpoint(2, ${(4 * MIB) / 4}));
      } catch (error) {
        console.log(JSON.stringify({ name: error.name, message: error.message, hint: error.hint }));
      }`;
    mkdirSync(dir);
    const command = `ulimit -f 2048 && exec "$0" --input-type=module --eval "$1" -- "$2"`;
    const { stdout, stderr } = spawnSync("sh", ["-c", command, process.execPath, script, dir], { encoding: "utf8" });
    const error = JSON.parse(stdout || "{}") as Record<string, string>;
    assert.equal(error.name, "UserError", stderr);
    assert.match(error.message ?? "", /Cannot write the checkpoint .*step-000002.*EFBIG/);
    assert.match(error.hint ?? "", /ulimit.*checkpoints written before are untouched/);
    assert.deepEqual(readdirSync(dir), ["step-000001"]);
    assert.equal((await readCheckpoint(join(dir, "step-000001"))).step, 1);
  });

  it("loses no earlier checkpoint on a full file system", async (t) => {
    const dir = join(root, "tmpfs");
    mkdirSync(dir);
    const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", dir]).status === 0;
    if (!mounted) return t.diagnostic("no tmpfs can be mounted here: the limit above stands for it");
    try {
      assert.ok(statfsSync(dir).blocks * statfsSync(dir).bsize <= 4 * MIB);
      const [first, second] = [join(dir, "step-000001"), join(dir, "step-000002")];
      await writeCheckpoint(first, checkpoint(1, 2 * MIB));
      const full = userError(/Cannot write .*ENOSPC|no space left/, { hint: /free some space/ });
      await assert.rejects(writeCheckpoint(second, checkpoint(2, 3 * MIB)), full);
      assert.deepEqual(readdirSync(dir), ["step-000001"]);
      assert.deepEqual(await readCheckpoint(first), checkpoint(1, 2 * MIB));
      // fills the disk to the last byte: small files fail with the same message, and the old file stays
      const state = join(dir, "state.json");
      await writeAtomic(state, "old");
      writeFileSync(join(dir, "filler"), "");
      for (const size of [MIB, 4096]) {
        try {
          for (;;) writeFileSync(join(dir, "filler"), Buffer.alloc(size), { flag: "a" });
        } catch {
          // the disk is full
        }
      }
      await assert.rejects(writeAtomic(state, "new".repeat(10_000)), full);
      assert.ok(readdirSync(dir).includes("state.json"));
      rmSync(join(dir, "filler"));
      await writeCheckpoint(second, checkpoint(2, MIB));
      assert.equal((await readCheckpoint(second)).step, 2);
    } finally {
      spawnSync("umount", [dir]);
    }
  });
});
