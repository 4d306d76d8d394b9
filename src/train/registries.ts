import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { loadFolder } from "../core/registry.js";
import type { ObjectivePlugIn, PlugIn, Registries } from "./config-schema.js";
import { trackerKinds } from "./tracker.js";

/** The plug-ins that are installed: the files of their four folders. */
export async function loadRegistries(): Promise<Registries> {
  const [objectives, samplers, sites, trackers] = await Promise.all([
    folder<ObjectivePlugIn>("../rl/objectives/", "objective"),
    folder<PlugIn>("../diffusion/samplers/", "sampler"),
    folder<PlugIn>("../env/sites/", "site"),
    trackerKinds(),
  ]);
  return { objectives, samplers, sites, trackers };
}

async function folder<T>(path: string, exportName: string): Promise<Map<string, T>> {
  const url = new URL(path, import.meta.url);
  return existsSync(fileURLToPath(url)) ? loadFolder<T>(url, exportName) : new Map();
}
