import type { RunConfig } from "../config/config.js";
import type { Rng } from "../core/rng.js";
import type { SamplerOptions } from "../diffusion/sampler.js";
import type { Policy } from "../engine/policy.js";
import type { Objective } from "../rl/objective.js";

/** One figure of a proof: it holds where `measured` is finite and at most `limit`. */
export interface Measurement {
  readonly name: string;
  readonly measured: number;
  readonly limit: number;
  /** What was measured, on how much. */
  readonly detail: string;
}

export interface ObjectiveOnTrial {
  readonly objective: Objective;
  readonly options: unknown;
}

/** What proofs work on: a config's model and sampler, with an adapter that differs from the reference everywhere. */
export interface VerifyContext {
  readonly config: RunConfig;
  /** Not for training: see {@link open}. */
  readonly policy: Policy;
  /** What rollouts begin from: token ids, all of them within the config's prompt length, or the numbers of a state. */
  readonly prompts: readonly (readonly number[])[];
  /** Objectives that learn from rollouts. */
  readonly objectives: readonly ObjectiveOnTrial[];
  /** A stream of the config's seed. */
  rng(name: string): Rng;
  /** The same policy and reference on a runtime of their own, ready to train. The caller closes it. */
  open(trial: ObjectiveOnTrial): Promise<Policy>;
}

/**
 * A file under proofs/ exports one of these as `proof`. What it puts on trial is a parameter of a function beside it,
 * with the real thing as default: a test puts a broken one in its place, which the proof must find.
 */
export interface Proof {
  /** What holds, in a few words. */
  readonly claim: string;
  /** The sampler whose outcomes it enumerates; undefined: it holds for every sampler. */
  readonly sampler?: string;
  run(context: VerifyContext): Promise<Measurement[]>;
}

export function holds({ measured, limit }: Measurement): boolean {
  return Number.isFinite(measured) && measured <= limit;
}

/**
 * The config's sampler on a canvas of a few tokens, cheap and short enough to enumerate, at twice its temperature: a
 * trained policy is so sure of itself that a fault in what it seldom does would not show.
 */
export function smallCanvas(
  { sampler, options }: Pick<Policy, "sampler" | "options">,
  positions = 16,
  steps = 3,
): SamplerOptions {
  return { ...sampler.shrink(options, positions, steps), temperature: 2 * options.temperature };
}

/** `count` prompts in turn. */
export function takePrompts({ prompts }: Pick<VerifyContext, "prompts">, count: number): (readonly number[])[] {
  return Array.from({ length: count }, (_, i) => prompts[i % prompts.length] as readonly number[]);
}
