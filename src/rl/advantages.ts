import { mean, std } from "../core/statistics.js";

/** Ways to turn the rewards of one task into advantages. */
export type AdvantageKind = "group" | "center" | "leave_one_out";

/** Standard deviation of rewards below which a group carries no signal. */
export const SIGNAL_THRESHOLD = 1e-6;

/**
 * Returns the advantages [G] of a group of G rollouts of one task, or undefined where the rewards are (nearly) equal:
 * such a group is not trained on at all, KL included.
 *   group          (r - mean) / (std + 1e-8)            GRPO (Shao et al. 2024)
 *   center         r - mean                             Dr. GRPO (Liu et al. 2025)
 *   leave_one_out  r_g - mean of the others             RLOO (Ahmadian et al. 2024)
 * each clipped to +-clipMax.
 */
export function advantages(rewards: readonly number[], kind: AdvantageKind, clipMax: number): number[] | undefined {
  if (rewards.length < 2) return undefined;
  const deviation = std(rewards);
  if (deviation < SIGNAL_THRESHOLD) return undefined;
  const m = mean(rewards);
  const n = rewards.length;
  const raw = (r: number): number => {
    switch (kind) {
      case "group":
        return (r - m) / (deviation + 1e-8);
      case "center":
        return r - m;
      case "leave_one_out":
        return ((r - m) * n) / (n - 1);
    }
  };
  return rewards.map((r) => Math.max(-clipMax, Math.min(clipMax, raw(r))));
}
