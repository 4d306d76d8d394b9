import type { TrainOptions } from "../../src/train/types.js";

/** Makes the options of a silent call of `train`, with a test's changes. @param command the objective's name. */
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
