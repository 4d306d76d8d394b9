import type { Command } from "commander";
import { loadRegistries } from "../config/registries.js";
import { type ConfigKey, configKeys, runSchema } from "../config/schema.js";
import { misuse, nearest } from "../core/errors.js";
import { groupBy } from "../core/group-by.js";
import { HELP_WIDTH, wrapped } from "./shared.js";

/** Widths of the columns of keys and of sections. */
const KEYS = 47;
const SECTIONS = 15;

/**
 * Writes the help of a training command: its options and the sections of its config, or the keys that are named.
 * @param objective whose keys are shown; undefined: those that all objectives read.
 * @param about a key, a section or `all`; true: the overview.
 * @throws UserError where nothing has that name.
 */
export async function trainingHelp(command: Command, objective: string | undefined, about: string | true) {
  const registries = await loadRegistries();
  const keys = configKeys(runSchema(registries, objective, {})).filter(({ type }) => type !== "section");
  if (about !== true) return keysAbout(keys, about.replace(/=.*/s, "")).map(formatKey).join("\n");
  const description = registries.objectives.get(objective ?? "")?.description;
  if (description !== undefined) command.description(description);
  const sections = groupBy(keys, ({ path }) => (path.length === 1 ? "" : path[0]));
  const lines = [...sections].map(([section = "", own]) => {
    const names = own.map(({ path }) => path.slice(section === "" ? 0 : 1).join(".")).join(" ");
    const room = HELP_WIDTH - SECTIONS - 2;
    const shown = names.length <= room ? names : `${names.slice(0, names.lastIndexOf(" ", room - 4))} ...`;
    return `  ${section.padEnd(SECTIONS)}${shown}`;
  });
  return `${command.helpInformation()}
Config keys by section. --help SECTION or --help KEY explains them, --help all lists everything:
${lines.join("\n")}

Example:
  refusion-train ${command.name()} --config configs/tiny/letters-flow-grpo.yaml training.steps=40`;
}

/** Finds the keys of a section, or those that have this name or end with it. */
function keysAbout(keys: readonly ConfigKey[], name: string): readonly ConfigKey[] {
  if (name === "all") return keys;
  const paths = keys.map((key) => ({ key, path: key.path.join(".") }));
  const inside = paths.filter(({ path }) => `${path}.`.startsWith(`${name}.`));
  const found = inside.length > 0 ? inside : paths.filter(({ path }) => path.endsWith(`.${name}`));
  if (found.length > 0) return found.map(({ key }) => key);
  const near = nearest(name, [...new Set(paths.flatMap(({ path }) => [path, path.split(".")[0] as string]))]);
  misuse(`There is no config key ${name}.`, { hint: `--help ${near ?? "all"}` });
}

/** Formats a key as an override, with its default, its values and its description. */
function formatKey({ path, type, default: value, description }: ConfigKey): string {
  const shown = value === undefined ? `<${type}>` : Array.isArray(value) ? `[${value.join(",")}]` : String(value);
  const setting = `${path.join(".")}=${shown}`;
  const choices =
    value !== undefined && type.includes("|") && !/^(true|\w+\|null)/.test(type)
      ? ` (one of ${type.replaceAll("|", ", ")})`
      : "";
  const indent = " ".repeat(KEYS);
  const place = setting.length > KEYS - 3 ? `  ${setting}\n${indent}` : `  ${setting}`.padEnd(KEYS);
  return `${place}${wrapped(description + choices, indent).trimStart()}`;
}
