import { formatOutcome, readEvaluation } from "../../runs/evaluation.js";
import type { RunDirectory } from "../../runs/run-directory.js";
import { evaluateCommand } from "../../train/evaluate.js";
import { train } from "../../train/recipe.js";
import { begunRun, type PlannedRun } from "./plan.js";

export interface PlayedRun extends PlannedRun {
  readonly run: RunDirectory;
}

/**
 * Trains and evaluates the runs that are not finished, one after the other; an interrupted run resumes from its
 * checkpoint.
 * @returns the finished runs; not all of them if the signal was aborted.
 */
export async function playSweep(
  runs: readonly PlannedRun[],
  { file, signal, say }: { readonly file: string; readonly signal: AbortSignal; readonly say: (text: string) => void },
): Promise<readonly PlayedRun[]> {
  const found = [];
  // a run of other settings is reported before any run is trained
  for (const run of runs) found.push({ ...run, run: await begunRun(run) });
  const played: PlayedRun[] = [];
  for (const [i, planned] of found.entries()) {
    const { dir, config } = planned;
    let run = planned.run;
    if (run === undefined || !isFinished(run, planned)) {
      if (signal.aborted) break;
      say(`run ${i + 1} of ${runs.length}: ${dir}${run === undefined ? "" : " (resumed)"}`);
      const { interrupted } = await train(config, {
        ...{ command: config.objective.kind, configPath: file, runDir: dir, resume: run !== undefined },
        ...{ quiet: true, signal },
      });
      if (interrupted) break;
      run = await begunRun(planned);
      // a supervised run plays no episodes itself
      if (run !== undefined && !isFinished(run, planned))
        await evaluateCommand({ run: dir, overrides: [], checkpoint: "last", policy: "model", quiet: true, signal });
      if (run !== undefined) say(`  ${outcomeOf(run).replaceAll("\n", "\n  ")}`);
    }
    if (run !== undefined) played.push({ ...planned, run });
  }
  return played;
}

function isFinished(run: RunDirectory, { config }: PlannedRun): boolean {
  const done = run.evaluatedSplits("after");
  return config.evaluation.splits.every((split) => done.includes(split));
}

function outcomeOf(run: RunDirectory): string {
  const before = run.evaluatedSplits("before").map((split) => readEvaluation(run.evaluation(split, "before")));
  const after = run.evaluatedSplits("after").map((split) => readEvaluation(run.finalEvaluation(split)));
  return formatOutcome(before, after);
}
