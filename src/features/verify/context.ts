import type { RunConfig } from "../../config/config.js";
import { optimizerOptions } from "../../config/optimizer.js";
import { orClose } from "../../core/closing.js";
import { misuse } from "../../core/errors.js";
import { Rng } from "../../core/rng.js";
import type { TextStart } from "../../diffusion/template.js";
import { initialParameters } from "../../engine/adapter.js";
import { openPolicy, type Policy } from "../../engine/policy.js";
import { objectiveRefusal } from "../../engine/scoring-check.js";
import { eosIds } from "../../nn/config.js";
import type { Model } from "../../nn/model.js";
import { mapTensors } from "./direction.js";
import type { ObjectiveOnTrial, VerifyContext } from "./proof.js";

/** Added to every element of the adapter: a fresh one has no effect, and half of its gradient is 0. */
const NOISE = 0.02;

/**
 * Opens the setting of the proofs. The policy's adapter is the config's with noise, the reference is the config's own.
 * Rollouts are in the precision of scoring, whatever the config's: proofs are of exact probabilities.
 * @param prompts from the open policy: tasks' prompts, or random ones.
 * @throws UserError where the sampler is greedy and so has no likelihood.
 */
export async function openContext(
  config: RunConfig,
  objectives: readonly ObjectiveOnTrial[],
  prompts: (policy: Policy) => Promise<readonly TextStart[]>,
): Promise<VerifyContext & { close(): Promise<void> }> {
  if (config.sampler.temperature === 0)
    misuse("sampler.temperature is 0: a greedy policy has no likelihood, so there is nothing to prove.", {
      hint: "Set sampler.temperature=1, or 0.3 for sampler.kind=flow.",
    });
  const rng = (name: string): Rng => Rng.named(config.seed, `verify/${name}`);
  const exact: RunConfig = { ...config, runtime: { ...config.runtime, rollout_precision: "float32" } };
  const opened = async (training: Parameters<typeof openPolicy>[1], as = exact): Promise<Policy> =>
    orClose(await openPolicy(as, training), async (policy) => {
      const [initial, noise] = [initialParameters(config, policy), rng("adapter")];
      await policy.engine.setParameters("reference", initial);
      const disturbed = mapTensors(initial, (data) => data.map((x) => x + NOISE * noise.normal()));
      await policy.engine.setParameters("policy", disturbed);
      if (training !== undefined) await policy.engine.setOptimizer(undefined);
    });
  const policy = await opened(undefined);
  try {
    return {
      config,
      policy,
      prompts: await prompts(policy),
      objectives: scorable(objectives, policy),
      rng,
      open: ({ objective, options }, optimizer = optimizerOptions(config)) => opened({ objective, options, optimizer }),
      ...(config.runtime.rollout_precision === "float32" ? {} : { openCoarse: () => opened(undefined, config) }),
      close: policy.close,
    };
  } catch (error) {
    await policy.close();
    throw error;
  }
}

/** Returns the objectives that the sampler can be scored for. @throws UserError where there is none. */
function scorable(objectives: readonly ObjectiveOnTrial[], policy: Policy): ObjectiveOnTrial[] {
  const reasons = objectives.map((trial) => unscorable(trial, policy));
  const kept = objectives.filter((_, i) => reasons[i] === undefined);
  if (kept.length === 0) misuse(`There is nothing to prove: ${reasons.join("; ")}.`);
  return kept;
}

/** Returns the reason why rollouts of the policy cannot be scored for an objective; undefined where they can. */
export function unscorable(
  { objective, options: own }: ObjectiveOnTrial,
  { sampler, options }: Pick<Policy, "sampler" | "options">,
): string | undefined {
  if (objective.learnsFrom !== "rollouts") return `${objective.name} learns from given answers, not from rollouts`;
  const needs = objective.needs(own);
  const refused = objectiveRefusal(objective, sampler, options, needs)?.reason;
  if (refused !== undefined || needs.drafts !== true || sampler.drafts !== undefined) return refused;
  return `${objective.name} learns from drafts, which the sampler does not have`;
}

/** Draws prompts of ordinary tokens at random; for a network without tokens, random numbers. */
export function randomPrompts(model: Model, count: number, longest: number, rng: Rng): number[][] {
  const { vocab_size: length, mask_token_id, pad_token_id } = model.config;
  if (model.config.reads_tokens === false)
    return Array.from({ length: count }, () => Array.from({ length: longest }, () => rng.normal()));
  const special = [mask_token_id, pad_token_id, ...eosIds(model.config)];
  const ordinary = Array.from({ length }, (_, token) => token).filter((token) => !special.includes(token));
  return Array.from({ length: count }, () => Array.from({ length: 1 + rng.int(longest) }, () => rng.pick(ordinary)));
}
