import assert from "node:assert/strict";
import { test } from "node:test";
import { configOf } from "../../../../src/config/config.js";
import { configForWorkers } from "../../../../src/features/cluster/work/coordinator.js";
import { objectiveKinds } from "../../../../src/rl/objective-kinds.js";

const REDIS = "distributed.redis=redis://127.0.0.1:1";
const SETTINGS: readonly (readonly string[])[] = [
  [],
  ["distributed.staleness=2", "objective.importance_cap=2"],
  ["distributed.jobs=[gradients]"],
  ["runtime.rollout_precision=int8", "objective.importance_cap=2"],
];

test("a worker accepts the config that it is sent as its coordinator did, for every objective", async () => {
  const refusedHere = new Set<string>();
  for (const kind of (await objectiveKinds()).keys())
    for (const settings of SETTINGS) {
      const of = { model: "models/tiny-refusion", objective: { kind } };
      const name = `${kind} ${settings.join(" ")}`;
      const config = await configOf(of, "run", { command: kind, overrides: [REDIS, ...settings] }).catch(
        () => void refusedHere.add(name),
      );
      if (config === undefined) continue;
      const sent = JSON.parse(JSON.stringify(configForWorkers(config)));
      const { tracking: _, ...received } = await configOf(sent, "run", { command: kind, overrides: [] });
      assert.deepEqual(received, sent, name);
    }
  assert.ok(!refusedHere.has(`espo ${SETTINGS[1]?.join(" ")}`), [...refusedHere].join("\n"));
});
