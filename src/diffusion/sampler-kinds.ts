import { z } from "zod";
import { misuse } from "../core/errors.js";
import { type MemberSchemas, method } from "../core/own-module.js";
import { loadFolder } from "../core/registry.js";
import type { Sampler } from "./sampler.js";

const members = (...names: readonly string[]): z.ZodType =>
  z.looseObject(Object.fromEntries(names.map((name) => [name, method()])));

/** Schemas of the members of a user's sampler. Options have to be finite: NaN rounds would loop forever. */
const MEMBERS: MemberSchemas = {
  policy: members("begin", "action", "example", "units", "metrics"),
  roundHead: members("emit", "read"),
  options: z
    .looseObject({
      responseLength: z.int().min(1),
      promptLength: z.int().min(1),
      temperature: z.number().min(0),
      // of `unmask`: infinite or large ranks would cross the blocks of a model
      rank: method(z.number().min(-100).max(100)).optional(),
      count: method(z.int().min(1)).optional(),
    })
    .catchall(
      z.unknown().refine((value) => typeof value !== "number" || Number.isFinite(value), "expected a finite number"),
    ),
  shapes: z.looseObject({ rows: z.int().optional(), steps: z.int().min(1) }),
  rollout: (_: unknown, starts: readonly unknown[]) => z.promise(z.array(z.looseObject({})).length(starts.length)),
};

/** Loads the shipped samplers, and the one that a config names by its file. */
export const samplerKinds = (named?: string): Promise<Map<string, Sampler>> =>
  loadFolder<Sampler>(new URL("./samplers/", import.meta.url), "sampler", named, MEMBERS);

/** Returns a sampler by name. @throws UserError where there is no such sampler. */
export async function samplerOf(kind: string): Promise<Sampler> {
  const sampler = (await samplerKinds(kind)).get(kind);
  if (sampler === undefined) misuse(`Unknown sampler ${kind}.`);
  return sampler;
}
