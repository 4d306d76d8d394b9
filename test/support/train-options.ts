import type { TrainOptions } from "../../src/train/types.js";

/** A call of `train` that says nothing, with what a test changes. @param command the objective's name. */
export function trainOptions(
  command: string,
  configPath: string,
  runDir: string,
  changes: Partial<TrainOptions> = {},
): TrainOptions {
  return {
    command,
    configPath,
    runDir,
    dryRun: false,
    rolloutsRun: undefined,
    resume: false,
    quiet: true,
    json: true,
    signal: new AbortController().signal,
    ...changes,
  };
}
