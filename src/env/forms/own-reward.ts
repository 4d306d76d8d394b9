import { z } from "zod";
import { checkMembers, isModulePath, type MemberSchemas } from "../../core/own-module.js";
import { loadFolder } from "../../core/registry.js";
import { anyReward } from "../environment.js";
import type { Task } from "../site.js";
import type { Episode } from "./episode.js";

/** A user's own reward: `reward: ./my-reward.mjs`, a module that exports one of these as `reward`. */
export interface RewardKind {
  /**
   * @param episode the plan's result on the page and the server, without a fault.
   * @returns the reward, a finite number, or a promise of it.
   */
  score(episode: Episode, task: Task): number | Promise<number>;
}

export const scoreByDefault: RewardKind["score"] = ({ reward }) => reward;
export const scoreByDocuments: RewardKind["score"] = ({ documentsReward }) => documentsReward;

/** Returns the scoring function: the default formula, that of the design documents, or a user's module. */
export async function rewardFor(name: string): Promise<RewardKind["score"]> {
  if (name === "default") return scoreByDefault;
  if (name === "documents") return scoreByDocuments;
  const entry = (await loadFolder<RewardKind>(new URL("./rewards/", import.meta.url), "reward", name, MEMBERS)).get(
    name,
  );
  if (entry === undefined || !isModulePath(name)) throw new Error(`no reward ${name}: the schema refuses it`);
  checkMembers(entry, [{ score: scoreByDefault }], name, "reward");
  return (episode, task) => entry.score(episode, task);
}

/** Schemas of the members of a user's reward. */
const MEMBERS: MemberSchemas = { score: z.promise(anyReward) };
