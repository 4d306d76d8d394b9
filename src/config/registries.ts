import { z } from "zod";
import { misuse } from "../core/errors.js";
import { calledFeature } from "../core/features.js";
import { isModulePath } from "../core/own-module.js";
import { loadFolder } from "../core/registry.js";
import { environmentKinds } from "../env/open.js";
import {
  DEFAULT_ENVIRONMENT,
  type ObjectivePlugIn,
  type PlugIn,
  type Registries,
  type Relation,
  type SectionOf,
} from "./schema.js";

/**
 * Loads the plug-ins: the files of their folders, and the modules that a config names by path (`objective: {kind:
 * ./my-objective.mjs}`).
 * @param raw the config's tree, as written; empty: the installed ones only.
 * @throws UserError where a user's module does not load.
 */
export async function loadRegistries(raw: Readonly<Record<string, unknown>> = {}): Promise<Registries> {
  const named = (section: unknown): string | undefined => {
    const kind = section !== null && typeof section === "object" && "kind" in section ? section.kind : undefined;
    return typeof kind === "string" && isModulePath(kind) ? kind : undefined;
  };
  const evaluation = (raw.evaluation ?? {}) as { readonly sampler?: unknown };
  const environmentKind = (raw.environment as { readonly kind?: unknown } | null | undefined)?.kind;
  const [objectives, samplers, ownSamplers, environments, trackers] = await Promise.all([
    folder<ObjectivePlugIn>("../rl/objectives/", "objective", named(raw.objective)),
    folder<PlugIn>("../diffusion/samplers/", "sampler", named(raw.sampler)),
    folder<PlugIn>("../diffusion/samplers/", "sampler", named(evaluation.sampler)),
    environmentKinds(named(raw.environment)),
    trackerSchemas(raw.tracking),
  ]);
  const environment = environments.get(
    typeof environmentKind === "string" && environments.has(environmentKind) ? environmentKind : DEFAULT_ENVIRONMENT,
  );
  const sections = await Promise.all(
    Object.entries(environment?.sections ?? {}).map(async ([name, section]): Promise<[string, SectionOf]> => {
      if ("schema" in section) return [name, section];
      const entries = await loadFolder<PlugIn>(section.folder, section.exportName, named(raw[name]));
      return [name, { entries, default: section.default, description: section.description }];
    }),
  );
  const own = sections.flatMap(([, section]) => ("entries" in section ? [section.entries] : []));
  for (const entries of [objectives, samplers, ownSamplers, environments, ...own]) checkSchemas(entries);
  const executor = await calledFeature<ExecutorSection>("executor");
  if (executor !== undefined)
    sections.push(["distributed", { schema: executor.schema.prefault({}), description: executor.description }]);
  return {
    relations: executor?.relations ?? [],
    objectives,
    samplers: new Map([...samplers, ...ownSamplers]),
    environments,
    sections: new Map(sections),
    trackers,
  };
}

/** The section `distributed` of a config, as `train/executor.ts` calls it. */
interface ExecutorSection extends PlugIn {
  readonly description: string;
  readonly relations: readonly Relation[];
}

/** Checks that every plug-in has a schema of options. @throws UserError where a user's module has none. */
function checkSchemas(entries: ReadonlyMap<string, PlugIn>): void {
  for (const [name, entry] of entries) {
    if ((entry.schema as unknown) instanceof z.ZodObject) continue;
    misuse(`${name} has no schema of its options.`, {
      hint: "give it an object of zod 4: schema: z.strictObject({}) where it has no options",
    });
  }
}

const folder = <T>(path: string, exportName: string, named?: string): Promise<Map<string, T>> =>
  loadFolder<T>(new URL(path, import.meta.url), exportName, named);

/** Loads the trackers by key; a user's own is named by the path of its module. */
async function trackerSchemas(tracking: unknown): Promise<Map<string, { readonly schema: z.ZodType }>> {
  const keys = tracking !== null && typeof tracking === "object" ? Object.keys(tracking).filter(isModulePath) : [];
  const maps = await Promise.all(
    [undefined, ...keys].map((key) => folder<{ schema: z.ZodType }>("../watch/trackers/", "tracker", key)),
  );
  return new Map(maps.flatMap((map) => [...map]));
}
