import { z } from "zod";
import { versions } from "../../../runs/run-directory.js";

/** The section `distributed` of a config. */
export const distributedSchema = z.strictObject({
  redis: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      "Redis that workers join: redis://host:6379, rediss:// for TLS, or env:NAME; no password here; null = one process",
    ),
  jobs: z
    .array(z.enum(["episodes", "rollouts", "gradients"]))
    .min(1)
    .default(["rollouts", "gradients"])
    .describe(
      "what workers do: only play (episodes), generate and play (rollouts), score and differentiate (gradients)",
    ),
  blobs: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe("folder that all machines share, for adapters and gradients; null = in Redis"),
  lease_s: z
    .number()
    .min(2)
    .max(3600)
    .default(30)
    .describe("seconds without a sign of life after which a worker's job goes to another"),
  slow: z
    .number()
    .min(0)
    .default(4)
    .describe("a job that takes so many times the median is given to a second worker; 0 = never"),
  staleness: z
    .int()
    .min(0)
    .max(16)
    .default(0)
    .describe(
      "k: workers sample with the policy of k steps ago, while others train; 0 = the newest, one after the other",
    ),
});

export type DistributedOptions = z.output<typeof distributedSchema>;

/** Versions that must be equal on coordinator and workers, because they affect the numerical results. */
export function deciding(): Record<string, string> {
  const { refusion_train = "", onnxruntime_node = "" } = versions();
  return { refusion_train, onnxruntime_node };
}
