import type { Page } from "playwright";
import type { Action } from "../../../src/env/forms/plan.js";
import type { FieldValue } from "../../../src/env/site.js";
import { type CarriedOut, carryOut, fieldsOf, withForm } from "../../../src/features/agent/filling.js";

/** Fills a page in by lines that say the values. */
export function filled(
  page: Page,
  values: Readonly<Record<string, FieldValue>>,
  searchMs?: number,
): Promise<CarriedOut & { labels: string[] }> {
  return withForm(page, Object.keys(values), async (opened) => {
    const controls = await fieldsOf(opened, values, false);
    const actions = Object.entries(values).map(
      ([label, value]): Action =>
        typeof value === "boolean" ? { kind: "check", label } : { kind: "fill", label, value: String(value) },
    );
    const done = await carryOut(opened, controls, actions, values, searchMs);
    return { ...done, labels: controls.filter(({ present }) => present).map(({ label }) => label) };
  });
}
