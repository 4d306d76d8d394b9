import { z } from "zod";
import type { ActionRecord, Fate } from "../browser/fill.js";
import type { EpisodeOutcome } from "../environment.js";
import type { Task } from "../site.js";
import { type Episode, playedBy, scored } from "./episode.js";
import type { Evidence, JudgedForm } from "./judge.js";
import { outcomeOf } from "./outcome.js";
import type { RewardKind } from "./own-reward.js";
import { parsePlan } from "./plan.js";

const pairs = z.array(z.tuple([z.string(), z.string()]));
const evidence = z.looseObject({
  requests: z.array(z.looseObject({ posted: pairs, status: z.number().nullable() })),
});
const action = z.looseObject({ action: z.string(), fate: z.string(), control: z.int().min(0).optional() });
const schema = z.looseObject({ evidence, accepted: z.boolean(), posted: pairs, actions: z.array(action) });

/**
 * Judges an episode again by its record. @param known its form today, if it is declared or was learned.
 * @returns a text that names the missing part of the record if it cannot be judged.
 */
export async function rejudge(
  task: Task,
  detail: Readonly<Record<string, unknown>>,
  known: JudgedForm | undefined,
  { uploads, reward }: { readonly uploads: boolean; readonly reward: RewardKind },
): Promise<EpisodeOutcome | string> {
  const parsed = schema.safeParse(detail);
  if (!parsed.success)
    return `no ${parsed.error.issues[0]?.path.join(".") || "detail"} (kept since requests and answers are recorded)`;
  const { evidence: recorded, accepted } = parsed.data;
  // earlier versions recorded the verdict beside the evidence
  const kept: Evidence = { verdict: { accepted }, ...(recorded as unknown as Evidence) };
  // controls are recorded if only the page defined them
  const form = kept.controls === undefined ? known : { controls: kept.controls, contract: known?.contract };
  if (form === undefined) return `no contract of ${task.form}`;
  const actions: ActionRecord[] = [];
  const unresolved: string[] = [];
  for (const { action: text, ...record } of parsed.data.actions) {
    const [parsedAction] = record.fate === "not-an-action" ? [] : parsePlan(text).actions;
    if (parsedAction === undefined) unresolved.push(text);
    else actions.push({ ...record, action: parsedAction, fate: record.fate as Fate } as ActionRecord);
  }
  const { evidence: _, ...played } = playedBy(form, kept, actions, task);
  const episode: Episode = {
    ...scored(task, played, unresolved, uploads),
    taskId: task.id,
    // these differ between two plays, so that no record has them
    attempts: Number.NaN,
    ms: Number.NaN,
  };
  return outcomeOf(task, episode, reward, []);
}
