import { misuse } from "../core/errors.js";
import { loadFolder } from "../core/registry.js";
import type { Sampler } from "./sampler.js";

/** The samplers that there are, and the one that a config names by its file. */
export function samplerKinds(named?: string): Promise<Map<string, Sampler>> {
  return loadFolder<Sampler>(new URL("./samplers/", import.meta.url), "sampler", named);
}

/** Finds a sampler by its name. @throws UserError where there is no such sampler. */
export async function samplerOf(kind: string): Promise<Sampler> {
  const sampler = (await samplerKinds(kind)).get(kind);
  if (sampler === undefined) misuse(`Unknown sampler ${kind}.`);
  return sampler;
}
