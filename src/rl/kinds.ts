import { misuse } from "../core/errors.js";
import { loadFolder } from "../core/registry.js";
import type { Objective } from "./objective.js";

/** The objectives that there are, and the one that a config names by its file. */
export function objectiveKinds(named?: string): Promise<Map<string, Objective>> {
  return loadFolder<Objective>(new URL("./objectives/", import.meta.url), "objective", named);
}

/** Finds an objective by its name. @throws UserError where there is no such objective. */
export async function objectiveOf(kind: string): Promise<Objective> {
  const objectives = await objectiveKinds(kind);
  const objective = objectives.get(kind);
  if (objective !== undefined) return objective;
  misuse(`Unknown objective ${kind}; known: ${[...objectives.keys()].join(", ")}.`);
}
