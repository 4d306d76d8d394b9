import type { RunConfig } from "../../config/config.js";
import { misuse } from "../../core/errors.js";
import type { ExecutorKind } from "../../train/executor.js";
import { redisAddress } from "./queue/connection.js";
import { openDistributed, playsElsewhere } from "./work/coordinator.js";
import { type DistributedOptions, distributedSchema } from "./work/options.js";

/** Computes rollouts, scores and gradients on workers that are connected through a Redis (docs/cluster.md). */
export const executor: ExecutorKind = {
  schema: distributedSchema,
  description: "workers on other machines",
  relations: [
    {
      path: ["distributed", "staleness"],
      error: "needs workers that sample: set distributed.redis, with rollouts among distributed.jobs",
      holds: (config) => {
        const { staleness, redis, jobs } = optionsOf(config);
        return staleness === 0 || (redis !== null && jobs.includes("rollouts"));
      },
    },
    {
      path: ["distributed", "staleness"],
      error: "needs truncated importance weights: set objective.importance_cap (2, say) of an objective that has it",
      holds: (config) => optionsOf(config).staleness === 0 || typeof config.objective.importance_cap === "number",
    },
  ],
  of(config) {
    const { redis, ...options } = optionsOf(config);
    if (redis === null) return undefined;
    redisAddress(redis);
    if (options.blobs !== null && !options.blobs.startsWith("/"))
      misuse("distributed.blobs has to be the same folder on every machine: give an absolute path.");
    return {
      playsElsewhere: playsElsewhere({ redis, ...options }),
      open: (policy, environment, run, note, signal) =>
        openDistributed(config, { redis, ...options }, policy, environment, run, note, signal),
    };
  },
};

const optionsOf = (config: RunConfig): DistributedOptions =>
  (config as unknown as { readonly distributed: DistributedOptions }).distributed;
