/**
 * Supervised fine-tuning with the usual loss of a model's kind, as its sampler defines it: ReFusion's and LLaDA's
 * masked cross-entropy (diffusion/samplers/unmask/corrupt.ts), FS-DFM's generalised KL. The weights of the terms are drawn with
 * the corruption and are given as coefficients:
 *
 *   loss = - sum_r coefficient[r] * score_r
 */
import { z } from "zod";
import type { Objective } from "../objective.js";

const schema = z.strictObject({
  batch_size: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe("examples a step; null = training.prompts_per_step * training.group_size"),
  pack_length: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      "tokens of a sequence that holds several examples, without padding, a training pass each; null = a padded sequence an example",
    ),
  trainable: z.enum(["lora", "full"]).default("lora").describe("train the adapter, or every weight of the model"),
  ar_weight: z
    .number()
    .min(0)
    .nullable()
    .default(null)
    .describe("weight of the autoregressive loss inside clean slots; null = 0.5 where the model is causal, else none"),
  draft_weight: z
    .number()
    .min(0)
    .default(1)
    .describe("weight of a slot's masks behind its first, from which slot_fill=autoregressive draws nothing"),
  mask_given: z
    .boolean()
    .default(false)
    .describe("plan=template: masks what the page gives too, and learns to write it; else the blanks alone"),
  augment: z
    .number()
    .min(0)
    .max(1)
    .default(0)
    .describe(
      "share of synthetic examples: random form titles and labels (embedded site), or fields of the tasks put together anew",
    ),
  optimizer: z
    .enum(["adamw", "muon"])
    .default("adamw")
    .describe("muon: Newton-Schulz momentum on hidden matrices, AdamW elsewhere"),
  muon_lr_scale: z
    .number()
    .positive()
    .default(10)
    .describe("learning rate of Muon's matrices, as a multiple of AdamW's"),
  output: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe("with trainable: full, the model directory to write; must not exist"),
});

export type SftOptions = z.infer<typeof schema>;

/** Returns the examples of a step. */
export function batchSize(
  { batch_size }: Pick<SftOptions, "batch_size">,
  training: { readonly prompts_per_step: number; readonly group_size: number },
): number {
  return batch_size ?? training.prompts_per_step * training.group_size;
}

const NO_ROLLOUTS = "it learns from given answers, and has no rollouts";
const UNREAD = {
  "training.num_iterations": "each step draws examples of its own, and takes one update",
  "training.rollout_batch": NO_ROLLOUTS,
  "training.gradient_slots": "it sums a step's gradients in one place",
  "training.dynamic_sampling": NO_ROLLOUTS,
  "training.curriculum": NO_ROLLOUTS,
  "training.reference_refresh": "it has no reference",
  "training.min_signal_groups": NO_ROLLOUTS,
  "training.gradient_noise_every": NO_ROLLOUTS,
  "training.early_stop": "it ends after training.steps, whatever the validation reward",
  distributed: "its steps are taken in this process",
  report: NO_ROLLOUTS,
};

export const objective: Objective<SftOptions> = {
  name: "sft",
  description: "supervised fine-tuning on oracle plans with the model's own masked loss",
  schema,
  learnsFrom: "supervision",
  scoring: "supervised",
  needs: () => ({ reference: false }),
  unread: ({ batch_size, pack_length, trainable, optimizer }) => ({
    ...UNREAD,
    ...(batch_size !== null && {
      "training.prompts_per_step": "objective.batch_size is the number of examples a step",
      "training.group_size": "objective.batch_size is the number of examples a step",
    }),
    ...(pack_length !== null && { "training.micro_batch": "objective.pack_length makes each sequence a pass" }),
    ...(trainable === "full"
      ? { lora: "objective.trainable=full has no adapter", init_adapter: "objective.trainable=full has no adapter" }
      : { "objective.output": "only objective.trainable=full writes a model" }),
    ...(optimizer === "adamw" && { "objective.muon_lr_scale": "objective.optimizer is adamw" }),
  }),
  credit: (group) => group.map(() => null),
  layout() {
    throw new Error("sft learns from supervised batches, not from trajectories");
  },
  loss: ({ e, logProbs, coefficient }) => ({ loss: e.neg(e.total(e.mul(logProbs, coefficient))), metrics: {} }),
};
