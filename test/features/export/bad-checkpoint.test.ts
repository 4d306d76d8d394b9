import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import fc from "fast-check";
import { exportModel } from "../../../src/features/export/export.js";
import { fuzz, mutatedBytes, mutatedJsonText, mutatedText } from "../../support/mutations.js";
import { randomCheckpoint } from "../../support/random-checkpoint.js";
import { temporaryFolder } from "../../support/temporary.js";

describe("a checkpoint with a malformed file", async () => {
  const root = temporaryFolder("bad-checkpoint");
  const checkpoint = join(root, "checkpoint");
  const { shards } = await randomCheckpoint(checkpoint);

  const out = (): string => join(root, "out");
  const read = async (): Promise<void> => {
    rmSync(out(), { recursive: true, force: true });
    await exportModel({ checkpoint, out: out(), precision: "none", doubleQuant: false });
  };
  /** Exports with each version of a file; the export is refused with a next step, or done. */
  const changed = (name: string, contents: fc.Arbitrary<string | Uint8Array>, numRuns: number): Promise<void> =>
    fuzz(join(checkpoint, name), contents, read, numRuns, "");

  for (const name of ["config.json", "vocab.json", "added_tokens.json", "model.safetensors.index.json"])
    it(name, async () => {
      const text = readFileSync(join(checkpoint, name), "utf8");
      await changed(name, fc.oneof(mutatedJsonText(JSON.parse(text)), mutatedBytes(Buffer.from(text))), 40);
    });

  it("merges.txt", () => changed("merges.txt", mutatedText(readFileSync(join(checkpoint, "merges.txt"), "utf8")), 20));

  it("a shard of the weights", () => {
    const [shard = ""] = shards;
    const bytes = readFileSync(join(checkpoint, shard));
    const head = mutatedBytes(bytes.subarray(0, 400)).map((start) => Buffer.concat([start, bytes.subarray(400)]));
    return changed(shard, fc.oneof(head, mutatedBytes(bytes)), 30);
  });
});
