import assert from "node:assert/strict";
import { test } from "node:test";
import { NOT_PLAYED } from "../../../src/env/forms/episode.js";
import { refusedFields } from "../../../src/env/forms/refused.js";
import { judgedBySite } from "../../../src/env/forms/verdict.js";

const controls = [
  { label: "Name", name: "n" },
  { label: "Patient Name", name: "p" },
  { label: "Reason", name: "r" },
];

test("a site names a field by its key or by its label as whole words, the longest first", () => {
  const named = (...texts: string[]) => refusedFields(controls, {}, texts);
  assert.deepEqual(named("Patient Name does not fit"), ["Patient Name"]);
  assert.deepEqual(named("Name and Patient Name do not fit").sort(), ["Name", "Patient Name"]);
  assert.deepEqual(named("r"), ["Reason"]);
  assert.deepEqual(named("The reasons differ", ""), []);
  const wires = { Reason: { wire: { key: "visit.reason", notation: { as: "same" as const } } } };
  assert.deepEqual(refusedFields([{ label: "Reason", name: "r" }], wires, ["visit.reason"]), ["Reason"]);
});

test("acceptance earns 1, a refusal half of the share of fields that it does not name, silence nothing", () => {
  const episode = { ...NOT_PLAYED, taskId: "a", unresolved: [], attempts: 1, ms: 0, labels: ["A", "B", "C", "D"] };
  const judged = (of: { accepted: boolean; refused?: string[] }) => {
    const { reward, success, perField } = judgedBySite({ ...episode, reward: 0.3, ...of });
    return [reward, success, perField];
  };
  assert.deepEqual(judged({ accepted: true }), [1, true, { A: 1, B: 1, C: 1, D: 1 }]);
  assert.deepEqual(judged({ accepted: false, refused: ["B"] }), [0.375, false, { A: 1, B: 0, C: 1, D: 1 }]);
  assert.deepEqual(judged({ accepted: false, refused: [] }), [0, false, {}]);
  assert.deepEqual(judged({ accepted: false }), [0, false, {}]);
});
