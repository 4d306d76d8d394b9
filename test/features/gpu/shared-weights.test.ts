import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type ExternalWeight, type ReadBytes, SharedWeights } from "../../../src/features/gpu/shared-weights.js";
import { temporaryFolder } from "../../support/temporary.js";
import { userError } from "../../support/user-error.js";

describe("SharedWeights", () => {
  const dir = temporaryFolder("shared-weights");
  writeFileSync(join(dir, "w.bin"), Uint8Array.from([0, 1, 2, 3, 4, 5, 6, 7]));

  const weight = (name: string, offset: number, length: number, file = "w.bin"): ExternalWeight => {
    return { name, dtype: "uint8", shape: [length], data: { file, offset, length } };
  };

  const opened = (): { weights: SharedWeights<string>; freed: string[] } => {
    const freed: string[] = [];
    const free = (tensor: string): void => void freed.push(tensor);
    return { weights: new SharedWeights(free, (whole, { shape }, from) => `${whole} ${from} ${shape}`), freed };
  };

  it("places a weight once for all that use it, and frees it when the last one leaves", async () => {
    const { weights, freed } = opened();
    const placed: string[] = [];
    const place = (_: unknown, bytes: number, read: ReadBytes): string => {
      const text = [0, 1].map((half) => [...new Uint8Array(read(half, half === 0 ? 1 : bytes - 1))].join("")).join("");
      placed.push(text);
      return text;
    };
    const first = await weights.take(dir, "cpu", [weight("a", 0, 3), weight("b", 3, 2)], place);
    const second = await weights.take(dir, "cpu", [weight("renamed", 0, 3), weight("c", 5, 3)], place);
    assert.deepEqual(Object.fromEntries(first.tensors), { a: "012", b: "34" });
    assert.deepEqual(Object.fromEntries(second.tensors), { renamed: "012", c: "567" });
    assert.deepEqual(placed, ["012", "34", "567"]);
    first.forget();
    first.forget();
    assert.deepEqual(freed, ["34"]);
    second.forget();
    assert.deepEqual(freed, ["34", "012", "567"]);
    // a part of a weight is the same memory, which stays until the part leaves
    const third = await weights.take(dir, "cpu", [weight("part", 1, 2), weight("whole", 0, 3)], place);
    const fourth = await weights.take(dir, "cpu", [weight("part", 1, 2)], place);
    assert.deepEqual(Object.fromEntries(third.tensors), { whole: "012", part: "012 1 2" });
    third.forget();
    assert.deepEqual(freed.splice(3), []);
    fourth.forget();
    assert.deepEqual([freed.splice(3), placed.splice(3)], [["012 1 2", "012"], ["012"]]);
    // another device has a copy of its own
    (await weights.take(dir, "cuda", [weight("a", 0, 3)], place)).forget();
    assert.deepEqual(placed.slice(3), ["012"]);
  });

  it("frees what was placed before a file turned out to be missing or too short", async () => {
    const { weights, freed } = opened();
    const bad = (wrong: ExternalWeight, pattern: RegExp): Promise<void> =>
      assert.rejects(
        weights.take(dir, "cpu", [weight("a", 0, 5), wrong], (_, bytes, read) => `a${read(0, bytes) ? "" : "?"}`),
        userError(pattern),
      );
    await bad(weight("b", 6, 4), /w\.bin ended at byte 8 while it was read/);
    await bad(weight("b", 0, 4, "none.bin"), /Cannot read .*none\.bin/);
    assert.deepEqual(freed, ["a", "a"]);
  });
});
