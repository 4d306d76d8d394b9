import assert from "node:assert/strict";
import { z } from "zod";
import type { Objective } from "../../src/rl/objective.js";

/** The setting in which an option acts, and why it does not act alone. */
export interface Setting {
  readonly why: string;
  /** Other options. */
  readonly beside?: object;
  /** The value, in place of half or twice the default. */
  readonly to?: unknown;
  /** Values that mean the same here. */
  readonly same?: readonly unknown[];
  /** What shows it, where the effect does not. */
  readonly seen?: (objective: Objective, options: unknown) => unknown;
}

/** Lists the values to try of an option: every other word, and a number below and above the default, or `to`. */
function valuesOf(schema: z.ZodType, usual: unknown, to: unknown): unknown[] {
  const words: unknown[] = [];
  const collect = ({ enum: all = [], const: one, anyOf = [], type }: z.core.JSONSchema.BaseSchema): void => {
    words.push(...all, ...(one === undefined ? [] : [one]), ...(type === "boolean" ? [true, false] : []));
    for (const part of anyOf) collect(part as z.core.JSONSchema.BaseSchema);
  };
  collect(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }));
  const from = typeof usual === "number" ? usual : 1;
  const numbers = [from / 2, from * 2, 1, 2].filter((value) => value !== usual && schema.safeParse(value).success);
  return [...new Set([...words, to ?? numbers[0]])].filter((value) => value !== undefined && value !== usual);
}

/**
 * Lists an objective's options that change nothing and are not refused, and those that should not change anything and do.
 * @param settings by option, of every objective or of one (`espo.noise_every`). @param effect of options.
 */
export async function idleOptions(
  objective: Objective,
  settings: Readonly<Record<string, Setting>>,
  effect: (options: unknown) => Promise<unknown>,
): Promise<string[]> {
  const found: string[] = [];
  const shown = async (options: unknown, seen: Setting["seen"] | undefined): Promise<string> =>
    JSON.stringify(seen === undefined ? await effect(options) : seen(objective, options));
  const usual = new Map<string, string>();
  for (const [key, schema] of Object.entries(objective.schema.shape) as [string, z.ZodType][]) {
    const setting = settings[`${objective.name}.${key}`] ?? settings[key];
    const { beside = {}, same = [], to, seen } = setting ?? {};
    const before = objective.schema.parse(beside) as Record<string, unknown>;
    const tried = valuesOf(schema, before[key], to);
    assert.notEqual(tried.length, 0, `${objective.name}.${key}`);
    const named = JSON.stringify([beside, seen && key]);
    if (!usual.has(named)) usual.set(named, await shown(before, seen));
    for (const value of tried) {
      const options = objective.schema.parse({ ...beside, [key]: value });
      const refused = objective.unread?.(options)?.[`objective.${key}`] !== undefined;
      const acts = refused || (await shown(options, seen)) !== usual.get(named);
      if (acts === same.includes(value)) found.push(`${objective.name}.${key}=${value}${acts ? " acts" : ""}`);
    }
  }
  return found;
}
