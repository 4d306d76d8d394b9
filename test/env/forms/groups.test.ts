import assert from "node:assert/strict";
import { test } from "node:test";
import { groupOf } from "../../../src/env/forms/groups.js";
import { viewDetail } from "../../../src/env/forms/view.js";

test("a field is filled, to check or left, by what it holds and how sure the model was", () => {
  for (const [outcome, group, checkBelow] of [
    [{ value: "Ely", probability: 0.9 }, "filled"],
    [{ value: "Ely", probability: 0.89 }, "to check"],
    [{ value: "Ely", probability: 0.89 }, "filled", 0.5],
    [{ value: "Ely", probability: 1, fault: "differs" }, "to check"],
    // the page's own value, of which the model knows nothing, and a person's own
    [{ value: "Ely" }, "to check"],
    [{ value: "Ely", given: true }, "filled"],
    [{ value: "", probability: 0.67, required: true }, "left for you"],
    [{ value: [] }, "left for you"],
    [{ fault: "no-such-control" }, "left for you"],
    [{ value: false, probability: 0.95 }, "filled"],
    [{ value: false, given: true }, "filled"],
    [{ value: false }, "left for you"],
    [{ value: false, probability: 0.95, required: true }, "left for you"],
  ] as const)
    assert.equal(groupOf(outcome, checkBelow), group, JSON.stringify(outcome));
});

test("an episode's view has the groups where probabilities are known", () => {
  const detail = {
    ...{ truth: { Name: "Ines", Place: "Ely", Phone: "12" }, posted: [["name", "Ines"]] },
    ...{ received: { Name: "Ines", Place: "Elm", Phone: "" }, field_scores: { Name: 1, Place: 0, Phone: 0 } },
  };
  const groups = (shown: object): unknown =>
    viewDetail({ ...detail, ...shown })[1]?.rows.map((cells) => cells.slice(4).map(({ text }) => text));
  assert.deepEqual(groups({ probabilities: { "Name *": 0.99, Place: 0.4 } }), [
    ["filled"],
    ["to check"],
    ["left for you"],
  ]);
  assert.deepEqual(groups({}), [[], [], []]);
});
