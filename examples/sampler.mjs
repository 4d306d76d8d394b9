// A sampler of your own: refusion-train flow-grpo --config FILE sampler.kind=./examples/sampler.mjs
import { defineSampler, unmaskSampler } from "refusion-train";
import { z } from "zod";

/** The sampler `unmask`, one slot a round: slower, and each slot sees all that were filled before it. */
export const sampler = defineSampler({
  ...unmaskSampler,
  schema: unmaskSampler.schema.safeExtend({
    careful: z.boolean().default(true).describe("one slot a round, whatever rounds says"),
  }),
  options(config, model) {
    const options = unmaskSampler.options(config, model);
    return config.careful ? { ...options, rounds: options.responseLength / options.slotSize } : options;
  },
});
