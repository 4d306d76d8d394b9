// A sampler of your own: refusion-train flow-grpo --config FILE sampler.kind=./examples/sampler.mjs
import { defineSampler, unmaskSampler } from "refusion-train";
import { z } from "zod";

/** The sampler `unmask` by margin: a round commits all slots that are sure, as in Fast-dLLM (arXiv 2505.22618). */
export const sampler = defineSampler({
  ...unmaskSampler,
  schema: unmaskSampler.schema.safeExtend({
    sure: z.number().min(0).max(1).default(0.5).describe("slots that rank above this are committed together"),
  }),
  options: (config, model) => ({
    ...unmaskSampler.options(config, model),
    // an open slot before anything is drawn; the best come first
    rank: ({ top, top2 }) => top - top2,
    // slots of this round, at least 1; the last round takes all
    count: ({ ranks }) => Math.max(1, ranks.filter((rank) => rank > config.sure).length),
  }),
});
