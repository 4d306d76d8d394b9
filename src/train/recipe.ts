import type { RunConfig } from "../config/config.js";
import { misuse } from "../core/errors.js";
import { objectiveKinds, objectiveOf } from "../rl/kinds.js";
import { Watch } from "../watch/watch.js";
import type { Outcome } from "../watch/watcher.js";
import { runTraining } from "./loop.js";
import { reinforcement } from "./reinforcement.js";
import { resumedDirectory } from "./run.js";
import { supervised } from "./supervised/supervised.js";
import type { TrainOptions, TrainResult } from "./types.js";

/** Trains a config. Objectives that learn from rollouts and those that learn from examples have a recipe each. */
export async function train(config: RunConfig, asked: TrainOptions): Promise<TrainResult> {
  const options = asked.resume ? resumedOptions(config, asked) : asked;
  const objective = await objectiveOf(config.objective.kind);
  if (objective.learnsFrom === "supervision" && options.rolloutsRun !== undefined)
    misuse(`--rollouts: ${objective.name} learns from the site's own examples, not from rollouts.`, {
      hint: `Leave --rollouts out, or use one of ${[...(await objectiveKinds()).values()]
        .filter((o) => o.learnsFrom === "rollouts")
        .map((o) => o.name)
        .join(", ")}.`,
    });
  const recipeOf = objective.learnsFrom === "supervision" ? supervised : reinforcement;
  const watch = await Watch.open(config, options);
  let outcome: Outcome = "failed";
  try {
    const asked = { config, objective, options, watch };
    const result = await runTraining(asked, await recipeOf(asked));
    outcome = result.interrupted ? "interrupted" : "finished";
    return result;
  } finally {
    await watch.end(outcome);
  }
}

/** Returns the options of a resume: it learns from the run's own recorded rollouts, unless others are named. */
function resumedOptions(config: RunConfig, options: TrainOptions): TrainOptions {
  const { rollouts } = resumedDirectory(config, options).readEnvironment();
  return { ...options, rolloutsRun: options.rolloutsRun ?? rollouts };
}
