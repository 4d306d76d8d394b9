import { stringify } from "yaml";
import type { RunConfig } from "../../config/config.js";
import { valueAt } from "../../config/problems.js";
import { type ConfigKey, configKeys, type Registries, runSchema } from "../../config/schema.js";

/** Column of the comments, unless the setting is longer. */
const COMMENT_COLUMN = 40;

/**
 * Writes a config as a file to edit: every key with its value and its description, in the schema's order.
 * Loading it gives the same config again.
 */
export function configTemplate(config: RunConfig, command: string, path: string, registries: Registries): string {
  const keys = configKeys(runSchema(registries, command, config as unknown as Record<string, unknown>));
  const header = [
    `refusion-train ${command} --config ${path} --dry-run   (checks it, and estimates how long it takes)`,
    `refusion-train ${command} --config ${path}`,
    "Every key is here with its value; those that you leave out keep their defaults.",
  ];
  // a section that is null is written as a setting without keys
  const written = keys.filter(({ path }) => (valueAt(config, path.slice(0, -1)) ?? null) !== null);
  const lines = written.map((key) => line(key, valueAt(config, key.path)));
  return `${header.map((text) => `# ${text}\n`).join("")}${lines.join("\n")}\n`;
}

function line({ path, type, description }: ConfigKey, value: unknown): string {
  const indent = "  ".repeat(path.length - 1);
  const key = path.at(-1) as string;
  if (type === "section") {
    const comment = description === "" ? "" : `\n${indent}# ${description}`;
    const empty = value !== null && typeof value === "object" && Object.keys(value).length === 0;
    return `${comment}\n${indent}${key}:${empty ? " {}" : ""}`;
  }
  const choices = /\|(?!null$)/.test(type) && type !== "true|false" ? [type] : [];
  const comment = [...(description === "" ? [] : [description]), ...choices].join("; ");
  const onOneLine = { lineWidth: 0, collectionStyle: "flow", flowCollectionPadding: false } as const;
  const setting = `${indent}${key}: ${stringify(value, onOneLine).trim()}`;
  return comment === "" ? setting : `${setting.padEnd(COMMENT_COLUMN)} # ${comment}`;
}
