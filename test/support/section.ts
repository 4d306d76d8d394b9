import type { RunConfig } from "../../src/config/config.js";

/** A section of a config that belongs to its environment, as `site` of forms. */
export function sectionOf(config: RunConfig, name: string): unknown {
  const sections: Readonly<Record<string, unknown>> = config;
  return sections[name];
}
