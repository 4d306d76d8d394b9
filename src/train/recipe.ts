import type { RunConfig } from "../config/config.js";
import { objectiveOf } from "../rl/objective-kinds.js";
import { Watch } from "../watch/watch.js";
import type { Outcome } from "../watch/watcher.js";
import { trainOnRollouts } from "./reinforcement.js";
import { resumedDirectory } from "./run.js";
import { trainOnExamples } from "./supervised/supervised.js";
import type { TrainOptions, TrainResult } from "./types.js";

/** Trains a config: from rollouts or from examples, as its objective learns. */
export async function train(config: RunConfig, given: TrainOptions): Promise<TrainResult> {
  const options = given.resume ? resumedOptions(config, given) : given;
  const objective = await objectiveOf(config.objective.kind);
  const watch = await Watch.open(config, options);
  let outcome: Outcome = "failed";
  try {
    const setup = { config, objective, options, watch };
    const result = await (objective.learnsFrom === "supervision" ? trainOnExamples(setup) : trainOnRollouts(setup));
    outcome = result.interrupted ? "interrupted" : "finished";
    return result;
  } finally {
    await watch.end(outcome);
  }
}

/** Returns the options of a resume: it learns from the same stored rollouts, unless others are named. */
function resumedOptions(config: RunConfig, options: TrainOptions): TrainOptions {
  const { rollouts } = resumedDirectory(config, options).readEnvironment();
  return { ...options, rolloutsRun: options.rolloutsRun ?? rollouts };
}
