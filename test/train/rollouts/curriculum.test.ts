import assert from "node:assert/strict";
import { test } from "node:test";
import { Curriculum } from "../../../src/train/rollouts/curriculum.js";

const options = { least_chance: 0.1 };
const played = (curriculum: Curriculum, form: string): number =>
  Array.from({ length: 2000 }, (_, drawn) => curriculum.plays({ form }, drawn)).filter(Boolean).length / 2000;

test("a form is played in proportion to the variance of its success, never less than the least chance", () => {
  const curriculum = new Curriculum(options, 1);
  curriculum.note({ form: "half" }, [true, false]);
  curriculum.note({ form: "easy" }, [true, true, true, true]);
  curriculum.note({ form: "hard" }, [false, false, false, true, false, false, false, false, false, false]);
  assert.equal(played(curriculum, "half"), 1);
  assert.equal(played(curriculum, "new"), 1);
  assert.ok(Math.abs(played(curriculum, "easy") - 0.1) < 0.03);
  // the expected share is 4 x .1 x .9
  assert.ok(Math.abs(played(curriculum, "hard") - 0.36) < 0.04);
});

test("rates are remembered, faults say nothing, and a state goes on where it was", () => {
  const curriculum = new Curriculum(options, 1);
  curriculum.note({ form: "f" }, [true, true]);
  curriculum.note({ form: "f" }, []);
  curriculum.note({ form: "f" }, [false, false]);
  assert.deepEqual(curriculum.state, { f: 0.7 });
  const resumed = new Curriculum(options, 1, curriculum.state);
  for (const one of [curriculum, resumed]) one.note({ form: "f" }, [true]);
  assert.deepEqual(resumed.state, curriculum.state);
  assert.equal(played(resumed, "f"), played(curriculum, "f"));
});

test("with a least chance of 1 all tasks are alike", () => {
  const curriculum = new Curriculum({ ...options, least_chance: 1 }, 1, { f: 1 });
  assert.equal(played(curriculum, "f"), 1);
});
