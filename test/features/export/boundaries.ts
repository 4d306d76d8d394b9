import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { exportModel } from "../../../src/features/export/export.js";
import { type Boundaries, ofFile } from "../../support/boundary.js";
import { mutatedBytes, mutatedJsonText, mutatedText } from "../../support/mutations.js";
import { randomCheckpoint } from "../../support/random-checkpoint.js";

/** The files of a checkpoint that is exported. */
export const boundaries: Boundaries = async (root) => {
  const checkpoint = join(root, "checkpoint");
  const { shards } = await randomCheckpoint(checkpoint);
  const out = join(root, "out");
  const read = async (): Promise<void> => {
    rmSync(out, { recursive: true, force: true });
    await exportModel({ checkpoint, out, precision: "none", doubleQuant: false });
  };
  const file = (name: string, cases: number, contents: (bytes: Buffer) => fc.Arbitrary<string | Uint8Array>) => {
    const path = join(checkpoint, name);
    return ofFile(`a checkpoint's ${name}`, path, contents(readFileSync(path)), read, { cases, where: "" });
  };
  const json = (bytes: Buffer) => fc.oneof(mutatedJsonText(JSON.parse(bytes.toString("utf8"))), mutatedBytes(bytes));
  const [shard = ""] = shards;
  return [
    ...["config.json", "vocab.json", "added_tokens.json", "model.safetensors.index.json"].map((name) =>
      file(name, 4, json),
    ),
    file("merges.txt", 3, (bytes) => mutatedText(bytes.toString("utf8"))),
    file(shard, 4, (bytes) => {
      const head = mutatedBytes(bytes.subarray(0, 400)).map((start) => Buffer.concat([start, bytes.subarray(400)]));
      return fc.oneof(head, mutatedBytes(bytes));
    }),
  ];
};
