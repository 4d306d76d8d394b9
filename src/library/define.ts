import type { Sampler } from "../diffusion/sampler.js";
import type { EnvironmentKind } from "../env/environment.js";
import type { RewardKind } from "../env/forms/own-reward.js";
import type { SiteKind } from "../env/site.js";
import type { Objective } from "../rl/objective.js";
import type { TrackerKind } from "../watch/tracker.js";

/**
 * Type-checks the exports of a user's own module, which a config names by its path (`objective: {kind:
 * ./my-objective.mjs}`). Each function returns its argument.
 */
export const defineObjective = <Options>(objective: Objective<Options>): Objective<Options> => objective;
export const defineSampler = <S extends Sampler>(sampler: S): S => sampler;
export const defineEnvironment = (environment: EnvironmentKind): EnvironmentKind => environment;
export const defineSite = <Options>(site: SiteKind<Options>): SiteKind<Options> => site;
export const defineTracker = <Options>(tracker: TrackerKind<Options>): TrackerKind<Options> => tracker;
export const defineReward = (reward: RewardKind): RewardKind => reward;
