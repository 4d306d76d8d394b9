/** Judges episodes by their site's verdict alone: accepted or refused, and which fields it refused. */
import { misuse } from "../../core/errors.js";
import type { Observation } from "../../core/interaction.js";
import type { FixedPolicy } from "../environment.js";
import type { Task } from "../site.js";
import { blankActions, type TemplateControl } from "./blanks.js";
import type { Episode } from "./episode.js";
import { renderPlan } from "./plan.js";

/** Share of the reward that a refused form can earn by fields that the site does not refuse. */
const REFUSED_SHARE = 0.5;
const WORDS = ["maple", "river", "Tuesday", "seven", "blue", "Harbour Street 4", "Kim Vale", "42"];

/**
 * Returns an episode as its site judges it. r = 1 if the form was accepted; .5 (1 - k / n) if the site named k of its
 * n fields; else 0. A field scores 1 unless it is named; where a refusal names none, no field has a score.
 */
export function judgedBySite(episode: Episode): Episode {
  const { accepted, refused = [], labels } = episode;
  const scores = labels.map((label) => [label, Number(accepted || !refused.includes(label))] as const);
  const right = scores.reduce((sum, [, score]) => sum + score, 0) / Math.max(1, labels.length);
  const isKnown = accepted || refused.length > 0;
  return {
    ...episode,
    reward: accepted ? 1 : isKnown ? REFUSED_SHARE * right : 0,
    success: accepted,
    taskCompletion: Number(accepted),
    fieldAccuracy: isKnown ? right : 0,
    executionCompleteness: Number(accepted),
    perField: isKnown ? Object.fromEntries(scores) : {},
  };
}

/** Tells whether the true values of a task are known. */
export const isLabelled = ({ fields }: Pick<Task, "fields">): boolean => Object.keys(fields).length > 0;

/** Returns a task whose true values are known. @throws UserError if they are not. */
export function labelled(task: Task): Task {
  if (isLabelled(task)) return task;
  misuse(`${task.id} has no fields: its true values are unknown.`, {
    hint: "sft learns from values; reinforcement learns such tasks with reward: verdict (docs/your-own-site.md)",
  });
}

/** Draws a value for every control that an observation's page takes, without a look at the task. */
export const randomValues =
  (controlsOf: (task: Task, observation: Observation) => Promise<readonly TemplateControl[]>): FixedPolicy =>
  async (task, rng) =>
  async (observation) => {
    const controls = await controlsOf(task as Task, observation);
    const draw = ({ kind, options = [] }: TemplateControl): string => {
      if (kind === "checkbox") return rng.pick(["yes", "no"]);
      if (options.length > 0) return rng.pick(options);
      if (kind === "date") return `2026-0${1 + rng.int(9)}-1${rng.int(10)}`;
      if (kind === "time") return `1${rng.int(10)}:30`;
      if (kind === "email") return `kim${rng.int(100)}@example.org`;
      if (kind === "url") return "http://example.org";
      return kind === "number" || kind === "tel" ? String(1 + rng.int(9)) : rng.pick(WORDS);
    };
    const values = Object.fromEntries(controls.map((control) => [control.label, draw(control)]));
    return observation.template === undefined ? { text: renderPlan(blankActions(controls, values)) } : { values };
  };
