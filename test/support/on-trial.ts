import assert from "node:assert/strict";
import type { RunConfig } from "../../src/config/schema.js";
import { loadFolder } from "../../src/core/registry.js";
import { Rng } from "../../src/core/rng.js";
import type { Objective } from "../../src/rl/objective.js";
import { openContext, randomPrompts } from "../../src/verify/context.js";
import type { Measurement } from "../../src/verify/proof.js";

/** What the proofs work on, with every objective that learns from rollouts and random prompts. */
export async function openOnTrial(config: RunConfig): ReturnType<typeof openContext> {
  const objectives = await loadFolder<Objective>(new URL("../../src/rl/objectives/", import.meta.url), "objective");
  const trials = [...objectives.values()]
    .filter((objective) => objective.learnsFrom === "rollouts")
    .map((objective) => ({ objective, options: objective.schema.parse({}) }));
  return openContext(config, trials, async (policy) => randomPrompts(policy.model, 16, 8, Rng.named(1, "prompts")));
}

export function figure(measurements: readonly Measurement[], name: string): Measurement {
  const found = measurements.find((m) => m.name.includes(name));
  assert.ok(found !== undefined, `no measurement "${name}" in ${measurements.map((m) => m.name).join(", ")}`);
  return found;
}
