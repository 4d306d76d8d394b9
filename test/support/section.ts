import type { RunConfig } from "../../src/config/config.js";

/** Reads a section of a config that belongs to its environment, such as `site` of forms. */
export function sectionOf(config: RunConfig, name: string): unknown {
  const sections: Readonly<Record<string, unknown>> = config;
  return sections[name];
}
