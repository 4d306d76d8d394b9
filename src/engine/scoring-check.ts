import { UserError } from "../core/errors.js";
import { refusalOf, type Sampler, type SamplerOptions } from "../diffusion/sampler.js";
import type { Objective } from "../rl/objective.js";

/** @throws UserError where an objective asks for values that what a sampler draws does not have. */
export function assertScored(
  objective: Pick<Objective, "name" | "scoring">,
  sampler: Sampler,
  options: SamplerOptions,
): void {
  const refused = refusalOf(sampler, objective.scoring, options);
  if (refused === undefined) return;
  throw new UserError(`${objective.name} does not work here: ${refused.reason}.`, {
    hint: refused.hint ?? "Use another objective, as flow-grpo or espo, or another sampler.kind, as unmask.",
    exitCode: 2,
  });
}
