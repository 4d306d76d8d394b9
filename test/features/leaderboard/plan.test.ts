import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packageRoot } from "../../../src/core/files.js";
import { plannedRuns, rateBeyond, readLeaderboard } from "../../../src/features/leaderboard/plan.js";
import { resolveConfig } from "../../../src/library/programs.js";
import { temporaryFolder } from "../../support/temporary.js";

const dir = temporaryFolder("leaderboard");

function board(text: string): ReturnType<typeof readLeaderboard> {
  const path = join(dir, "board.yaml");
  writeFileSync(path, text);
  return readLeaderboard(path);
}

const SMALL = `
name: small
seeds: [0, 1]
tuning: {seeds: [100], learning_rates: [0.001, 0.01]}
families:
  refusion:
    config: {model: models/tiny-refusion, environment: {kind: paper}, plan: free, training: {steps: 3}, sampler: {kind: unmask, rounds: 2}}
    objectives: {flow-grpo: {objective: {kl_coeff: 0}}, mine: {objective: {kind: espo}, sampler: {rounds: 7}}}
`;

test("every objective gets the same grid, seeds and budget, and its own changes", () => {
  const small = board(SMALL);
  const tuning = plannedRuns(small, true, () => small.tuning.learning_rates);
  assert.deepEqual(
    tuning.map(({ objective, seed, learningRate }) => [objective, seed, learningRate]),
    [
      ["flow-grpo", 100, 0.001],
      ["flow-grpo", 100, 0.01],
      ["mine", 100, 0.001],
      ["mine", 100, 0.01],
    ],
  );
  const reported = plannedRuns(small, false, ({ objective }) => [objective === "mine" ? 0.01 : 0.001]);
  assert.deepEqual(
    reported.map(({ objective, seed, learningRate }) => [seed, objective, learningRate]),
    [
      [0, "flow-grpo", 0.001],
      [0, "mine", 0.01],
      [1, "flow-grpo", 0.001],
      [1, "mine", 0.01],
    ],
  );
  assert.deepEqual(reported[3]?.config, {
    model: "models/tiny-refusion",
    environment: { kind: "paper" },
    plan: "free",
    training: { steps: 3, learning_rate: 0.01 },
    sampler: { kind: "unmask", rounds: 7 },
    objective: { kind: "espo" },
    name: "refusion-mine-1",
    seed: 1,
    evaluation: { splits: [] },
  });
  const places = [...tuning, ...reported].map(({ place }) => place);
  assert.equal(new Set(places).size, places.length);
});

test("a seed or split that is reported is refused for tuning, and what is wrong is named", () => {
  assert.throws(() => board(SMALL.replace("[100]", "[1]")), /tuning\.seeds[\s\S]*reported/);
  for (const split of ["test", "heldout"])
    assert.throws(
      () => board(SMALL.replace("0.01]}", `0.01], split: ${split}}`)),
      /tuning\.split[\s\S]*no split that is reported/,
    );
  assert.throws(() => board(`${SMALL}splits: [val, test]\n`), /tuning\.split/);
  assert.throws(() => board(SMALL.replace("name: small", "nam: small")), /name/);
  assert.throws(() => board(SMALL.replace("mine:", "my own:")), /my own[\s\S]*letters/);
  assert.throws(() => readLeaderboard(join(dir, "nowhere.yaml")), /Cannot read/);
});

for (const file of readdirSync(join(packageRoot(), "configs", "leaderboard"))) {
  test(`the shipped ${file}: every run's config is one`, async () => {
    const shipped = readLeaderboard(`configs/leaderboard/${file}`);
    for (const run of plannedRuns({ ...shipped, seeds: [0] }, false, () => [1e-3])) {
      const { training, evaluation } = await resolveConfig(run.config);
      assert.deepEqual(
        [run.family, run.objective, training.steps > 0, evaluation.splits],
        [run.family, run.objective, true, []],
      );
    }
  });
}

test("a grid whose best rate lies at an end is widened by the step to its neighbour", () => {
  assert.deepEqual(rateBeyond([0.001, 0.003, 0.009], 0.009), [0.027]);
  assert.deepEqual(rateBeyond([0.003, 0.001], 0.001), [0.000333]);
  assert.deepEqual(rateBeyond([0.001, 0.003, 0.009], 0.003), [], "the best lies inside");
  assert.deepEqual(rateBeyond([0.001], 0.001), [], "one rate has no neighbour");
});
