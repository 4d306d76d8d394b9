import type { Control } from "../browser/controls.js";
import type { Episode } from "../browser/episode.js";
import type { ActionRecord } from "../browser/fill.js";
import type { EpisodeOutcome } from "../environment.js";
import type { FieldValue, Task } from "../site.js";
import type { Evidence } from "./judge.js";
import type { RewardKind } from "./own-reward.js";
import { renderPlan } from "./plan.js";
import { type Answer, answerParts } from "./plan-parts.js";
import type { PostedPair } from "./posted.js";
import { documentsReward, score } from "./reward.js";

/** A plan that was carried out, before it is scored. */
export interface Played {
  readonly controls: readonly Control[];
  readonly actions: readonly ActionRecord[];
  /** One a control: as the server received it, or as the page held it where nothing was posted. */
  readonly values: readonly FieldValue[];
  readonly accepted: boolean;
  readonly refusal?: string | undefined;
  readonly status?: number | undefined;
  readonly posted: readonly PostedPair[];
  readonly evidence?: Evidence;
}

/** Scores what was played. @param unresolved lines of the plan that are no action. */
export function scored(
  task: Pick<Task, "fields">,
  { controls, values, ...played }: Played,
  unresolved: readonly string[],
  uploads: boolean,
): Omit<Episode, "taskId" | "attempts" | "ms"> {
  const came = { ...played, values, unresolved: unresolved.length, uploads };
  return {
    ...score(task, controls, came),
    documentsReward: documentsReward(task, controls, came),
    ...played,
    unresolved,
  };
}

/** Tells what comes of an episode that the environment failed. */
export function faulted({ fields }: Task, fault: string): EpisodeOutcome {
  return { reward: null, fault, success: false, metrics: {}, detail: { truth: fields, posted: [], actions: [] } };
}

/** Tells what comes of an episode: its reward, its metrics and its record. @param answers the policy's, one a turn. */
export async function outcomeOf(
  task: Task,
  episode: Episode,
  scoreOf: RewardKind["score"],
  answers: readonly Answer[],
): Promise<EpisodeOutcome> {
  const detail = {
    accepted: episode.accepted,
    truth: task.fields,
    posted: episode.posted.map(([name, value]): [string, string] => [name, value]),
    actions: [
      ...episode.actions.map(({ action, ...record }) => ({ action: renderPlan([action], "compact"), ...record })),
      ...episode.unresolved.map((line) => ({ action: line, fate: "not-an-action" })),
    ],
    ...(episode.evidence === undefined ? {} : { evidence: episode.evidence }),
  };
  if (episode.fault !== undefined) return { ...faulted(task, episode.fault), detail };
  const right = Object.values(episode.perField).filter((score) => score === 1).length;
  return {
    reward: await scoreOf(episode, task),
    success: episode.success,
    answerParts: answerParts(answers, task.fields, episode.perField),
    metrics: {
      task_completion: episode.taskCompletion,
      field_accuracy: episode.fieldAccuracy,
      execution_completeness: episode.executionCompleteness,
      no_action: episode.unresolved.length / Math.max(1, episode.actions.length + episode.unresolved.length),
    },
    counts: {
      accepted: Number(episode.accepted),
      pairs: Object.keys(task.fields).length,
      pairs_right: episode.accepted ? right : 0,
      perfect: Number(episode.success),
      ...(task.clean === undefined ? {} : { clean: Number(task.clean) }),
    },
    ...(episode.har === undefined ? {} : { har: episode.har }),
    detail: { ...detail, received: episode.received, field_scores: episode.perField },
  };
}
