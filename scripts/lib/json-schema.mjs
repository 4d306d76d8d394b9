import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { ROOT } from "./setup.mjs";

const load = (file) => import(pathToFileURL(join(ROOT, "dist", "src", file)).href);

/**
 * Builds the config's JSON Schema (draft 2020-12), with which editors complete and check YAML. A section with a `kind`
 * accepts any of the known kinds; a section of a user's module accepts any keys. Needs the built program.
 */
export async function configJsonSchema() {
  const [{ loadFolder }, { environmentKinds }, { loadRegistries }, { DEFAULT_ENVIRONMENT, runSchema }] =
    await Promise.all(["core/registry.js", "env/open.js", "config/registries.js", "config/schema.js"].map(load));
  const registries = await loadRegistries();
  const base = toJson(runSchema({ ...registries, objectives: new Map(), samplers: new Map() }, undefined, {}));
  const sections = {
    objective: anyKind(registries.objectives, DEFAULT_ENVIRONMENT),
    sampler: anyKind(registries.samplers, DEFAULT_ENVIRONMENT),
    environment: anyKind(registries.environments, DEFAULT_ENVIRONMENT),
  };
  for (const { sections: own = {} } of (await environmentKinds()).values()) {
    for (const [name, section] of Object.entries(own)) {
      sections[name] =
        "schema" in section
          ? toJson(section.schema)
          : anyKind(await loadFolder(section.folder, section.exportName), section.default);
    }
  }
  return {
    ...base,
    title: "refusion-train config",
    properties: { ...base.properties, ...sections },
    required: ["model"],
  };
}

/** Builds a section's schema: a kind by name, the default kind without a name, or the path of a module. */
function anyKind(entries, defaultKind) {
  const own = [...entries].map(([kind, { schema }]) => {
    const section = toJson(schema.safeExtend({ kind: z.literal(kind) }));
    return kind === defaultKind ? section : { ...section, required: ["kind"] };
  });
  const module = { type: "object", properties: { kind: { type: "string", pattern: "[/\\\\]|\\.[cm]?[jt]s$" } } };
  return { anyOf: [...own, { ...module, required: ["kind"] }] };
}

/** Builds the schema of the input, in which keys with a default are optional. */
function toJson(schema) {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return json;
}
