import type { ZodType } from "zod";
import { loadConfig } from "../config/config.js";
import type { Action, Observation } from "../core/interaction.js";
import { Rng } from "../core/rng.js";
import type { Sampler, SamplerOptions } from "../diffusion/sampler.js";
import { certaintyOf, type Policy, roundsOf } from "../engine/policy.js";
import { RunDirectory } from "../runs/run-directory.js";
import { openEvaluated } from "../train/evaluate.js";
import { type ConfigSource, resolveConfig } from "./programs.js";

/** A policy that answers observations. */
export interface OpenPolicy {
  /**
   * Returns one answer per observation: at `evaluation.temperature`, else the most probable ones that the sampler
   * offers. The same seed gives the same answers.
   */
  answer(observations: readonly Observation[], seed?: number): Promise<string[]>;
  /**
   * Returns the same answers with the values of their blanks, where an observation has a template (`plan: template`).
   * Prompts and templates beyond `sampler.prompt_length` and `response_length`, limits of training, are read too.
   */
  act(observations: readonly Observation[], seed?: number): Promise<Answered[]>;
  readonly policy: Policy;
  close(): Promise<void>;
}

/** An answer with its log-probabilities. */
export interface Answered extends Action {
  /** ln p of each blank's value with its end, by the blank's name, where the sampler records it. */
  readonly logProbs?: Readonly<Record<string, number>>;
  /** The text after each round. */
  readonly rounds: readonly string[];
}

/** Returns temperature 0 where the sampler allows it, else its own. */
function surest({ evaluation: { sampler, options } }: Policy): number {
  const temperature = sampler.schema.shape.temperature as ZodType | undefined;
  return temperature?.safeParse(0).success === true ? 0 : options.temperature;
}

/**
 * Opens a trained run's policy (`{run}`), or that of a config, untrained.
 * @throws UserError where the checkpoint or the model cannot be used.
 */
export async function openPolicy(
  what: { readonly run: string; readonly checkpoint?: "best" | "last" | number } | { readonly config: ConfigSource },
): Promise<OpenPolicy> {
  const run = "run" in what ? RunDirectory.open(what.run) : undefined;
  const config = "config" in what ? await resolveConfig(what.config) : await loadConfig((run as RunDirectory).config);
  const policy = await openEvaluated(config, { checkpoint: "run" in what ? what.checkpoint : undefined }, run);
  const { sampler, rounds } = policy.evaluation;
  const options = { ...policy.evaluation.options, temperature: config.evaluation.temperature ?? surest(policy) };
  const act: OpenPolicy["act"] = async (observations, seed = config.seed) => {
    const starts = observations.map((observation) => policy.startOf(observation));
    const rngs = observations.map((_, i) => Rng.named(seed, `answer/${i}`));
    const drawn = await sampler.rollout(rounds, starts, fitting(sampler, starts, options), rngs);
    return drawn.map((trajectory) => ({
      ...policy.actionOf(trajectory),
      ...certaintyOf(policy, trajectory),
      rounds: roundsOf(policy, trajectory),
    }));
  };
  return {
    policy,
    act,
    answer: async (observations, seed) => (await act(observations, seed)).map(({ text = "" }) => text),
    close: () => policy.close(),
  };
}

/** Lengths grow in steps of this many tokens, so that few graph shapes occur. */
const LENGTH_STEP = 64;

/** Returns options with lengths large enough for these starts. */
function fitting(sampler: Sampler, starts: readonly unknown[], options: SamplerOptions): SamplerOptions {
  const { length, canvas } = sampler.policy;
  const longest = (least: number, sizeOf: ((start: unknown) => number) | undefined): number =>
    starts
      .map((start) => sizeOf?.(start) ?? 0)
      .reduce((most, size) => (size > most ? LENGTH_STEP * Math.ceil(size / LENGTH_STEP) : most), least);
  return {
    ...options,
    promptLength: longest(options.promptLength, length),
    responseLength: longest(options.responseLength, canvas && ((start) => canvas(start, options))),
  };
}
