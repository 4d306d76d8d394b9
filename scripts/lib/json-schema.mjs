import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { ROOT } from "./setup.mjs";

const load = (file) => import(pathToFileURL(join(ROOT, "dist", "src", file)).href);

/**
 * The config as a JSON Schema (draft 2020-12), for editors that complete and check YAML while it is written. A section
 * of a `kind` is any of those that there are; a module of the user's takes whatever it takes. Reads the built program.
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

/** One of some kinds by name, the default's too where no kind is named, or a module's path. */
function anyKind(entries, defaultKind) {
  const own = [...entries].map(([kind, { schema }]) => {
    const section = toJson(schema.safeExtend({ kind: z.literal(kind) }));
    return kind === defaultKind ? section : { ...section, required: ["kind"] };
  });
  const module = { type: "object", properties: { kind: { type: "string", pattern: "[/\\\\]|\\.[cm]?[jt]s$" } } };
  return { anyOf: [...own, { ...module, required: ["kind"] }] };
}

/** Gives what may be written: keys with a default may be left out. */
function toJson(schema) {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return json;
}
