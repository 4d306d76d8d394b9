import { z } from "zod";
import { checkMembers, guarded, loadEntry, type MemberSchemas } from "../../core/own-module.js";
import { anyReward } from "../environment.js";
import type { Task } from "../site.js";
import type { Episode } from "./episode.js";
import { judgedBySite } from "./verdict.js";

/** A user's own reward: `reward: ./my-reward.mjs`, a module that exports one of these as `reward`. */
export interface RewardKind {
  /**
   * @param episode the plan's result on the page and the server, without a fault.
   * @returns the reward, a finite number, or a promise of it.
   */
  score(episode: Episode, task: Task): number | Promise<number>;
  /** Replaces what the true values say of an episode. */
  judged?(episode: Episode, task: Task): Episode;
}

const score: RewardKind["score"] = ({ reward }) => reward;

/** The rewards of this program; each is from 0 to 1. */
export const REWARDS = {
  default: { score },
  documents: { score: ({ documentsReward }) => documentsReward },
  // other splits are measured by their true values, and never learned from
  verdict: { score, judged: (episode, { split }) => (split === "train" ? judgedBySite(episode) : episode) },
} satisfies Record<string, RewardKind>;
export const REWARD_NAMES = ["default", "documents", "verdict"] as const;

/** Returns one of this program's rewards, or that of a user's module. */
export async function rewardFor(name: string): Promise<RewardKind> {
  if (Object.hasOwn(REWARDS, name)) return REWARDS[name as keyof typeof REWARDS];
  const entry = await loadEntry(name, "reward");
  checkMembers(entry, [REWARDS.default], name, "reward");
  const { score } = guarded(entry as RewardKind, name, MEMBERS);
  return { score };
}

/** Schemas of the members of a user's reward. */
const MEMBERS: MemberSchemas = { score: z.promise(anyReward) };
