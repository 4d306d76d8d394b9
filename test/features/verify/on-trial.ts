import assert from "node:assert/strict";
import type { RunConfig } from "../../../src/config/schema.js";
import { loadFolder } from "../../../src/core/registry.js";
import { Rng } from "../../../src/core/rng.js";
import type { TemplateStart } from "../../../src/diffusion/template.js";
import { openContext, randomPrompts } from "../../../src/features/verify/context.js";
import { holds, type Measurement, type ObjectiveOnTrial } from "../../../src/features/verify/proof.js";
import type { Objective } from "../../../src/rl/objective.js";
import { microConfig } from "../../support/micro-config.js";

/** Lists every objective that learns from rollouts, with its defaults. */
export async function allTrials(): Promise<ObjectiveOnTrial[]> {
  const objectives = await loadFolder<Objective>(new URL("../../../src/rl/objectives/", import.meta.url), "objective");
  return [...objectives.values()]
    .filter((objective) => objective.learnsFrom === "rollouts")
    .map((objective) => ({ objective, options: objective.schema.parse({}) }));
}

/** Opens the context of the proofs with every objective and random prompts. */
export async function openOnTrial(config: RunConfig): ReturnType<typeof openContext> {
  return openContext(config, await allTrials(), async (policy) =>
    randomPrompts(policy.model, 16, 8, Rng.named(1, "prompts")),
  );
}

/** Opens that context on templates: two blanks, of which the first has options. */
export async function openOnTemplates(
  changes: Record<string, unknown>,
  model: Record<string, unknown> = {},
): ReturnType<typeof openContext> {
  return openContext(await microConfig({ response_length: 24, ...changes }, model), await allTrials(), async (policy) =>
    randomPrompts(policy.model, 16, 8, Rng.named(1, "prompts")).map((prompt): TemplateStart => {
      const [one, other] = [prompt[0] as number, prompt.at(-1) as number];
      const choices = [[one], [other, one], [one, one, other]];
      return {
        prompt,
        parts: [[one, other], { name: "a", needs: 4, choices }, [other], { name: "b", needs: 3 }, [one]],
      };
    }),
  );
}

/** Asserts that a proof detects an error in each of its figures. */
export async function assertMisses(measured: Promise<readonly Measurement[]>, least = 0): Promise<void> {
  const figures = await measured;
  assert.notEqual(figures.length, 0);
  for (const m of figures) assert.ok(!holds(m) && m.measured > least, `${m.name}: ${m.measured}`);
}

export function figure(measurements: readonly Measurement[], name: string): Measurement {
  const found = measurements.find((m) => m.name.includes(name));
  assert.ok(found !== undefined, `no measurement "${name}" in ${measurements.map((m) => m.name).join(", ")}`);
  return found;
}
