import { z } from "zod";
import { loadFolder } from "../core/registry.js";
import { environmentKinds } from "../env/open.js";
import { loadRegistries } from "./registries.js";
import { DEFAULT_ENVIRONMENT, type PlugIn, runSchema } from "./schema.js";

type JsonSchema = Record<string, unknown>;

/**
 * The config as a JSON Schema (draft 2020-12), for editors that complete and check YAML while it is written. A section
 * of a `kind` is any of those that there are; a module of the user's takes whatever it takes.
 */
export async function configJsonSchema(): Promise<JsonSchema> {
  const registries = await loadRegistries();
  const base = toJson(runSchema({ ...registries, objectives: new Map(), samplers: new Map() }, undefined, {}));
  const environments = await environmentKinds();
  const sections: JsonSchema = {
    objective: anyKind(registries.objectives),
    sampler: anyKind(registries.samplers),
    environment: anyKind(registries.environments),
  };
  for (const { sections: own = {} } of environments.values()) {
    for (const [name, section] of Object.entries(own)) {
      sections[name] =
        "schema" in section
          ? toJson(section.schema)
          : anyKind(await loadFolder<PlugIn>(section.folder, section.exportName), section.default);
    }
  }
  return {
    ...base,
    title: "refusion-train config",
    properties: { ...(base.properties as JsonSchema), ...sections },
    required: ["model"],
  };
}

/** One of some kinds by name, the default's too where no kind is named, or a module's path. */
function anyKind(entries: ReadonlyMap<string, PlugIn>, defaultKind = DEFAULT_ENVIRONMENT): JsonSchema {
  const own = [...entries].map(([kind, { schema }]) => {
    const section = toJson(schema.safeExtend({ kind: z.literal(kind) }));
    return kind === defaultKind ? section : { ...section, required: ["kind"] };
  });
  const module = { type: "object", properties: { kind: { type: "string", pattern: "[/\\\\]|\\.[cm]?[jt]s$" } } };
  return { anyOf: [...own, { ...module, required: ["kind"] }] };
}

/** Gives what may be written: keys with a default may be left out. */
function toJson(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return json;
}
