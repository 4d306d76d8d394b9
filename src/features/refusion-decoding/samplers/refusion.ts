import { z } from "zod";
import { closing } from "../../../core/closing.js";
import { fail, misuse } from "../../../core/errors.js";
import type { Rng } from "../../../core/rng.js";
import { inBatches } from "../../../diffusion/batches.js";
import { RoundReader, type RowRequest } from "../../../diffusion/round-reader.js";
import { cacheUse, type RoundModel, type Sampler } from "../../../diffusion/sampler.js";
import { roomKeys, roomsOf, type TextStart } from "../../../diffusion/template.js";
import { textPolicy } from "../../../diffusion/text-policy.js";
import type { SampledModel } from "../../../diffusion/tokens.js";
import { type DraftedToken, decode, type Question, type Search } from "../decode.js";
import { draftHead, type RowDrafts } from "../head.js";
import { type RefusionOptions, refusionShapes } from "../options.js";
import { parseTrajectory, type RefusionTrajectory, reveals } from "../trajectory.js";

/**
 * ReFusion's own decoding (plan, verify, commit) for evaluation: a deterministic search, not a policy. It has no
 * likelihood, and cannot be used for training; `unmask` is the policy of the same models.
 */
const probability = (otherwise: number): z.ZodDefault<z.ZodNumber> => z.number().min(0).max(1).default(otherwise);
const positive = (otherwise: number): z.ZodDefault<z.ZodInt> => z.int().min(1).default(otherwise);

const schema = z
  .strictObject({
    slot_size: positive(4).describe("positions of a slot (k)"),
    serial_blocks: positive(1).describe("parts of the canvas, finished one after the other"),
    slot_threshold: probability(0.6).describe(
      "slots whose first drafted token is more probable are decoded together (tau_slot)",
    ),
    token_threshold: probability(0.3).describe(
      "a drafted token stays where it is more probable given those before it (tau_token)",
    ),
    response_length: positive(96).describe("canvas in tokens, a multiple of slot_size * serial_blocks"),
    prompt_length: positive(64).describe("longest prompt in tokens"),
    ...roomKeys,
    kv_cache: cacheUse,
  })
  .refine((config) => config.response_length % (config.slot_size * config.serial_blocks) === 0, {
    path: ["response_length"],
    error: "must be a multiple of slot_size * serial_blocks",
  });

export type RefusionConfig = z.output<typeof schema>;

function options(config: RefusionConfig, model: SampledModel): RefusionOptions {
  if (model.attention !== "causal")
    misuse("sampler.kind=refusion reads drafts from left to right, which a bidirectional model cannot do.", {
      hint: "Use sampler.kind=unmask.",
    });
  return {
    slotSize: config.slot_size,
    blocks: config.serial_blocks,
    slotThreshold: config.slot_threshold,
    tokenThreshold: config.token_threshold,
    responseLength: config.response_length,
    promptLength: config.prompt_length,
    temperature: 0,
    ...roomsOf(config),
    kvCache: config.kv_cache,
    model,
  };
}

/** Reduces the canvas to one block of whole slots. */
function shrink(options: RefusionOptions, positions: number): RefusionOptions {
  const slotSize = Math.max(1, Math.min(options.slotSize, Math.floor(positions / 2)));
  return { ...options, slotSize, blocks: 1, responseLength: Math.max(1, Math.floor(positions / slotSize)) * slotSize };
}

async function rollout(
  model: RoundModel<RowDrafts>,
  starts: readonly TextStart[],
  options: RefusionOptions,
  _rngs: readonly Rng[],
  batchSize = starts.length,
): Promise<RefusionTrajectory[]> {
  if (options.temperature !== 0)
    misuse(`sampler.kind=refusion is deterministic: there is no temperature of ${options.temperature}.`, {
      hint: "Set evaluation.temperature=null.",
    });
  return inBatches(
    starts,
    options,
    batchSize,
    (prompt, _, template) => decode(prompt, options, template),
    (searches) => searchTogether(model, searches, options, batchSize),
  );
}

/** Runs searches together: every forward pass answers the open questions of all unfinished searches. */
async function searchTogether(
  model: RoundModel<RowDrafts>,
  searches: readonly Search[],
  options: RefusionOptions,
  batch: number,
): Promise<RefusionTrajectory[]> {
  const { pad, eos } = options.model.tokens;
  const shapes = refusionShapes(options);
  const sizes = { roundHead: draftHead, batch, shapes, pad, temperature: 1, kvCache: options.kvCache };
  await using reader = closing(await RoundReader.open(model, sizes));
  const states = searches.map((search) => search.next());
  while (states.some((state) => state.done !== true)) {
    const requests = states.map((state) => (state.done === true ? undefined : requestOf(state.value, eos)));
    const { round, places } = await reader.ask(requests);
    searches.forEach((search, b) => {
      if (requests[b] !== undefined) states[b] = search.next((places[b] ?? []).map((at) => answerAt(round, at)));
    });
  }
  return states.map((state) => state.value as RefusionTrajectory);
}

function requestOf({ buffer, rows }: Question, eos: number): RowRequest {
  const target = BigInt64Array.from(rows, ({ target }) => BigInt(target ?? eos));
  return { buffer, rows: rows.map(({ row }) => row), features: { target } };
}

function answerAt(drafts: RowDrafts, at: number): DraftedToken {
  const probability = Math.exp(drafts.logProb[at] as number);
  if (!Number.isFinite(probability))
    fail("The model gave a probability that is not finite.", {
      hint: "Its weights or activations overflowed: go back to an earlier checkpoint.",
    });
  return { token: Number(drafts.token[at]), probability, target: Math.exp(drafts.targetLogProb[at] as number) };
}

export const sampler: Sampler<RefusionConfig, RefusionOptions, RefusionTrajectory, RowDrafts, TextStart> = {
  schema,
  policy: textPolicy,
  conditions: [],
  roundHead: draftHead,
  scoreHeads: [],
  options,
  shapes: refusionShapes,
  shrink,
  caches: ({ kvCache }) => kvCache,
  rollout,
  parse: (data, where, { tokens }) => parseTrajectory(data, where, tokens.eos),
  steps: () => 0,
  size: ({ prompt, response }) => prompt.length + response.length,
  reveals,
};
