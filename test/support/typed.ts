import assert from "node:assert/strict";
import type { Sampler, SamplerOptions } from "../../src/diffusion/sampler.js";
import type { Trajectory } from "../../src/diffusion/trajectory.js";
import type { Objective } from "../../src/rl/objective.js";

/** Parses an objective's options from a config's section, with defaults. */
export const objectiveOptions = <O>(objective: Objective<O>, section: object = {}): O =>
  objective.schema.parse(section) as O;

/** Parses a sampler's section of a config, with defaults. */
export function samplerConfig<C, O extends SamplerOptions, T extends Trajectory, R, S>(
  sampler: Sampler<C, O, T, R, S>,
  section: object = {},
): C {
  return sampler.schema.parse(section) as C;
}

/** The part of a type that a test provides. */
type Part<T> = T | (T extends (...given: never[]) => unknown ? never : { readonly [K in keyof T]?: Part<T[K]> });

/** Types an object as complete where the code under test reads only these members; others are undefined. */
export const only = <T>(members: Part<T>): T => members as T;

/** Returns the same object after asserting that these optional parts are present. */
export function having<T extends object, K extends keyof T>(object: T, ...parts: K[]): T & Required<Pick<T, K>> {
  for (const part of parts) assert.notEqual(object[part], undefined, `has no ${String(part)}`);
  return object as T & Required<Pick<T, K>>;
}
