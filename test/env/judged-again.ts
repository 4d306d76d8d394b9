import assert from "node:assert/strict";
import type { Environment, EnvironmentTask, EpisodeOutcome } from "../../src/env/environment.js";

/** Asserts that judging an episode's record gives the episode's own result. @returns the outcome. */
export async function judgedAgain(
  environment: Environment,
  task: EnvironmentTask,
  outcome: EpisodeOutcome,
): Promise<EpisodeOutcome> {
  if (outcome.reward === null) return outcome;
  const again = await environment.rejudge?.(task, JSON.parse(JSON.stringify(outcome.detail)));
  assert.ok(typeof again === "object", `${task.id}: ${again}`);
  const { reward, success, detail } = again;
  assert.deepEqual(
    [reward, success, detail.accepted],
    [outcome.reward, outcome.success, outcome.detail.accepted],
    task.id,
  );
  assert.deepEqual(detail.received, outcome.detail.received);
  return outcome;
}
