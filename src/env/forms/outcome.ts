import type { EpisodeOutcome } from "../environment.js";
import type { Task } from "../site.js";
import type { Episode } from "./episode.js";
import { UNDECLARED } from "./judge.js";
import type { RewardKind } from "./own-reward.js";
import { renderPlan } from "./plan.js";
import { answerParts, type TurnAnswer } from "./plan-parts.js";

/** Returns the outcome of an episode in which the environment failed. */
export const faulted = ({ fields }: Task, fault: string): EpisodeOutcome => ({
  reward: null,
  fault,
  success: false,
  metrics: {},
  detail: { truth: fields, posted: [], actions: [] },
});

/** Returns the outcome of an episode: its reward, metrics and record. @param answers one answer for each turn. */
export async function outcomeOf(
  task: Task,
  played: Episode,
  reward: RewardKind,
  answers: readonly TurnAnswer[],
): Promise<EpisodeOutcome> {
  const episode = played.fault === undefined ? (reward.judged?.(played, task) ?? played) : played;
  const detail = {
    accepted: episode.accepted,
    ...(episode.refused === undefined ? {} : { refused: episode.refused }),
    truth: task.fields,
    posted: episode.posted.map(([name, value]): [string, string] => [name, value]),
    actions: [
      ...episode.actions.map(({ action, ...record }) => ({ action: renderPlan([action]), ...record })),
      ...episode.unresolved.map((line) => ({ action: line, fate: "not-an-action" })),
    ],
    ...(episode.evidence === undefined ? {} : { evidence: episode.evidence }),
  };
  if (episode.fault !== undefined) return { ...faulted(task, episode.fault), detail };
  const wanted = reward.judged === undefined ? task.fields : episode.perField;
  const right = Object.values(episode.perField).filter((score) => score === 1).length;
  // without a declared success nobody knows whether the form was accepted: the fields alone count
  const isJudged = episode.refusal !== UNDECLARED;
  return {
    reward: isJudged ? await reward.score(episode, task) : episode.fieldAccuracy,
    success: isJudged ? episode.success : Object.values(episode.perField).every((score) => score === 1),
    answerParts: answerParts(answers, wanted, episode.perField),
    metrics: {
      ...(isJudged ? { task_completion: episode.taskCompletion } : {}),
      field_accuracy: episode.fieldAccuracy,
      execution_completeness: episode.executionCompleteness,
      no_action: episode.unresolved.length / Math.max(1, episode.actions.length + episode.unresolved.length),
    },
    counts: {
      ...(isJudged ? { accepted: Number(episode.accepted) } : {}),
      pairs: Object.keys(wanted).length,
      pairs_right: episode.accepted ? right : 0,
      perfect: Number(episode.success),
      ...(task.clean === undefined ? {} : { clean: Number(task.clean) }),
    },
    ...(episode.har === undefined ? {} : { har: episode.har }),
    detail: { ...detail, received: episode.received, field_scores: episode.perField },
  };
}
