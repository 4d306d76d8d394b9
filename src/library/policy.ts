import type { ZodType } from "zod";
import { loadConfig } from "../config/config.js";
import type { Action, Observation } from "../core/interaction.js";
import { Rng } from "../core/rng.js";
import { initialAdapter, readAdapter } from "../engine/adapter.js";
import { openPolicy as openEngine, type Policy } from "../engine/policy.js";
import { findCheckpoint } from "../runs/checkpoint.js";
import { RunDirectory } from "../runs/run-directory.js";
import { type ConfigSource, resolveConfig } from "./programs.js";

/** A policy that answers observations. */
export interface OpenPolicy {
  /**
   * Answers of the policy, one an observation: at `evaluation.temperature`, else the surest ones that the sampler gives.
   * The same seed gives the same answers.
   */
  answer(observations: readonly Observation[], seed?: number): Promise<string[]>;
  /** The same answers with the values of their blanks, where an observation has a template (`plan: template`). */
  act(observations: readonly Observation[], seed?: number): Promise<Action[]>;
  readonly policy: Policy;
  close(): Promise<void>;
}

/** Greedy, where the sampler can be; else its own temperature. */
function surest({ evaluation: { sampler, options } }: Policy): number {
  const temperature = sampler.schema.shape.temperature as ZodType | undefined;
  return temperature?.safeParse(0).success === true ? 0 : options.temperature;
}

/**
 * Opens a trained run's policy (`{run}`), or that of a config as it is.
 * @throws UserError where the checkpoint or the model cannot be used.
 */
export async function openPolicy(
  what: { readonly run: string; readonly checkpoint?: "best" | "last" | number } | { readonly config: ConfigSource },
): Promise<OpenPolicy> {
  const run = "run" in what ? RunDirectory.open(what.run) : undefined;
  const config = "config" in what ? await resolveConfig(what.config) : await loadConfig((run as RunDirectory).config);
  const policy = await openEngine(config, undefined);
  try {
    const adapter =
      run === undefined
        ? initialAdapter(config, policy)
        : readAdapter(findCheckpoint(run, "run" in what ? what.checkpoint : undefined), policy);
    await policy.engine.setParameters("policy", adapter);
  } catch (error) {
    await policy.close();
    throw error;
  }
  const { sampler, rounds } = policy.evaluation;
  const options = { ...policy.evaluation.options, temperature: config.evaluation.temperature ?? surest(policy) };
  const act: OpenPolicy["act"] = async (observations, seed = config.seed) => {
    const starts = observations.map((observation) => policy.startOf(observation));
    const rngs = observations.map((_, i) => Rng.named(seed, `answer/${i}`));
    return (await sampler.rollout(rounds, starts, options, rngs)).map(policy.actionOf);
  };
  return {
    policy,
    act,
    answer: async (observations, seed) => (await act(observations, seed)).map(({ text = "" }) => text),
    close: () => policy.close(),
  };
}
