import type { Control } from "../browser/controls.js";
import type { ActionRecord } from "../browser/fill.js";
import type { FieldValue, Task } from "../site.js";
import { type Evidence, type JudgedForm, judgeEvidence } from "./judge.js";
import type { PostedPair } from "./posted.js";
import { refusedFields } from "./refused.js";
import { documentsReward, type Score, score } from "./reward.js";

/** A plan that was carried out, before it is scored. */
export interface Played {
  readonly controls: readonly Control[];
  readonly actions: readonly ActionRecord[];
  /** One value for each control, as the server received it; the default if it did not. */
  readonly values: readonly FieldValue[];
  readonly accepted: boolean;
  readonly refusal?: string | undefined;
  /** Labels of the fields that the site refused, as far as it names them. */
  readonly refused?: readonly string[] | undefined;
  readonly status?: number | undefined;
  readonly posted: readonly PostedPair[];
  readonly evidence?: Evidence;
}

/** A plan carried out once. */
export interface Episode extends Score, Omit<Played, "controls" | "values"> {
  readonly taskId: string;
  /** Labels of the page's controls. */
  readonly labels: readonly string[];
  /** The failure of the environment after all retries: rewards are NaN, and the episode has to be left out. */
  readonly fault?: string;
  /** The error of the fault. */
  readonly cause?: unknown;
  /** The reward by the formula of the design documents, for comparison. */
  readonly documentsReward: number;
  /** The requests that were sent, if they are wanted. */
  readonly har?: object;
  /** Lines of the plan that are not actions. */
  readonly unresolved: readonly string[];
  /** Number of attempts: 1 without faults. */
  readonly attempts: number;
  /** Time from the start of the first attempt in milliseconds, without the wait for a free context. */
  readonly ms: number;
}

/** Judges a plan that was carried out. */
export function playedBy(
  form: JudgedForm,
  evidence: Evidence,
  actions: readonly ActionRecord[],
  task: Pick<Task, "fields" | "keys">,
): Played {
  const { controls, fields = {} } = form;
  const { refusal, values } = judgeEvidence(form, evidence, task);
  const { requests, verdict } = evidence;
  return {
    ...{ controls, actions, values, refusal, accepted: refusal === undefined },
    refused: verdict?.named && refusedFields(controls, fields, verdict.named),
    status: requests.at(-1)?.status ?? undefined,
    posted: requests.flatMap(({ posted }) => posted),
    evidence,
  };
}

/** Scores a plan that was carried out. @param unresolved lines of the plan that are not actions. */
export function scored(
  task: Pick<Task, "fields">,
  { controls, values, ...played }: Played,
  unresolved: readonly string[],
  uploads: boolean,
): Omit<Episode, "taskId" | "attempts" | "ms" | "har"> {
  const came = { ...played, values, unresolved: unresolved.length, uploads };
  return {
    ...score(task, controls, came),
    documentsReward: documentsReward(task, controls, came),
    ...played,
    labels: controls.flatMap(({ label, present }) => (present && label !== "" ? [label] : [])),
    unresolved,
  };
}

/** The score of an episode that ended in a fault. */
export const NOT_PLAYED = {
  reward: Number.NaN,
  taskCompletion: Number.NaN,
  fieldAccuracy: Number.NaN,
  executionCompleteness: Number.NaN,
  documentsReward: Number.NaN,
  success: false,
  perField: {},
  labels: [],
  received: {},
  accepted: false,
  posted: [],
  actions: [],
} satisfies Partial<Episode>;
