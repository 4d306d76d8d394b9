import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { z } from "zod";
import { loadFolder } from "../core/registry.js";
import type { ObjectivePlugIn, PlugIn, Registries } from "./schema.js";

/** The plug-ins that are installed: the files of their four folders. */
export async function loadRegistries(): Promise<Registries> {
  const [objectives, samplers, sites, trackers] = await Promise.all([
    folder<ObjectivePlugIn>("../rl/objectives/", "objective"),
    folder<PlugIn>("../diffusion/samplers/", "sampler"),
    folder<PlugIn>("../env/sites/", "site"),
    folder<{ readonly schema: z.ZodType }>("../watch/trackers/", "tracker"),
  ]);
  return { objectives, samplers, sites, trackers };
}

async function folder<T>(path: string, exportName: string): Promise<Map<string, T>> {
  const url = new URL(path, import.meta.url);
  return existsSync(fileURLToPath(url)) ? loadFolder<T>(url, exportName) : new Map();
}
