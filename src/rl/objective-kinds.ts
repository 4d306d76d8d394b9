import { z } from "zod";
import { misuse } from "../core/errors.js";
import type { MemberSchemas } from "../core/own-module.js";
import { loadFolder } from "../core/registry.js";
import type { GroupEpisode } from "./credit.js";
import type { Objective } from "./objective.js";

const value = z.looseObject({ name: z.string(), shape: z.array(z.unknown()) });
const turnCredit = z.union([z.number(), z.array(z.number()), z.object({ tokens: z.array(z.number()) })], {
  error: "expected a finite number, or an array of them",
});

/** Schemas of the members of a user's objective. */
const MEMBERS: MemberSchemas = {
  learnsFrom: z.enum(["rollouts", "supervision"]),
  scoring: z.enum(["steps", "bound", "masks", "text", "supervised"]),
  needs: z.looseObject({ reference: z.boolean() }),
  credit: (group: readonly GroupEpisode[]) =>
    z.tuple(group.map(({ turns }) => z.array(turnCredit).length(turns.length).nullable()) as unknown as [z.ZodType]),
  layout: z.looseObject({ inputs: z.looseObject({}), head: z.looseObject({}), segments: z.int().min(0) }),
  loss: z.looseObject({
    loss: value.refine(({ shape }) => shape.length === 0, "expected a scalar, as e.total(...) makes one"),
    metrics: z.record(z.string(), z.looseObject({ value, reduce: z.enum(["sum", "max"]) })),
  }),
};

/** Loads the shipped objectives, and the one that a config names by its file. */
export const objectiveKinds = (named?: string): Promise<Map<string, Objective>> =>
  loadFolder<Objective>(new URL("./objectives/", import.meta.url), "objective", named, MEMBERS);

/** Returns an objective by name. @throws UserError where there is no such objective. */
export async function objectiveOf(kind: string): Promise<Objective> {
  const objectives = await objectiveKinds(kind);
  const objective = objectives.get(kind);
  if (objective !== undefined) return objective;
  misuse(`Unknown objective ${kind}; known: ${[...objectives.keys()].join(", ")}.`);
}
