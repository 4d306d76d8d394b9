import { z } from "zod";
import { misuse } from "../../core/errors.js";
import type { Scoring } from "../layout/scorings.js";
import { cacheUse, type Sampler, temperatureOption } from "../sampler.js";
import { constrainedHead, modelHead, policyHead } from "../score-head.js";
import { afterEosFraction } from "../scored-tokens.js";
import { constrainedOption, EXPLORES_OPTIONS, exploreOption, roomKeys, roomsOf, type TextStart } from "../template.js";
import { textPolicy } from "../text-policy.js";
import type { SampledModel } from "../tokens.js";
import { corruptBatch } from "./unmask/corrupt.js";
import { boundTerms } from "./unmask/elbo.js";
import { nextTokenLoss } from "./unmask/next-token.js";
import { isSerial, SLOT_FILLS, SLOT_ORDERS, type UnmaskOptions, unmaskShapes } from "./unmask/options.js";
import { packedLength, roundTerms } from "./unmask/replay.js";
import { rollout } from "./unmask/rollout.js";
import { type RowStatistics, roundHead } from "./unmask/round.js";
import { textTerms } from "./unmask/text.js";
import { drafts, parseTrajectory, reveals, type UnmaskTrajectory } from "./unmask/trajectory.js";

/**
 * Slot-wise unmasking as a stochastic policy with an exact likelihood.
 *
 * A canvas of L masks is revealed in T rounds of whole slots: one run, or a template's blanks. Buffer = prompt | given
 * tokens | committed tokens in commit order | open masks by position, causal, with original positions (a bidirectional
 * model reads the canvas in place). Each round takes the best open slots, ranked by the distribution BEFORE sampling.
 * Their tokens are sampled at temperature tau:
 * - `parallel`: all at once, each from its own mask;
 * - `autoregressive` (as ReFusion decodes, arXiv 2512.13586): a slot's first token from its mask, then each from the
 *   next-token logits of the one before, slots side by side: k - 1 passes more, over the chosen slots only. Slots of
 *   one round never see each other (canvas.ts), and are independent given the context;
 * - `next-token`: without masks, each blank from its label on (next-token.ts).
 * EOS may be sampled only where its blank has no open position to the left and no committed one to the right; it closes
 * the blank. Tokens drawn to its right in that round are not kept nor scored (independent given the context, so exact).
 * Later rounds share the open slots. Hence log pi = the sum of the kept tokens' log-probabilities, and its gradient has
 * zero mean under a constant reward.
 */
const schema = z
  .strictObject({
    rounds: z.number().int().min(1).max(100_000).default(8).describe("rounds of unmasking"),
    slot_size: z.number().int().min(1).max(100_000).default(4).describe("positions revealed together"),
    response_length: z
      .number()
      .int()
      .min(1)
      .max(1_000_000)
      .default(96)
      .describe("canvas in tokens, a multiple of slot_size"),
    prompt_length: z.number().int().min(1).max(1_000_000).default(64).describe("longest prompt in tokens"),
    temperature: temperatureOption,
    order: z
      .enum(SLOT_ORDERS)
      .default("confidence")
      .describe(
        "how slots are ranked, by their first position; blanks: the next slot of every blank of a template, side by side; all in the last round",
      ),
    slot_fill: z
      .enum(SLOT_FILLS)
      .default("parallel")
      .describe(
        "tokens of a slot: all at once; autoregressive = the first from its mask and each other from the one before (causal); single-mask = the same, a slot not yet filled being read as one mask; next-token = each from the one before, the first of a blank from its label (causal, order=blanks)",
      ),
    speculate: z
      .int()
      .min(1)
      .default(1)
      .describe(
        "with slot_fill=next-token: most tokens of a blank's slot that a pass predicts, the later ones from guesses copied from the prompt; it keeps those that it would have drawn one a pass: the same responses in fewer passes",
      ),
    canvas_per_prompt: z
      .number()
      .positive()
      .nullable()
      .default(null)
      .describe("canvas in tokens a token of the prompt, response_length at most; null = always response_length"),
    ...roomKeys,
    constrained_decoding: constrainedOption,
    explore: exploreOption,
    kv_cache: cacheUse,
  })
  .refine((config) => !config.constrained_decoding || config.slot_fill === "parallel" || config.order === "blanks", {
    path: ["constrained_decoding"],
    error:
      "needs slot_fill=parallel or order=blanks: slots of one blank that are written side by side do not see each other",
  })
  .refine(EXPLORES_OPTIONS.check, EXPLORES_OPTIONS.refusal)
  .refine((config) => config.slot_fill !== "next-token" || config.order === "blanks", {
    path: ["slot_fill"],
    error: "next-token needs order=blanks: a token is drawn from the one before it",
  })
  .refine((config) => config.slot_fill === "next-token" || config.speculate === 1, {
    path: ["speculate"],
    error: "needs slot_fill=next-token: other fills draw a slot's tokens in its own passes",
  })
  .refine((config) => config.response_length % config.slot_size === 0, {
    path: ["response_length"],
    error: "must be a multiple of slot_size",
  });

export type UnmaskConfig = z.output<typeof schema>;

function options(config: UnmaskConfig, model: SampledModel): UnmaskOptions {
  const isShifted = config.slot_fill === "next-token" && model.shifted === true && model.block === undefined;
  if (isSerial(config.slot_fill) && model.attention !== "causal" && !isShifted) {
    misuse(`sampler.slot_fill=${config.slot_fill} reads next-token logits, which a bidirectional model has not.`, {
      hint: "Set sampler.slot_fill=parallel.",
    });
  }
  return {
    rounds: config.rounds,
    slotSize: config.slot_size,
    responseLength: config.response_length,
    promptLength: config.prompt_length,
    temperature: config.temperature,
    order: config.order,
    slotFill: config.slot_fill,
    canvasPerPrompt: config.canvas_per_prompt,
    speculate: config.speculate,
    ...roomsOf(config),
    constrained: config.constrained_decoding,
    explore: config.explore,
    kvCache: config.kv_cache,
    model,
  };
}

/** Shrinks the canvas to whole slots, of the policy's own size where two of them fit. */
function shrink(options: UnmaskOptions, positions: number, steps: number): UnmaskOptions {
  const slotSize = Math.max(1, Math.min(options.slotSize, Math.floor(positions / 2)));
  const slots = Math.max(1, Math.floor(positions / slotSize));
  return { ...options, slotSize, responseLength: slots * slotSize, rounds: Math.min(options.rounds, steps) };
}

function refuses(scoring: Scoring, { model, slotFill, recordDrafts }: UnmaskOptions): string | undefined {
  if (recordDrafts && (slotFill === "single-mask" || slotFill === "next-token"))
    return `slot_fill=${slotFill} gives no draft of the tokens that a round leaves open`;
  if (scoring === "masks" && slotFill === "next-token") return "slot_fill=next-token reads no masks";
  return scoring === "text" && model.attention !== "causal"
    ? "a bidirectional model gives no probabilities of a text read from left to right"
    : undefined;
}

export const sampler: Sampler<UnmaskConfig, UnmaskOptions, UnmaskTrajectory, RowStatistics, TextStart> = {
  schema,
  policy: textPolicy,
  conditions: [],
  roundHead,
  scoreHeads: [policyHead, constrainedHead, modelHead],
  options,
  shapes: unmaskShapes,
  shrink,
  refuses,
  caches: ({ kvCache }) => kvCache,
  rollout,
  parse: (data, where, { tokens }) => parseTrajectory(data, where, tokens.eos),
  steps: (trajectory) => trajectory.rounds.length,
  size: (trajectory) => packedLength(trajectory),
  reveals,
  drafts: (trajectory, { tokens }) => drafts(trajectory, tokens.eos),
  stepTerms: roundTerms,
  boundTerms,
  textTerms,
  supervisedTerms: (examples, options, layout) =>
    (options.slotFill === "next-token" ? nextTokenLoss : corruptBatch)(examples, options, layout),
  watch: (batches, scoring, { model, slotFill }) => ({
    // null with shifted logits: a row is then neither at the position that it predicts nor before it
    after_eos_fraction:
      slotFill === "next-token" && model.shifted
        ? null
        : afterEosFraction(batches, slotFill === "next-token" ? "text" : scoring, model.tokens.eos),
  }),
};
