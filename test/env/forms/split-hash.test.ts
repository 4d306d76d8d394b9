import assert from "node:assert/strict";
import { test } from "node:test";
import { recordSplit, splitHash } from "../../../src/env/forms/split-hash.js";
import type { Task } from "../../../src/env/site.js";
import { taskFor } from "../page-site.js";

test("records are split 60 : 20 : 20 by their own text", () => {
  const counts = { train: 0, val: 0, test: 0 };
  for (let i = 0; i < 5000; i++) counts[recordSplit(`form/${i}`)]++;
  for (const [split, share] of Object.entries({ train: 0.6, val: 0.2, test: 0.2 }) as ["train", number][])
    assert.ok(Math.abs(counts[split] / 5000 - share) < 0.03, `${split}: ${counts[split]}`);
  assert.equal(recordSplit("form/1"), recordSplit("form/1"));
});

test("the split hash sees every change of a task, and no order", () => {
  const task = (changes: Partial<Task> = {}): Task => ({ ...taskFor("/f", { Name: "Ann" }), id: "a", ...changes });
  const two = [task(), task({ id: "b" })];
  const hash = splitHash(two);
  assert.equal(splitHash([...two].reverse()), hash);
  const name = (fields: Task["fields"]) => ({ fields });
  for (const changes of [{ id: "c" }, { form: "g" }, { split: "val" } as const, name({ Name: "Bo" }), name({})])
    assert.notEqual(splitHash([task(changes), task({ id: "b" })]), hash);
  assert.notEqual(splitHash(two.slice(1)), hash);
});
