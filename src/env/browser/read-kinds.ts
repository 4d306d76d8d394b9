import type { FieldKind, RunningSite, Task } from "../site.js";
import { findControl } from "./controls.js";
import { EpisodeRunner } from "./episode.js";
import { kindOfValue } from "./reach.js";

/** Limits that suit a page that is only read. */
const READING = {
  contexts: 2,
  actionTimeoutMs: 20_000,
  episodeTimeoutMs: 120_000,
  uploads: "dummy",
  headless: true,
} as const;

/**
 * Reads each field's control with a browser, once a page: what supervised training needs of a site that cannot tell it
 * otherwise. A field that the untouched page does not show is taken for what its value says.
 * @returns the kinds of a task's fields, by label.
 * @throws EnvironmentFault where a page cannot be read; UserError where there is no browser.
 */
export async function readFieldKinds(
  site: RunningSite,
  tasks: readonly Task[],
): Promise<(task: Task) => Readonly<Record<string, FieldKind>>> {
  const runner = await EpisodeRunner.open({ site, ...READING });
  try {
    const urls = [...new Map(tasks.map((task) => [task.url, task])).values()];
    const pages = await Promise.all(urls.map(async (task) => [task.url, await runner.snapshot(task)] as const));
    const byUrl = new Map(pages);
    return (task) =>
      Object.fromEntries(
        Object.entries(task.fields).map(([label, truth]): [string, FieldKind] => {
          const target = findControl(byUrl.get(task.url) ?? [], label);
          if (typeof target === "string" || target.option !== undefined)
            return [
              label,
              {
                kind: Array.isArray(truth) || typeof truth === "boolean" ? kindOfValue(truth) : "text",
                default: emptyOf(truth),
              },
            ];
          const { kind, default: preset, options } = target.control;
          return [label, { kind, default: preset, options: options.map((option) => option.text) }];
        }),
      );
  } finally {
    await runner.close();
  }
}

const emptyOf = (truth: unknown): FieldKind["default"] =>
  typeof truth === "boolean" ? false : Array.isArray(truth) ? [] : "";
