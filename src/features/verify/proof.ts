import type { RunConfig } from "../../config/config.js";
import { misuse } from "../../core/errors.js";
import { groupBy } from "../../core/group-by.js";
import type { Rng } from "../../core/rng.js";
import type { SamplerOptions } from "../../diffusion/sampler.js";
import { promptOf, type TemplateStart, type TextStart } from "../../diffusion/template.js";
import type { Policy } from "../../engine/policy.js";
import type { OptimizerOptions } from "../../optim/update-rule.js";
import type { Objective } from "../../rl/objective.js";

/** One figure of a proof: it holds where `measured` is finite and at most `limit`. */
export interface Measurement {
  readonly name: string;
  readonly measured: number;
  readonly limit: number;
  /** The measured quantity, and the size of the sample. */
  readonly detail: string;
  /** False where the sample is too small to tell: the limit is kept, and nothing is proved. */
  readonly proved?: boolean;
}

/** Makes figures with a common limit. */
export function figures(
  limit: number,
  rows: readonly (readonly [name: string, measured: number, detail: string])[],
): Measurement[] {
  return rows.map(([name, measured, detail]) => ({ name, measured, limit, detail }));
}

export interface ObjectiveOnTrial {
  readonly objective: Objective;
  readonly options: unknown;
}

/** The setting of a proof: a config's model and sampler, with an adapter that differs from the reference everywhere. */
export interface VerifyContext {
  readonly config: RunConfig;
  /** Not for training: see {@link open}. */
  readonly policy: Policy;
  /**
   * The starts of rollouts: token ids within the config's prompt length, with the page's template where it has one; or
   * the numbers of a state.
   */
  readonly prompts: readonly TextStart[];
  /** Objectives that learn from rollouts, the config's own first. */
  readonly objectives: readonly ObjectiveOnTrial[];
  /** Returns a stream of the config's seed. */
  rng(name: string): Rng;
  /**
   * Opens the same policy and reference on a runtime of their own, ready to train. The caller closes it.
   * @param optimizer default: the config's.
   */
  open(trial: ObjectiveOnTrial, optimizer?: OptimizerOptions): Promise<Policy>;
  /** Opens the same policy with the config's own precision of rollouts, where that is not the precision of scoring. */
  readonly openCoarse?: () => Promise<Policy>;
}

/**
 * A proof. Each file under proofs/ exports one as `proof`. The function under test is a parameter, with the real one as
 * default: a test replaces it by a faulty one, which the proof must detect.
 */
export interface Proof {
  /** The claim, in a few words. */
  readonly claim: string;
  run(context: VerifyContext): Promise<Measurement[]>;
}

/** Returns a sampler's likelihood of its steps. @throws UserError where it has none, and so nothing to prove. */
export const stepsOf = ({ stepTerms }: Policy["sampler"]): NonNullable<Policy["sampler"]["stepTerms"]> =>
  stepTerms ?? misuse("The sampler has no likelihood, so there is nothing to prove.");

export const holds = ({ measured, limit }: Measurement): boolean => Number.isFinite(measured) && measured <= limit;

/**
 * Returns the options of the config's sampler on a canvas of a few tokens, small enough to enumerate, at twice its
 * temperature: a trained policy is so certain that a fault in rare draws would not show.
 */
export function smallCanvas(
  { sampler, options }: Pick<Policy, "sampler" | "options">,
  positions = 16,
  steps = 3,
): SamplerOptions {
  return { ...sampler.shrink(options, positions, steps), temperature: 2 * options.temperature };
}

/** Prompt tokens read by a proof on a small canvas: the claim does not depend on their number. */
const SHORT = 12;

/** Takes `count` prompts in turn, each limited to its last `longest` tokens; a state is read as a whole. */
export function takePrompts(
  { prompts, policy }: Pick<VerifyContext, "prompts" | "policy">,
  count: number,
  longest = SHORT,
): (readonly number[])[] {
  const from = policy.model.config.reads_tokens === false ? 0 : -longest;
  return Array.from({ length: count }, (_, i) => promptOf(prompts[i % prompts.length] as TextStart).slice(from));
}

/** Most positions of a blank on a small canvas, where slots are shorter. */
const SMALL_ROOM = 3;

/**
 * Takes prompts with their templates, as far as these fit the options' canvas: a given token before each blank, and
 * blanks of a slot or a few tokens. On the config's own canvas templates are whole.
 */
export function takeStarts(
  context: Pick<VerifyContext, "prompts" | "policy">,
  count: number,
  { responseLength, slotSize = 1 }: SamplerOptions,
  longest = SHORT,
): TextStart[] {
  const isWhole = responseLength >= context.policy.options.responseLength;
  return takePrompts(context, count, longest).map((prompt, i): TextStart => {
    const start = context.prompts[i % context.prompts.length] as TextStart;
    if (!("parts" in start)) return prompt;
    return { prompt, parts: isWhole ? start.parts : shortened(start.parts, responseLength, slotSize) };
  });
}

/**
 * Takes pairs of starts as {@link takeStarts}: two rollouts of each prompt, and prompts of one length side by side. What
 * training shares between rollouts of a prompt must not be shared between those.
 */
export function takePairs(
  context: Pick<VerifyContext, "prompts" | "policy">,
  count: number,
  options: SamplerOptions,
  longest = SHORT,
): TextStart[] {
  const all = takeStarts(context, context.prompts.length, options, longest);
  const different = [...new Map(all.map((start) => [JSON.stringify(start), start])).values()];
  const byLength = [...groupBy(different, (start) => promptOf(start).length).values()];
  const sorted = byLength.sort((a, b) => b.length - a.length).flat();
  return Array.from({ length: count }, (_, i) => sorted[Math.floor(i / 2) % sorted.length] as TextStart);
}

function shortened(parts: TemplateStart["parts"], positions: number, slotSize: number): TemplateStart["parts"] {
  const room = slotSize * Math.ceil(Math.min(SMALL_ROOM, positions - 1) / slotSize);
  const lines = parts.flatMap((part, i) => {
    if (!("name" in part)) return [];
    const before = parts[i - 1];
    const given = before === undefined || "name" in before ? [] : before.slice(-1);
    const choices = part.choices?.map((choice) => choice.slice(0, room - 1));
    return [[given, { ...part, needs: room, whole: true as const, ...(choices && { choices }) }]];
  });
  return lines.slice(0, Math.max(1, Math.floor(positions / (room + 1)))).flat();
}

/** Selects the first objective of each scoring, and every one with inputs. The config's own is the first of its scoring. */
export function onePerScoring(trials: readonly ObjectiveOnTrial[]): ObjectiveOnTrial[] {
  const plain = trials.filter(({ objective }) => objective.inputs === undefined);
  const first = new Map(plain.map((trial) => [trial.objective.scoring, trial] as const).reverse());
  return trials.filter((trial) => trial.objective.inputs !== undefined || first.get(trial.objective.scoring) === trial);
}
