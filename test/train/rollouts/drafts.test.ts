import assert from "node:assert/strict";
import { test } from "node:test";
import type { Policy } from "../../../src/engine/policy.js";
import type { Environment } from "../../../src/env/environment.js";
import type { Rollout } from "../../../src/train/rollouts/collect.js";
import { playDrafts } from "../../../src/train/rollouts/drafts.js";
import { fakeEnvironment, trainTask } from "../../support/fake-environment.js";
import { only } from "../../support/typed.js";

/** A sampler whose trajectory is the list of the response's texts after each step. */
const sampler = { drafts: (trajectory: string[]) => trajectory.map((text) => ({ text })) };
const policy = only<Policy>({ sampler, options: {}, actionOf: ({ text }: { text: string }) => ({ text }) });
const WORTH: Readonly<Record<string, number | null>> = { "x b": 0.1, "xy b": 0.6, "a u": 0.2, "a uv": 0.8 };

/** Plays two turns and rewards both answers together. */
const play: Environment["play"] = async (_, act) => {
  const first = await act({ text: "first" });
  const second = await act({ text: `then ${first.text}` });
  const reward = WORTH[`${first.text} ${second.text}`] ?? null;
  return { reward, success: false, metrics: {}, detail: {}, ...(reward === null ? { fault: "crash" } : {}) };
};

const rollout = (drafts: readonly (readonly string[])[], reward: number | null): Rollout => ({
  task: trainTask("t"),
  turns: drafts.map((trajectory, t) => {
    return { observation: { text: "" }, trajectory: [...trajectory], action: { text: ["a", "b"][t] as string } };
  }),
  outcome: { reward, success: false, metrics: {}, detail: {} },
});

test("each draft is played in the place of its turn, with the other turns as they were", async () => {
  const drafts = ["x xy", "u uv"].map((texts) => texts.split(" "));
  const rewards = await playDrafts(policy, fakeEnvironment([], play), [rollout(drafts, 0.9)]);
  assert.equal(JSON.stringify(rewards), "[[[0.1,0.6],[0.2,0.8]]]");
});

test("a draft whose episode faults earns what the whole response did; nothing where that faulted too", async () => {
  const drafts = [["gone", "xy"], []];
  const rewards = await playDrafts(policy, fakeEnvironment([], play), [rollout(drafts, 0.9), rollout(drafts, null)]);
  assert.equal(JSON.stringify(rewards), "[[[0.9,0.6],[]],[[0,0.6],[]]]");
});

test("a sampler without drafts is refused", async () => {
  const none = only<Policy>({ sampler: {}, options: {}, actionOf: policy.actionOf });
  await assert.rejects(playDrafts(none, fakeEnvironment([], play), []), /intermediate drafts, which this sampler/);
});
