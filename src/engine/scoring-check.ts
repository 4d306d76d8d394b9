import { misuse } from "../core/errors.js";
import { type Refusal, refusalOf, type Sampler, type SamplerOptions } from "../diffusion/sampler.js";
import type { Needs, Objective } from "../rl/objective.js";

/** Properties that decide whether an objective can learn from a sampler. */
export type ScoredObjective = Pick<Objective, "name" | "scoring" | "readsPrompt">;

/**
 * Returns why an objective cannot learn from a sampler's draws; undefined where it can.
 * @param needs of the objective with its options.
 */
export function objectiveRefusal(
  objective: ScoredObjective,
  sampler: Sampler,
  options: SamplerOptions,
  needs: Pick<Needs, "parts"> = {},
): (Pick<Refusal, "reason"> & Partial<Refusal>) | undefined {
  // a sampler that draws each token of a text in one step can also score the text from left to right
  if (needs.parts === true && sampler.textTerms === undefined)
    return {
      reason: "credit a part of an answer needs a sampler that draws each token of a text once",
      hint: "Set objective.turn_credit=episode or turn: each step of this sampler draws all that it answers.",
    };
  if (objective.readsPrompt === true && options.model.network !== undefined)
    return { reason: "it reads the hidden states of a prompt's tokens, and this model reads none" };
  return refusalOf(sampler, objective.scoring, options);
}

/**
 * Checks that the sampler provides the scores of the objective.
 * @throws UserError where the sampler's draws do not have them.
 */
export function assertScored(
  objective: ScoredObjective,
  sampler: Sampler,
  options: SamplerOptions,
  needs?: Pick<Needs, "parts">,
): void {
  const refused = objectiveRefusal(objective, sampler, options, needs);
  if (refused === undefined) return;
  const others =
    options.model.network === undefined
      ? "Use another objective, as flow-grpo or espo, or another sampler.kind, as unmask."
      : "Use objective.kind=flow-grpo: this model draws actions, whose steps are all that it can score.";
  misuse(`${objective.name} does not work here: ${refused.reason}.`, { hint: refused.hint ?? others });
}
